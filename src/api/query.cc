#include "api/query.h"

#include <algorithm>
#include <charconv>

#include "api/choice_text.h"
#include "api/field_reader.h"

namespace matador {

std::string percent_decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Json parse_query(std::string_view query) {
  auto decode = [](std::string_view text) {
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return replace_invalid_utf8(percent_decode(spaced));
  };
  Json fields = Json::object();
  while (!query.empty()) {
    std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    size_t equals = std::min(pair.find('='), pair.size());
    std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    fields[decode(pair.substr(0, equals))] = decode(value);
  }
  return fields;
}

PageRequest read_page(FieldReader& in, const PageLimits& limits) {
  PageRequest page{.limit = limits.usual};
  if (auto text = in.text("limit")) {
    auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), page.limit);
    if (error != std::errc() || end != text->data() + text->size() || page.limit < 1 ||
        page.limit > limits.max)
      in.fail("limit", "must be an integer from 1 to " + std::to_string(limits.max) + ", found \"" +
                           *text + "\"");
  }
  page.after = in.text("after").value_or("");
  if (!limits.ordered) return page;
  std::string order = in.text("order").value_or("desc");
  if (order != "asc" && order != "desc")
    in.fail("order", "must be \"asc\" or \"desc\", found \"" + order + "\"");
  page.ascending = order == "asc";
  return page;
}

}  // namespace matador
