#include "weights/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "byte_writer.h"

namespace matador {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A folder of its own for each test.
class Folder : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + "/matador_" + test->name();
    fs::remove_all(path_);
    fs::create_directories(path_);
    write("config.json", R"({"model_type": "llama"})");
  }
  void TearDown() override { fs::remove_all(path_); }

  void write(const std::string& name, std::string_view content) {
    std::ofstream(path_ + "/" + name, std::ios::binary) << content;
  }
  // A file with one tensor of four bytes.
  void write_shard(const std::string& name, const std::string& tensor) {
    const auto bytes = safetensors_bytes(
        "{\"" + tensor + R"(": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}})", 4);
    write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  std::string error() {
    const auto checkpoint = open_checkpoint(path_);
    return checkpoint.ok() ? "" : checkpoint.error().message;
  }

  std::string path_;
};

TEST_F(Folder, OpensASingleFile) {
  write_shard("model.safetensors", "a");
  write_shard("extra.safetensors", "b");  // beside model.safetensors: not part of the model
  write("generation_config.json", R"({"temperature": 0.5})");
  const auto checkpoint = open_checkpoint(path_).value();
  EXPECT_EQ(checkpoint->name_style(), NameStyle::huggingface);
  EXPECT_EQ(checkpoint->path(), path_);
  EXPECT_EQ(checkpoint->config().text("model_type"), "llama");
  EXPECT_EQ(checkpoint->generation_config().number("temperature"), 0.5);
  ASSERT_EQ(checkpoint->tensors().size(), 1U);
  ASSERT_NE(checkpoint->find("a"), nullptr);
  EXPECT_EQ(checkpoint->find("a")->bytes, 4U);
  EXPECT_EQ(checkpoint->find("b"), nullptr);
}

TEST_F(Folder, KnowsWhichTensorsLieInTheFile) {
  // Of two floats at offsets 1 and 6, one at least is not aligned and so is copied.
  const auto bytes = safetensors_bytes(
      R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
          "b": {"dtype": "F32", "shape": [1], "data_offsets": [1, 5]},
          "c": {"dtype": "U8", "shape": [1], "data_offsets": [5, 6]},
          "d": {"dtype": "F32", "shape": [1], "data_offsets": [6, 10]}})",
      10);
  write("model.safetensors", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto checkpoint = open_checkpoint(path_).value();
  EXPECT_TRUE(checkpoint->find("a")->mapped);
  EXPECT_TRUE(checkpoint->find("c")->mapped);
  EXPECT_FALSE(checkpoint->find("b")->mapped && checkpoint->find("d")->mapped);
}

TEST_F(Folder, OpensASingleFileOfAnyName) {
  write_shard("weights.safetensors", "a");
  EXPECT_EQ(error(), "");
  write_shard("more.safetensors", "b");
  EXPECT_THAT(error(), HasSubstr("2 .safetensors files but no model.safetensors.index.json"));
}

TEST_F(Folder, OpensShards) {
  write_shard("model-00001-of-00002.safetensors", "b");
  write_shard("model-00002-of-00002.safetensors", "a");
  write("model.safetensors.index.json",
        R"({"metadata": {"total_size": 8},
            "weight_map": {"b": "model-00001-of-00002.safetensors",
                           "a": "model-00002-of-00002.safetensors"}})");
  const auto checkpoint = open_checkpoint(path_).value();
  ASSERT_EQ(checkpoint->tensors().size(), 2U);
  EXPECT_EQ(checkpoint->tensors()[0].name, "a");
  EXPECT_EQ(checkpoint->generation_config().dump(), "{}");
}

TEST_F(Folder, NamesAMissingShard) {
  write("model.safetensors.index.json", R"({"weight_map": {"a": "gone.safetensors"}})");
  EXPECT_THAT(error(), HasSubstr("gone.safetensors"));
}

TEST_F(Folder, NamesATensorThatNoShardHas) {
  write_shard("one.safetensors", "a");
  write("model.safetensors.index.json",
        R"({"weight_map": {"a": "one.safetensors", "b": "one.safetensors"}})");
  EXPECT_THAT(error(), HasSubstr("tensor \"b\" should be in one.safetensors"));
}

TEST_F(Folder, RefusesATensorInTwoShards) {
  write_shard("one.safetensors", "a");
  write_shard("two.safetensors", "a");
  write("model.safetensors.index.json",
        R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  EXPECT_THAT(error(), HasSubstr("tensor \"a\" appears twice"));
}

TEST_F(Folder, RefusesAnIndexThatPointsElsewhere) {
  for (const char* shard : {"\"../x.safetensors\"", "\"/etc/passwd\"", "3", "\"\""}) {
    write("model.safetensors.index.json", std::string(R"({"weight_map": {"a": )") + shard + "}}");
    EXPECT_THAT(error(), HasSubstr("expected the name of a .safetensors file in the same folder"));
  }
  write("model.safetensors.index.json", R"({"weights": {}})");
  EXPECT_THAT(error(), HasSubstr("\"weight_map\" is missing"));
}

TEST_F(Folder, SaysWhatItFoundInsteadOfSafetensors) {
  EXPECT_THAT(error(), HasSubstr("found no weights, expected model.safetensors"));
  write("pytorch_model.bin", "x");
  EXPECT_THAT(error(), HasSubstr("found pytorch_model.bin, expected model.safetensors"));
}

TEST_F(Folder, WantsAConfig) {
  write_shard("model.safetensors", "a");
  fs::remove(path_ + "/config.json");
  EXPECT_THAT(error(), HasSubstr("config.json"));
}

TEST_F(Folder, RefusesABrokenGenerationConfig) {
  write_shard("model.safetensors", "a");
  write("generation_config.json", "{");
  EXPECT_THAT(error(), HasSubstr("generation_config.json"));
}

TEST(Checkpoint, OpensAGgufFile) {
  const std::string path = std::string(MATADOR_TEST_DATA) + "/weights/split-00001-of-00003.gguf";
  const auto checkpoint = open_checkpoint(path).value();
  EXPECT_EQ(checkpoint->name_style(), NameStyle::gguf);
  EXPECT_EQ(checkpoint->path(), path);
  EXPECT_EQ(checkpoint->config().text("model_type"), "llama");
  EXPECT_EQ(checkpoint->config().source(), path);
  EXPECT_NE(checkpoint->find("part2"), nullptr);
}

TEST(Checkpoint, SaysWhatItExpectsWhereNothingIs) {
  const auto checkpoint = open_checkpoint("/nowhere/model");
  ASSERT_FALSE(checkpoint.ok());
  EXPECT_EQ(checkpoint.error().code, ErrorCode::not_found);
  EXPECT_THAT(checkpoint.error().message, HasSubstr("/nowhere/model: no such file or folder"));
}

}  // namespace
}  // namespace matador
