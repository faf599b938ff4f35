#include "api/json.h"

#include <unordered_set>
#include <utility>
#include <vector>

namespace matador {
namespace {

// Builds the value while the parser runs, so that limits hold before memory is spent.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return fail("binary values are not JSON"); }
  bool start_object(size_t) override {
    keys_.emplace_back();
    return open(Json::object());
  }
  bool end_object() override {
    keys_.pop_back();
    return close();
  }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) return fail("the key \"" + name + "\" appears twice");
    key_ = std::move(name);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& e) override {
    std::string_view what = e.what();  // "[json.exception.parse_error.101] parse error at ..."
    size_t prefix = what.find("] ");
    return fail(std::string(prefix == what.npos ? what : what.substr(prefix + 2)));
  }

  Json root;
  std::string error;

 private:
  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }

  Json* place(Json value) {
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    // The key is known to be new, and insertion by name would search all others.
    auto& members = parent.get_ref<Json::object_t&>();
    members.push_back({std::move(key_), std::move(value)});
    return &members.back().second;
  }

  bool add(Json value) {
    if (++num_values_ > kMaxJsonValues)
      return fail("more than " + std::to_string(kMaxJsonValues) + " values");
    place(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (open_.size() >= kMaxJsonDepth)
      return fail("nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    if (++num_values_ > kMaxJsonValues)
      return fail("more than " + std::to_string(kMaxJsonValues) + " values");
    open_.push_back(place(std::move(value)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  // The last one is where values go. A parent does not grow while its child is open, so the
  // pointers stay valid.
  std::vector<Json*> open_;
  std::vector<std::unordered_set<std::string>> keys_;  // of the open objects
  std::string key_;
  size_t num_values_ = 0;
};

}  // namespace

ApiResult<Json> parse_json(std::string_view text) {
  Builder builder;
  if (Json::sax_parse(text.begin(), text.end(), &builder)) return std::move(builder.root);
  return ApiError{.message = "The body is not JSON that can be read: " + builder.error,
                  .code = "invalid_json"};
}

ApiResult<Json> parse_json_object(std::string_view text) {
  ApiResult<Json> value = parse_json(text);
  if (!value.ok() || value->is_object()) return value;
  return ApiError{.message = "The body must be a JSON object, found " + describe_json(*value),
                  .code = "invalid_json"};
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string describe_json(const Json& value) {
  constexpr size_t kShown = 60;
  if (value.is_array()) return "an array of " + std::to_string(value.size());
  if (value.is_object()) return "an object";
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > kShown) return "\"" + text.substr(0, kShown) + "...\"";
    return "\"" + text + "\"";
  }
  return dump_json(value);
}

}  // namespace matador
