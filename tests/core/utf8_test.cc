#include "core/utf8.h"

#include <gtest/gtest.h>

namespace matador {
namespace {

TEST(Utf8, AcceptsWellFormedText) {
  for (const char* text :
       {"", "plain", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Utf8, RefusesMalformedText) {
  for (const char* text : {"\x80", "\xBF", "\xC2", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF",
                           "\xED\xA0\x80", "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                           "\xF5\x80\x80\x80", "\xFF", "a\xE2\x28\xA1", "\xF0\x90\x28\x80"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST(Utf8, PrintsMalformedBytesEscaped) {
  EXPECT_EQ(printable("na\xC3\xAFve"), "na\xC3\xAFve");
  EXPECT_EQ(printable("a\xFFz"), "a\\xffz");
}

}  // namespace
}  // namespace matador
