#include "core/json.h"

#include <set>
#include <utility>
#include <vector>

namespace matador {
namespace {

using nlohmann::json;

// Watches the parser: the library itself neither bounds depth nor reports repeated keys.
class Guard {
 public:
  struct Refusal {
    std::string reason;
  };

  explicit Guard(const JsonLimits& limits) : limits_(limits) {}

  void see(int depth, json::parse_event_t event, const json& parsed) {
    using Event = json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= limits_.depth) {
        throw Refusal{"nested deeper than " + std::to_string(limits_.depth) + " levels"};
      }
    }
    if (!limits_.unique_keys) return;
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key && !keys_.back().insert(parsed.get_ref<const std::string&>()).second) {
      throw Refusal{"key " + dump_json(parsed) + " appears twice in one object"};
    }
  }

 private:
  JsonLimits limits_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

}  // namespace

Result<json> parse_json(std::string_view text, const std::string& source,
                        const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return invalid_argument(source + ": " + std::to_string(text.size()) +
                            " bytes of JSON, expected at most " + std::to_string(limits.bytes));
  }
  Guard guard(limits);
  try {
    return json::parse(text.begin(), text.end(), [&](int depth, auto event, json& parsed) {
      guard.see(depth, event, parsed);
      return true;
    });
  } catch (const json::exception& error) {
    return invalid_argument(source + ": not valid JSON: " + error.what());
  } catch (const Guard::Refusal& refusal) {
    return invalid_argument(source + ": " + refusal.reason);
  }
}

std::string dump_json(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace matador
