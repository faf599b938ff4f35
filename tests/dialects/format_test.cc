#include "dialects/format.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace matador {
namespace {

// Excerpts of published templates, each enough to tell its family.
TEST(Formats, AreDetectedByTheChatTemplate) {
  std::ifstream in(MATADOR_TEST_DATA "/chat_template_families.json");
  for (const auto& row : nlohmann::json::parse(in)) {
    const std::string source = row["template"];
    EXPECT_EQ(detect_call_format(source)->name, row["calls"].get<std::string>()) << row["family"];
    const ReasoningFormat* reasoning = detect_reasoning_format(source);
    EXPECT_EQ(reasoning ? reasoning->name : "", row["reasoning"].get<std::string>())
        << row["family"];
  }
}

TEST(Formats, AreFoundByName) {
  EXPECT_EQ((*find_call_format("hermes"))->name, "hermes");
  auto unknown = find_call_format("nothing");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("hermes"), std::string::npos);
  EXPECT_FALSE(find_reasoning_format("").ok());
}

}  // namespace
}  // namespace matador
