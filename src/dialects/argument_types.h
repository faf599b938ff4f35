// ArgumentTypes: which JSON types a tool's schema lets each argument have, for formats that write
// values without quotes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace matador {

class ArgumentType {
 public:
  static ArgumentType any() { return ArgumentType(kAll); }
  static ArgumentType text() { return ArgumentType(kText); }
  // As a schema's "type" names them; unknown names count as any.
  static ArgumentType named(std::string_view name);

  ArgumentType() = default;
  ArgumentType operator|(ArgumentType other) const { return ArgumentType(bits_ | other.bits_); }

  bool only_text() const { return bits_ == kText; }
  // The value written as `raw`: JSON of one of the types, else a string.
  std::string json_of(std::string_view raw) const;

 private:
  static constexpr uint8_t kText = 1, kNumber = 2, kBoolean = 4, kNull = 8, kArray = 16,
                           kObject = 32, kAll = 63;
  explicit ArgumentType(int bits) : bits_(static_cast<uint8_t>(bits)) {}
  uint8_t bits_ = kAll;
};

class ArgumentTypes {
 public:
  // What is not a schema of an object says nothing.
  explicit ArgumentTypes(std::string_view schema);
  ArgumentType of(std::string_view argument) const;
  // In the schema's order.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, ArgumentType, std::less<>> types_;
  std::vector<std::string> names_;
};

}  // namespace matador
