// The printed description of every tiny checkpoint, so that a change to what architectures share
// shows on each of them. After a wanted change: MATADOR_UPDATE_GOLDENS=1 build/.../models_test.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "models/model.h"
#include "tiny_model.h"

namespace matador {
namespace {

class Description : public testing::TestWithParam<std::string> {};

TEST_P(Description, IsTheGolden) {
  const std::string folder = std::string(MATADOR_TEST_DATA) + "/models/" + GetParam();
  const auto checkpoint = open_checkpoint(folder);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  const Result<std::string> description = describe_model(**checkpoint);
  ASSERT_TRUE(description.ok()) << description.error().message;
  const std::string golden = folder + "/describe.txt";
  if (std::getenv("MATADOR_UPDATE_GOLDENS") != nullptr) std::ofstream(golden) << *description;
  std::stringstream expected;
  expected << std::ifstream(golden).rdbuf();
  EXPECT_EQ(*description, expected.str());
}

INSTANTIATE_TEST_SUITE_P(TinyModels, Description, testing::ValuesIn(tiny_model_names()),
                         [](const testing::TestParamInfo<std::string>& parameter) {
                           return test_name(parameter.param);
                         });

}  // namespace
}  // namespace matador
