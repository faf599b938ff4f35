#include "core/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

namespace matador {
namespace {

using testing::HasSubstr;

std::string write_temporary(const std::string& content) {
  std::string path = testing::TempDir() + "/matador_file_test";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const std::string path = write_temporary("hello");
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  ASSERT_EQ((*file)->bytes().size(), 5U);
  EXPECT_EQ(std::memcmp((*file)->bytes().data(), "hello", 5), 0);
  EXPECT_EQ((*file)->path(), path);
}

TEST(MappedFile, OpensAnEmptyFile) {
  const auto file = MappedFile::open(write_temporary(""));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->bytes().empty());
}

TEST(MappedFile, RefusesAFolder) {
  const auto file = MappedFile::open(testing::TempDir());
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("not a regular file"));
}

TEST(MappedFile, ReportsAMissingFileAsNotFound) {
  const auto file = MappedFile::open("/nowhere/file");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, ErrorCode::not_found);
}

TEST(ReadFile, ReadsAllOrRefusesWhatIsTooLarge) {
  const std::string path = write_temporary("12345");
  EXPECT_EQ(read_file(path, 5).value(), "12345");
  const auto refused = read_file(path, 4);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("5 bytes, expected at most 4"));
}

}  // namespace
}  // namespace matador
