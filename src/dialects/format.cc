#include "dialects/format.h"

#include <algorithm>
#include <list>
#include <utility>

#include "core/json.h"

namespace matador {
namespace {

// A function's static, so that it exists before the first format registers.
template <class Format>
std::list<Format>& registered() {
  static std::list<Format> list;
  return list;
}

template <class Format>
std::vector<const Format*> sorted() {
  std::vector<const Format*> all;
  for (const Format& format : registered<Format>()) all.push_back(&format);
  std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->name < b->name; });
  return all;
}

template <class Format>
Result<const Format*> find(std::string_view name, std::string_view option) {
  std::string known;
  for (const Format* format : sorted<Format>()) {
    if (format->name == name) return format;
    known.append(known.empty() ? "" : ", ").append(format->name);
  }
  return invalid_argument(std::string(option) + ": \"" + std::string(name.substr(0, 80)) +
                          "\" is not known; there are " + known);
}

template <class Format>
const Format* detect(std::string_view text) {
  const Format* best = nullptr;
  size_t most = 0;
  for (const Format* format : sorted<Format>()) {
    size_t size = 0;
    for (std::string_view sign : format->evidence) {
      if (text.find(sign) == std::string_view::npos) {
        size = 0;
        break;
      }
      size += sign.size();
    }
    if (size > most) {
      best = format;
      most = size;
    }
  }
  return best;
}

}  // namespace

RegisterFormat::RegisterFormat(CallFormat format) {
  registered<CallFormat>().push_back(std::move(format));
}
RegisterFormat::RegisterFormat(ReasoningFormat format) {
  registered<ReasoningFormat>().push_back(std::move(format));
}

std::vector<const CallFormat*> call_formats() { return sorted<CallFormat>(); }
std::vector<const ReasoningFormat*> reasoning_formats() { return sorted<ReasoningFormat>(); }

Result<const CallFormat*> find_call_format(std::string_view name) {
  return find<CallFormat>(name, "tool-call-parser");
}
Result<const ReasoningFormat*> find_reasoning_format(std::string_view name) {
  return find<ReasoningFormat>(name, "reasoning-parser");
}

std::string write_call(const CallFormat& format, std::string_view name,
                       std::string_view arguments) {
  const WrittenCalls& written = format.written;
  std::string text(written.call_begin);
  text.append(name).append(written.name_end);
  if (written.by_argument) {
    const auto object =
        nlohmann::ordered_json::parse(arguments, nullptr, /*allow_exceptions=*/false);
    bool first = true;
    for (const auto& [key, value] : object.items()) {
      if (!std::exchange(first, false)) text += written.argument_separator;
      const bool bare = written.bare_strings && value.is_string();
      text.append(written.key_begin).append(key).append(written.key_end);
      text.append(bare ? value.get<std::string>() : value.dump()).append(written.value_end);
    }
  } else {
    text += arguments;
  }
  return text.append(written.call_end);
}

bool is_in_mark(const CallFormat* calls, const ReasoningFormat* reasoning, std::string_view text) {
  auto in = [&](std::string_view mark) { return mark.find(text) != std::string_view::npos; };
  auto in_one = [&](const auto& marks) { return std::any_of(marks.begin(), marks.end(), in); };
  if (reasoning && (in(reasoning->open) || in(reasoning->close) || in_one(reasoning->structural)))
    return true;
  if (!calls) return false;
  return in_one(calls->silent) || in_one(calls->structural) || in_one(calls->inside) ||
         std::any_of(calls->openings.begin(), calls->openings.end(),
                     [&](const CallFormat::Opening& opening) { return in(opening.mark); });
}

const CallFormat* detect_call_format(std::string_view chat_template) {
  const CallFormat* found = detect<CallFormat>(chat_template);
  return found ? found : *find_call_format("json");
}
const ReasoningFormat* detect_reasoning_format(std::string_view chat_template) {
  return detect<ReasoningFormat>(chat_template);
}

}  // namespace matador
