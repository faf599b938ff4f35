#include "engine/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cuda/cuda.h"

namespace matador {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Device, CpuIsAlwaysThere) {
  auto device = open_device({.name = "cpu", .threads = 1});
  ASSERT_TRUE(device.ok()) << device.error().message;
  EXPECT_THAT((*device)->info().name, StartsWith("cpu"));
}

TEST(Device, AutoTakesTheFirstGpuWhereThereIsOne) {
  auto device = open_device({.threads = 1});
  ASSERT_TRUE(device.ok()) << device.error().message;
  EXPECT_THAT((*device)->info().name, StartsWith(cuda_available() ? "cuda:0" : "cpu"));
}

TEST(Device, AGpuThatIsNotThereIsRefusedWithTheReason) {
  auto device = open_device({.name = "cuda:99"});
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::unsupported);
  EXPECT_THAT(device.error().message, HasSubstr("cuda:99 was asked for, but"));
  EXPECT_THAT(device.error().message, HasSubstr(cuda_problem(99)));
}

TEST(Device, OtherNamesAreRefused) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "CUDA"}) {
    auto device = open_device({.name = name});
    ASSERT_FALSE(device.ok()) << name;
    EXPECT_EQ(device.error().code, ErrorCode::invalid_argument) << name;
  }
}

}  // namespace
}  // namespace matador
