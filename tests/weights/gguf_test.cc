#include "weights/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "byte_writer.h"

namespace matador {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint32_t kF32 = 0;
constexpr uint32_t kQ4_0 = 2;

std::string data_path(const std::string& name) {
  return std::string(MATADOR_TEST_DATA) + "/weights/" + name;
}

std::string error_of(const GgufWriter& writer) {
  const auto file = writer.parse();
  return file.ok() ? "" : file.error().message;
}

// One entry and one tensor of 32 values.
GgufWriter small_file() {
  GgufWriter writer;
  writer.add("general.architecture", "llama");
  writer.tensor("x", {32}, kF32, 0);
  writer.data_bytes = 128;
  return writer;
}

TEST(Gguf, ReadsEveryKindOfMetadata) {
  const auto file = GgufFile::open(data_path("all-kinds.gguf")).value();
  EXPECT_EQ(file->version(), 3U);
  EXPECT_EQ(file->integer("kind.u8"), 200);
  EXPECT_EQ(file->integer("kind.i8"), -100);
  EXPECT_EQ(file->integer("kind.u16"), 60000);
  EXPECT_EQ(file->integer("kind.i16"), -30000);
  EXPECT_EQ(file->integer("kind.u32"), 4000000000);
  EXPECT_EQ(file->integer("kind.i32"), -2000000000);
  EXPECT_EQ(file->integer("kind.i64"), -(int64_t{1} << 62));
  EXPECT_FALSE(file->integer("kind.u64"));  // 2^63 does not fit
  EXPECT_EQ(file->number("kind.u64"), 0x1p63);
  EXPECT_EQ(file->number("kind.f32"), 0.5);
  EXPECT_EQ(file->number("kind.f64"), 1e-300);
  EXPECT_EQ(file->number("kind.i8"), -100);
  EXPECT_EQ(file->boolean("kind.bool"), true);
  EXPECT_EQ(file->text("kind.string"), "na\xC3\xAFve \xE7\x8C\xAB");
  EXPECT_THAT(*file->texts("kind.strings"), ElementsAre("a", "", "ccc"));
  EXPECT_THAT(*file->integers("kind.integers"), ElementsAre(1, -2, 3));
  EXPECT_THAT(*file->numbers("kind.floats"), ElementsAre(0.5, 1.5));
  EXPECT_THAT(*file->booleans("kind.booleans"), ElementsAre(true, false));
  EXPECT_TRUE(file->has("kind.nested"));
}

TEST(Gguf, GivesNothingForAnotherKindOfValue) {
  const auto file = GgufFile::open(data_path("all-kinds.gguf")).value();
  EXPECT_FALSE(file->integer("kind.f32"));
  EXPECT_FALSE(file->integer("kind.integers"));
  EXPECT_FALSE(file->integer("kind.bool"));
  EXPECT_FALSE(file->boolean("kind.u8"));
  EXPECT_FALSE(file->text("kind.strings"));
  EXPECT_FALSE(file->texts("kind.integers"));
  EXPECT_FALSE(file->integers("kind.nested"));
  EXPECT_FALSE(file->numbers("kind.u8"));
  EXPECT_FALSE(file->has("kind"));
}

TEST(Gguf, ReversesShapesAndPointsIntoTheFile) {
  const auto file = GgufFile::open(data_path("all-kinds.gguf")).value();
  const auto tensors = file->tensors();
  ASSERT_EQ(tensors.size(), 4U);
  EXPECT_EQ(tensors[0].name, "f16");
  EXPECT_EQ(tensors[1].name, "f32");
  EXPECT_THAT(tensors[1].shape, ElementsAre(2, 3));
  std::vector<float> values(6);
  tensors[1].format->decode(tensors[1].data, values.data(), 6);
  EXPECT_THAT(values, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(tensors[2].shape, ElementsAre(2, 3, 4));
  EXPECT_EQ(tensors[3].format->name, "q8_0");
  EXPECT_THAT(tensors[3].shape, ElementsAre(2, 64));
  EXPECT_EQ(tensors[3].bytes, 4U * 34);
}

TEST(Gguf, JoinsThePartsOfASplitModel) {
  const auto file = GgufFile::open(data_path("split-00001-of-00003.gguf")).value();
  EXPECT_EQ(file->integer("llama.block_count"), 1);
  ASSERT_EQ(file->tensors().size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    const StoredTensor& tensor = file->tensors()[i];
    EXPECT_EQ(tensor.name, "part" + std::to_string(i));
    float value = -1;
    tensor.format->decode(tensor.data, &value, 1);
    EXPECT_EQ(value, static_cast<float>(i));
  }
}

TEST(Gguf, WantsTheFirstPartOfASplitModel) {
  const auto file = GgufFile::open(data_path("split-00002-of-00003.gguf"));
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("part 2 of 3"));
  EXPECT_THAT(file.error().message, HasSubstr("-00001-of-00003.gguf"));
}

TEST(Gguf, NamesAMissingPart) {
  const std::string folder = testing::TempDir() + "/matador_gguf_parts";
  std::filesystem::create_directories(folder);
  const std::string first = folder + "/m-00001-of-00003.gguf";
  std::filesystem::copy_file(data_path("split-00001-of-00003.gguf"), first,
                             std::filesystem::copy_options::overwrite_existing);
  const auto file = GgufFile::open(first);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("m-00002-of-00003.gguf"));
}

TEST(Gguf, RefusesPartsThatDoNotBelongTogether) {
  const std::string folder = testing::TempDir() + "/matador_gguf_mixed";
  std::filesystem::create_directories(folder);
  for (int i = 1; i <= 3; ++i) {  // the second part is the third
    std::filesystem::copy_file(
        data_path("split-0000" + std::to_string(i == 2 ? 3 : i) + "-of-00003.gguf"),
        folder + "/m-0000" + std::to_string(i) + "-of-00003.gguf",
        std::filesystem::copy_options::overwrite_existing);
  }
  const auto file = GgufFile::open(folder + "/m-00001-of-00003.gguf");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("split.no and split.count are 2 and 3, expected 1"));
}

TEST(Gguf, ReadsVersion2AndRefusesOthers) {
  GgufWriter writer = small_file();
  writer.version = 2;
  EXPECT_EQ(error_of(writer), "");
  for (const uint32_t version : {0U, 1U, 4U}) {
    writer.version = version;
    EXPECT_THAT(error_of(writer), HasSubstr("expected 2 or 3"));
  }
  writer.version = 0x03000000;
  EXPECT_THAT(error_of(writer), HasSubstr("big-endian"));
}

TEST(Gguf, RefusesOtherFiles) {
  ByteWriter other;
  other.raw("PK\x03\x04 not a model at all");
  const auto file = GgufFile::parse(other.bytes(), "test.gguf", nullptr);
  EXPECT_THAT(file.error().message, HasSubstr("test.gguf: not a GGUF file"));
}

TEST(Gguf, RefusesCountsThatTheFileCannotHold) {
  GgufWriter writer = small_file();
  writer.num_tensors = uint64_t{1} << 60;
  EXPECT_THAT(error_of(writer), HasSubstr("1152921504606846976 tensors, too many"));
  writer = small_file();
  writer.num_entries = UINT64_MAX;
  EXPECT_THAT(error_of(writer), HasSubstr("18446744073709551615 metadata entries"));
}

TEST(Gguf, RefusesArraysThatTheFileCannotHold) {
  GgufWriter writer;
  writer.entry("numbers", GgufType::array).number(GgufType::u32).number(uint64_t{1} << 62);
  EXPECT_THAT(error_of(writer),
              HasSubstr("metadata entry 1 of 1, \"numbers\": 4611686018427387904 values"));
  writer = {};
  writer.entry("texts", GgufType::array).number(GgufType::string).number(uint64_t{2});
  writer.entries.text("fits").number(uint64_t{1000});
  EXPECT_THAT(error_of(writer), HasSubstr("\"texts\": the file ends in or before its string 1"));
}

TEST(Gguf, RefusesDeepArraysAndUnknownTypes) {
  GgufWriter writer;
  writer.entry("deep", GgufType::array).number(GgufType::array).number(uint64_t{1});
  for (int i = 0; i < 8; ++i) writer.entries.number(GgufType::array).number(uint64_t{1});
  EXPECT_THAT(error_of(writer), HasSubstr("\"deep\": arrays nested deeper than 4 levels"));
  writer = {};
  writer.entry("odd", static_cast<GgufType>(13)).number(0);
  EXPECT_THAT(error_of(writer), HasSubstr("\"odd\": value type 13, expected 0 to 12"));
}

TEST(Gguf, RefusesRepeatedKeysAndNames) {
  GgufWriter writer = small_file();
  writer.add("general.architecture", "llama");
  EXPECT_THAT(error_of(writer), HasSubstr("key \"general.architecture\" appears twice"));
  writer = small_file();
  writer.tensor("x", {32}, kF32, 128);
  writer.data_bytes = 256;
  EXPECT_THAT(error_of(writer), HasSubstr("tensor \"x\" appears twice"));
}

TEST(Gguf, RefusesNamesThatAreNotUtf8) {
  GgufWriter writer;
  writer.tensor("bad\xFF", {32}, kF32, 0);
  writer.data_bytes = 128;
  EXPECT_THAT(error_of(writer), HasSubstr("tensor 1 of 1: name \"bad\\xff\" is not UTF-8"));
  writer = {};
  writer.add("\xC0\x80", 1U);
  EXPECT_THAT(error_of(writer), HasSubstr("is not UTF-8"));
}

TEST(Gguf, RefusesTensorsOutsideTheFile) {
  GgufWriter writer = small_file();
  writer.data_bytes = 127;
  EXPECT_THAT(error_of(writer),
              HasSubstr("tensor \"x\": 128 bytes at offset 0 of the data, but the file holds 127"));
  writer = {};
  writer.tensor("far", {32}, kF32, uint64_t{0} - 32);
  EXPECT_THAT(error_of(writer), HasSubstr("tensor \"far\": 128 bytes at offset"));
}

TEST(Gguf, RefusesHugeDimensions) {
  for (const std::vector<uint64_t>& dims :
       {std::vector<uint64_t>{uint64_t{1} << 32, uint64_t{1} << 32},
        {uint64_t{1} << 63},
        {4, 1ULL << 61}}) {
    GgufWriter writer;
    writer.tensor("x", dims, kF32, 0);
    EXPECT_THAT(error_of(writer), HasSubstr("tensor \"x\": its dimensions overflow"));
  }
  GgufWriter writer;
  writer.tensor("x", {1, 1, 1, 1, 1}, kF32, 0);
  EXPECT_THAT(error_of(writer), HasSubstr("5 dimensions, expected at most 4"));
}

TEST(Gguf, RefusesRowsThatAreNotWholeBlocks) {
  GgufWriter writer;
  writer.tensor("x", {48, 2}, kQ4_0, 0);
  writer.data_bytes = 1024;
  EXPECT_THAT(error_of(writer), HasSubstr("rows of 48 values, expected a multiple of 32 for q4_0"));
}

TEST(Gguf, RefusesUnknownTensorTypes) {
  for (const uint32_t type : {4U, 31U, 999U, UINT32_MAX}) {
    GgufWriter writer;
    writer.tensor("x", {32}, type, 0);
    EXPECT_THAT(error_of(writer), HasSubstr("is not a known ggml type")) << type;
  }
}

TEST(Gguf, RefusesOverlapsAndMisalignedOffsets) {
  GgufWriter writer = small_file();
  writer.tensor("y", {32}, kF32, 96);
  writer.data_bytes = 256;
  EXPECT_THAT(error_of(writer), HasSubstr("tensors \"x\" and \"y\" overlap"));
  writer = {};
  writer.tensor("x", {8}, kF32, 4);
  writer.data_bytes = 64;
  EXPECT_THAT(error_of(writer), HasSubstr("offset 4, expected a multiple of 32"));
}

TEST(Gguf, RefusesAlignmentsThatAreNotPowersOfTwo) {
  for (const uint32_t alignment : {0U, 4U, 48U, 1U << 31}) {
    GgufWriter writer = small_file();
    writer.add("general.alignment", alignment);
    EXPECT_THAT(error_of(writer), HasSubstr("general.alignment is " + std::to_string(alignment)));
  }
  GgufWriter writer = small_file();
  writer.add("general.alignment", "wide");
  EXPECT_THAT(error_of(writer), HasSubstr("general.alignment is not an integer"));
}

TEST(Gguf, RefusesAFileTruncatedAnywhere) {
  GgufWriter writer = small_file();
  writer.entry("list", GgufType::array).number(GgufType::string).number(uint64_t{2});
  writer.entries.text("one").text("two");
  const std::vector<std::byte> whole = writer.bytes();
  ASSERT_TRUE(writer.parse().ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto file = GgufFile::parse(cut, "test.gguf", nullptr);
    ASSERT_FALSE(file.ok()) << "cut to " << size << " bytes";
    EXPECT_THAT(file.error().message, HasSubstr("test.gguf"));
  }
}

}  // namespace
}  // namespace matador
