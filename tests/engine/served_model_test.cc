#include "engine/served_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/gguf_vocab.h"
#include "recording_sink.h"

namespace matador {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string tiny_model(const std::string& name) {
  return std::string(MATADOR_TEST_DATA) + "/models/" + name;
}

// A model folder of its own, named by $MATADOR_MODELS.
class ModelPathTest : public ::testing::Test {
 protected:
  ModelPathTest() {
    std::string pattern = ::testing::TempDir() + "matador-models-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("MATADOR_MODELS", folder_.c_str(), 1);
    fs::create_directory(folder_ / "a-folder");
    std::ofstream(folder_ / "a-file.gguf") << "GGUF";
  }
  ~ModelPathTest() override {
    unsetenv("MATADOR_MODELS");
    fs::remove_all(folder_);
  }
  fs::path folder_;
};

TEST_F(ModelPathTest, FindsPathsAndInstalledNames) {
  EXPECT_EQ(*resolve_model(folder_.string()), folder_.string());
  EXPECT_EQ(*resolve_model("a-folder"), (folder_ / "a-folder").string());
  EXPECT_EQ(*resolve_model("a-file"), (folder_ / "a-file.gguf").string());
  EXPECT_EQ(*resolve_model("a-file.gguf"), (folder_ / "a-file.gguf").string());
}

TEST_F(ModelPathTest, AMissingModelListsTheInstalledOnes) {
  for (const char* name : {"missing", "", "no/such", "/nowhere/at/all"}) {
    Result<std::string> missing = resolve_model(name);
    ASSERT_FALSE(missing.ok()) << name;
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
    EXPECT_THAT(missing.error().message, HasSubstr("installed: a-file, a-folder"));
  }
}

TEST(ServedModel, OfRandomWeightsNeedsAConfigAloneAndIsTheSameEachTime) {
  ServeOptions options;
  options.device = {.name = "cpu", .threads = 1};
  options.engine.kv_cache_bytes = 1 << 20;
  std::vector<int32_t> first;
  for (int round = 0; round < 2; ++round) {
    auto served = load_random_model(tiny_model("llama"), options);
    ASSERT_TRUE(served.ok()) << served.error().message;
    auto sink = std::make_shared<RecordingSink>(1);
    Request request;
    request.prompt = {1, 2, 3};
    request.params.max_tokens = 8;
    request.params.seed = 1;
    request.sink = sink;
    ASSERT_TRUE((*served)->engine->submit(request).ok());
    ASSERT_TRUE(sink->wait());
    EXPECT_EQ(sink->choice().tokens.size(), 8U);
    if (round == 0) first = sink->choice().tokens;
    EXPECT_EQ(sink->choice().tokens, first);
  }
}

TEST(ServedModel, LoadsAndAnswersWithoutATokenizer) {
  ServeOptions options;
  options.device = {.name = "cpu", .threads = 1};
  options.engine.kv_cache_bytes = 1 << 20;
  auto served = load_served_model(tiny_model("llama"), options);
  ASSERT_TRUE(served.ok()) << served.error().message;
  EXPECT_EQ((*served)->tokenizer, nullptr);
  EXPECT_EQ((*served)->chat_template, nullptr);
  EXPECT_THAT((*served)->eos_token_ids, ElementsAre(2));
  auto sink = std::make_shared<RecordingSink>();
  Request request;
  request.prompt = {1, 5, 9};
  request.params.ignore_eos = true;
  request.sink = sink;
  ASSERT_TRUE((*served)->engine->submit(request).ok());
  ASSERT_TRUE(sink->wait());
  EXPECT_EQ(sink->choice().tokens.size(), 16U);
}

TEST(ServedModel, FoldersAndFilesThatAreNoModelsAreErrors) {
  EXPECT_FALSE(load_served_model("/nowhere", {}).ok());
  std::string folder = ::testing::TempDir();
  EXPECT_FALSE(load_served_model(folder, {}).ok());
  std::string file = folder + "/broken.gguf";
  std::ofstream(file) << "this is no GGUF file";
  EXPECT_FALSE(load_served_model(file, {}).ok());
  EXPECT_FALSE(load_model_text(file, {}).ok());
  fs::remove(file);
}

TEST(GgufVocab, EndTokensAreThoseNamedAndThoseSpeltAsSuch) {
  GgufVocab vocab;
  vocab.tokens = {"a", "</s>", "<|im_end|>", "<|eot_id|>", "b"};
  vocab.types = {1, 3, 3, 1, 3};
  vocab.eos = 1;
  vocab.eom = 4;
  EXPECT_THAT(gguf_eos_tokens(vocab), ElementsAre(1, 2, 4)) << "a normal token ends nothing";
}

}  // namespace
}  // namespace matador
