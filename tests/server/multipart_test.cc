#include "server/multipart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace matador {
namespace {

using testing::ElementsAre;

struct Parsed {
  std::vector<std::string> parts;  // "name/filename=content"
  std::string error;
};

Parsed parse(const std::string& body, size_t piece) {
  Parsed parsed;
  MultipartReader reader("b", {.begin =
                                   [&](const FormPart& part) {
                                     parsed.parts.push_back(part.name + "/" + part.filename + "=");
                                   },
                               .data = [&](std::string_view data) { parsed.parts.back() += data; },
                               .end = [&] { parsed.parts.back() += "."; }});
  for (size_t i = 0; i < body.size(); i += piece)
    reader.write(std::string_view(body).substr(i, piece));
  parsed.error = reader.finish();
  return parsed;
}

std::string part(const std::string& disposition, const std::string& content) {
  return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n";
}

TEST(Multipart, ReadsPartsHoweverTheyAreCut) {
  const std::string body =
      "a preamble\r\n" + part("name=\"purpose\"", "batch") +
      part("name=\"file\"; filename=\"a \\\"b\\\".txt\"", "line\r\n--not\r\n--\r\n-- b") +
      part("name=empty", "") + "--b--\r\nan epilogue";
  for (size_t piece = 1; piece <= body.size(); ++piece) {
    Parsed parsed = parse(body, piece);
    EXPECT_EQ(parsed.error, "");
    EXPECT_THAT(parsed.parts,
                ElementsAre("purpose/=batch.", "file/a \"b\".txt=line\r\n--not\r\n--\r\n-- b.",
                            "empty/=."));
  }
}

TEST(Multipart, SaysWhatIsWrong) {
  EXPECT_NE(parse("", 1).error, "");
  EXPECT_NE(parse(part("name=a", "cut off"), 3).error, "");
  EXPECT_NE(parse("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--", 3).error, "");
  EXPECT_NE(parse("--bc\r\n\r\n", 3).error, "");
  EXPECT_NE(parse("--b\r\nX: " + std::string(20'000, 'x'), 100).error, "");
}

TEST(Multipart, KnowsItsContentType) {
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=b1"), "b1");
  EXPECT_EQ(multipart_boundary("Multipart/Form-Data; charset=x; Boundary=\"b 2\""), "b 2");
  EXPECT_FALSE(multipart_boundary("multipart/form-data"));
  EXPECT_FALSE(multipart_boundary("application/json; boundary=b"));
  EXPECT_FALSE(multipart_boundary("multipart/form-data; boundary=" + std::string(71, 'b')));
}

}  // namespace
}  // namespace matador
