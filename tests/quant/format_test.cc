// Every format against values from the gguf package and ggml (tools/make_quant_goldens.py).
#include "quant/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace matador {
namespace {

struct Golden {
  std::vector<std::byte> blocks;
  std::vector<float> values;
};

std::string golden_path(std::string_view format, std::string_view kind) {
  return std::string(MATADOR_TEST_DATA) + "/quant/" + std::string(format) + std::string(kind);
}

bool exists(const std::string& path) { return std::ifstream(path).good(); }

// `values_first`: the file holds what to encode, then the blocks.
Golden read_golden(const Format& format, const std::string& path, bool values_first) {
  std::ifstream file(path, std::ios::binary);
  uint32_t header[3] = {};
  file.read(reinterpret_cast<char*>(header), sizeof(header));
  EXPECT_EQ(header[1], static_cast<uint32_t>(format.block_bytes)) << path;
  EXPECT_EQ(header[2], static_cast<uint32_t>(format.block_values)) << path;
  Golden golden;
  golden.blocks.resize(size_t{header[0]} * header[1]);
  golden.values.resize(size_t{header[0]} * header[2]);
  const auto read = [&](auto& items) {
    file.read(reinterpret_cast<char*>(items.data()),
              static_cast<std::streamsize>(items.size() * sizeof(items[0])));
  };
  if (values_first) read(golden.values);
  read(golden.blocks);
  if (!values_first) read(golden.values);
  EXPECT_TRUE(file.good()) << path;
  return golden;
}

bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

class EachFormat : public testing::TestWithParam<const Format*> {};

TEST_P(EachFormat, DecodesAsPublished) {
  const Format& format = *GetParam();
  const std::string path = golden_path(format.name, ".bin");
  if (!exists(path)) {
    ASSERT_EQ(format.block_values, 1) << "no golden for a quantised format";
    return;
  }
  const Golden golden = read_golden(format, path, false);
  std::vector<float> values(golden.values.size());
  format.decode(golden.blocks.data(), values.data(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(same_bits(values[i], golden.values[i]))
        << "value " << i << " is " << values[i] << ", expected " << golden.values[i];
  }
}

TEST_P(EachFormat, EncodesAsPublished) {
  const Format& format = *GetParam();
  const std::string path = golden_path(format.name, ".encode.bin");
  if (!exists(path)) return;
  ASSERT_NE(format.encode, nullptr);
  const Golden golden = read_golden(format, path, true);
  std::vector<std::byte> blocks(golden.blocks.size());
  format.encode(golden.values.data(), blocks.data(), static_cast<int64_t>(golden.values.size()));
  EXPECT_EQ(blocks, golden.blocks);
}

TEST_P(EachFormat, EncodesWhatItDecodesCloseToTheOriginal) {
  const Format& format = *GetParam();
  if (format.encode == nullptr) return;
  std::vector<float> values(512);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i * i)) + 0.1F;
  const auto count = static_cast<int64_t>(values.size());
  // Eight bytes of alignment suit every block.
  std::vector<int64_t> storage(static_cast<size_t>(format.bytes(count)) / 8 + 1);
  auto* blocks = reinterpret_cast<std::byte*>(storage.data());
  format.encode(values.data(), blocks, count);
  std::vector<float> decoded(values.size());
  format.decode(blocks, decoded.data(), count);
  // Half a step of the coarsest encoder here: four bits over a range of 2.2.
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(decoded[i], values[i], 2.2 / 15 / 2 * 1.2) << "value " << i;
  }
}

// Tensors of a file lie wherever the file puts them; UBSan watches the reads.
TEST_P(EachFormat, ReadsAndWritesBlocksAtOddAddresses) {
  const Format& format = *GetParam();
  const int64_t count = 2 * format.block_values;
  std::vector<std::byte> blocks(static_cast<size_t>(format.bytes(count)));
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = std::byte(i * 37 & 0x3B);
  std::vector<std::byte> shifted(blocks.size() + 1);
  std::copy(blocks.begin(), blocks.end(), shifted.begin() + 1);
  std::vector<float> expected(static_cast<size_t>(count)), values(expected.size());
  format.decode(blocks.data(), expected.data(), count);
  format.decode(shifted.data() + 1, values.data(), count);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_TRUE(same_bits(values[i], expected[i])) << i;

  if (format.encode == nullptr) return;
  format.encode(values.data(), blocks.data(), count);
  format.encode(values.data(), shifted.data() + 1, count);
  EXPECT_TRUE(std::equal(blocks.begin(), blocks.end(), shifted.begin() + 1));
}

std::vector<const Format*> all() {
  std::vector<const Format*> list;
  for (const Format& format : formats()) list.push_back(&format);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Quant, EachFormat, testing::ValuesIn(all()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST(Formats, CoverEveryTypeOfGgml) {
  const std::vector<int> removed = {4, 5, 31, 32, 33, 36, 37, 38};
  for (int type = 0; type <= 42; ++type) {
    const bool expected = std::find(removed.begin(), removed.end(), type) == removed.end();
    EXPECT_EQ(find_ggml_format(type) != nullptr, expected) << "type " << type;
  }
  EXPECT_EQ(find_ggml_format(-1), nullptr);
  EXPECT_EQ(find_ggml_format(43), nullptr);
}

TEST(Formats, AreFoundByName) {
  ASSERT_NE(find_format("q4_k"), nullptr);
  EXPECT_EQ(find_format("q4_k")->block_bytes, 144);
  EXPECT_EQ(find_format("q4_k")->bytes(512), 288);
  EXPECT_EQ(find_format("q4"), nullptr);
}

TEST(Formats, DecodeWholeNumbers) {
  const int64_t number = -5'000'000'000;
  float value = 0;
  find_format("i64")->decode(reinterpret_cast<const std::byte*>(&number), &value, 1);
  EXPECT_EQ(value, -5e9F);
  const uint8_t byte = 200;
  find_format("u8")->decode(reinterpret_cast<const std::byte*>(&byte), &value, 1);
  EXPECT_EQ(value, 200);
}

// Independent of the decoder's bit tricks: sign, exponent and mantissa by their definition.
float value_of(int code, int mantissa_bits, int bias) {
  const int magnitude = code & 127;
  const int exponent = magnitude >> mantissa_bits;
  const int mantissa = magnitude & ((1 << mantissa_bits) - 1);
  const float value = exponent == 0
                          ? std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits)
                          : std::ldexp(static_cast<float>(mantissa + (1 << mantissa_bits)),
                                       exponent - bias - mantissa_bits);
  return code >= 128 ? -value : value;
}

TEST(Formats, DecodeEightBitFloats) {
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::byte>(code);
    float value = 0;
    find_format("f8_e4m3")->decode(&byte, &value, 1);
    const bool nan = (code & 127) == 127;
    EXPECT_TRUE(nan ? std::isnan(value) : same_bits(value, value_of(code, 3, 7))) << code;
    find_format("f8_e5m2")->decode(&byte, &value, 1);
    if ((code & 127) > 0x7C) {
      EXPECT_TRUE(std::isnan(value)) << code;
    } else if ((code & 127) == 0x7C) {
      EXPECT_TRUE(std::isinf(value)) << code;
    } else {
      EXPECT_TRUE(same_bits(value, value_of(code, 2, 15))) << code;
    }
  }
}

TEST(Formats, EncodeZerosAndNonNumbersWithoutHarm) {
  for (const Format& format : formats()) {
    if (format.encode == nullptr || format.block_values == 1) continue;
    for (const float filler : {0.0F, std::nanf(""), INFINITY, 1e-45F, 3e38F}) {
      const std::vector<float> values(static_cast<size_t>(format.block_values), filler);
      std::vector<int64_t> block(static_cast<size_t>(format.block_bytes) / 8 + 1);
      format.encode(values.data(), reinterpret_cast<std::byte*>(block.data()), format.block_values);
    }
  }
}

}  // namespace
}  // namespace matador
