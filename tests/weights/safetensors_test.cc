#include "weights/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "byte_writer.h"
#include "core/file.h"

namespace matador {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::vector<StoredTensor>> read(std::vector<std::byte> bytes) {
  auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return read_safetensors(*owned, "test.safetensors", owned);
}

std::string error_of(std::string_view header, size_t data_bytes) {
  const auto tensors = read(safetensors_bytes(header, data_bytes));
  return tensors.ok() ? "" : tensors.error().message;
}

// One tensor "x" with these fields, and eight bytes of data.
std::string error_of_tensor(const std::string& fields) {
  return error_of("{\"x\": {" + fields + "}}", 8);
}

TEST(Safetensors, ReadsEveryDtypeThatTheLibraryWrites) {
  const std::string path = std::string(MATADOR_TEST_DATA) + "/weights/all-dtypes.safetensors";
  const auto file = MappedFile::open(path).value();
  const auto tensors = read_safetensors(file->bytes(), path, file).value();
  ASSERT_EQ(tensors.size(), 12U);
  for (const StoredTensor& tensor : tensors) {
    EXPECT_THAT(tensor.shape, ElementsAre(2, 3)) << tensor.name;
    std::vector<float> values(6);
    tensor.format->decode(tensor.data, values.data(), 6);
    if (tensor.name == "BOOL") {
      EXPECT_THAT(values, ElementsAre(0, 1, 1, 1, 1, 1));
    } else {
      EXPECT_THAT(values, ElementsAre(0, 1, 2, 3, 4, 8)) << tensor.name;
    }
  }
}

TEST(Safetensors, PointsIntoTheFileAndSortsByName) {
  const auto tensors =
      read(safetensors_bytes(R"({"b": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
                                "a": {"dtype": "F32", "shape": [], "data_offsets": [8, 12]},
                                "__metadata__": {"format": "pt"}}    )",
                             12));
  ASSERT_TRUE(tensors.ok()) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 2U);
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_TRUE((*tensors)[0].shape.empty());
  EXPECT_EQ((*tensors)[0].bytes, 4U);
  EXPECT_EQ((*tensors)[1].bytes, 8U);
}

TEST(Safetensors, CopiesWhatIsNotAligned) {
  const auto tensors =
      read(safetensors_bytes(R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                                "b": {"dtype": "F32", "shape": [1], "data_offsets": [1, 5]}})",
                             5))
          .value();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensors[1].data) % 4, 0U);
  float value = 1;
  tensors[1].format->decode(tensors[1].data, &value, 1);
  EXPECT_EQ(value, 0);
}

TEST(Safetensors, AcceptsEmptyTensorsAndEmptyFiles) {
  EXPECT_EQ(error_of(R"({"a": {"dtype": "F32", "shape": [0, 3], "data_offsets": [0, 0]}})", 0), "");
  EXPECT_EQ(error_of("{}", 0), "");
}

TEST(Safetensors, RefusesAHeaderThatDoesNotFit) {
  EXPECT_THAT(read({}).error().message, HasSubstr("test.safetensors: 0 bytes"));
  ByteWriter lying;
  lying.number(uint64_t{1} << 63).raw("{}");
  EXPECT_THAT(read(lying.bytes()).error().message,
              HasSubstr("claims 9223372036854775808 bytes, but the file has 2"));
}

TEST(Safetensors, RefusesAHeaderThatIsNotAnObject) {
  EXPECT_THAT(error_of("[]", 0), HasSubstr("JSON array, expected an object"));
  EXPECT_THAT(error_of("{\"a\"", 0), HasSubstr("test.safetensors: header: not valid JSON"));
  EXPECT_THAT(error_of("{\"x\xFF\": 1}", 0), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of(R"({"x": 3})", 0), HasSubstr("not an object"));
  EXPECT_THAT(error_of("{\"x\":" + std::string(9000, '[') + std::string(9000, ']') + "}", 0),
              HasSubstr("nested deeper"));
}

TEST(Safetensors, RefusesRepeatedNames) {
  EXPECT_THAT(error_of(R"({"x": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                           "x": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}})",
                       2),
              HasSubstr("\"x\" appears twice"));
}

TEST(Safetensors, NamesTheTensorOfAnUnknownDtype) {
  EXPECT_THAT(error_of_tensor(R"("dtype": "F4", "shape": [16], "data_offsets": [0, 8])"),
              HasSubstr("tensor \"x\": dtype is \"F4\", expected one of F64, F32"));
  EXPECT_THAT(error_of_tensor(R"("shape": [16], "data_offsets": [0, 8])"),
              HasSubstr("tensor \"x\": \"dtype\" is missing"));
}

TEST(Safetensors, RefusesShapesThatLie) {
  EXPECT_THAT(error_of_tensor(R"("dtype": "F32", "shape": [3], "data_offsets": [0, 8])"),
              HasSubstr("shape [3] of F32 takes 12 bytes, but its data_offsets span 8"));
  EXPECT_THAT(
      error_of_tensor(R"("dtype": "F32", "shape": [4611686018427387906], "data_offsets": [0, 8])"),
      HasSubstr("more than 2^64"));
  EXPECT_THAT(
      error_of_tensor(
          R"("dtype": "F32", "shape": [9223372036854775807, 8, 2], "data_offsets": [0, 8])"),
      HasSubstr("more than 2^64"));
  for (const char* shape : {"[-1]", "[1.5]", "[\"2\"]", "[18446744073709551615]"}) {
    EXPECT_THAT(error_of_tensor(
                    std::string(R"("dtype": "F32", "data_offsets": [0, 8], "shape": )") + shape),
                HasSubstr("expected whole numbers"))
        << shape;
  }
  EXPECT_THAT(error_of_tensor(R"("dtype": "F32", "data_offsets": [0, 8])"),
              HasSubstr("\"shape\" is missing"));
}

TEST(Safetensors, RefusesOffsetsOutsideTheFile) {
  for (const char* offsets : {"[0, 9]", "[8, 0]", "[9, 17]", "[0, 18446744073709551615]"}) {
    EXPECT_THAT(
        error_of_tensor(std::string(R"("dtype": "F32", "shape": [2], "data_offsets": )") + offsets),
        HasSubstr("the file holds 8 bytes"))
        << offsets;
  }
  for (const char* offsets : {"[0]", "[0, -8]", "[0, 8, 9]", "null", "[0, 18446744073709551616]"}) {
    EXPECT_THAT(
        error_of_tensor(std::string(R"("dtype": "F32", "shape": [2], "data_offsets": )") + offsets),
        HasSubstr("not a pair of whole numbers"))
        << offsets;
  }
}

TEST(Safetensors, RefusesOverlapsGapsAndTrailingBytes) {
  EXPECT_THAT(error_of(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                           "b": {"dtype": "U8", "shape": [4], "data_offsets": [2, 6]}})",
                       6),
              HasSubstr("tensor \"b\": begins at byte 2 of the data, expected 4: it overlaps"));
  EXPECT_THAT(error_of(R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
                           "b": {"dtype": "U8", "shape": [2], "data_offsets": [4, 6]}})",
                       6),
              HasSubstr("there is a gap before it"));
  EXPECT_THAT(error_of(R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}})", 3),
              HasSubstr("the tensors end at byte 2 of the data, but the file has 3"));
}

TEST(Safetensors, RefusesAFileTruncatedAnywhere) {
  const std::vector<std::byte> whole = safetensors_bytes(
      R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "__metadata__": {"k": "v"}})",
      8);
  ASSERT_TRUE(read(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto cut = whole.begin() + static_cast<std::ptrdiff_t>(size);
    const auto tensors = read({whole.begin(), cut});
    ASSERT_FALSE(tensors.ok()) << "cut to " << size << " bytes";
    EXPECT_THAT(tensors.error().message, HasSubstr("test.safetensors"));
  }
}

}  // namespace
}  // namespace matador
