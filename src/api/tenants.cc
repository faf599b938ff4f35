#include "api/tenants.h"

#include <limits>
#include <set>

#include "api/field_reader.h"

namespace matador {
namespace {

constexpr int32_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int32_t kMaxPriority = 1'000'000;

std::string required(FieldReader& in, const char* name) {
  auto value = in.text(name);
  if (!value || value->empty()) in.fail(name, "is required, and may not be empty");
  return value.value_or("");
}

Tenant read_tenant(FieldReader& in) {
  Tenant tenant{.name = required(in, "name"), .key = required(in, "key")};
  tenant.weight = in.number("weight", 0.001, 1000).value_or(1);
  tenant.priority =
      static_cast<int32_t>(in.integer("priority", -kMaxPriority, kMaxPriority).value_or(0));
  tenant.requests_per_minute = in.integer("requests_per_minute", 1, kMaxInt32);
  tenant.tokens_per_minute = in.integer("tokens_per_minute", 1, kMaxInt32);
  if (auto limit = in.integer("max_concurrent_requests", 1, kMaxInt32))
    tenant.max_concurrent_requests = static_cast<int32_t>(*limit);
  tenant.admin = in.boolean("admin").value_or(false);
  in.refuse_unknown();
  return tenant;
}

}  // namespace

Result<std::vector<Tenant>> parse_tenants(std::string_view text, const std::string& source) {
  auto wrong = [&](const std::string& what) { return invalid_argument(source + ": " + what); };
  ApiResult<Json> json = parse_json_object(text);
  if (!json.ok()) return wrong(json.error().message);
  FieldReader in(*json);
  const Json* keys = in.array("keys");
  if (!keys || keys->empty()) return wrong("'keys' must be an array of keys, and not empty");
  in.refuse_unknown();
  std::vector<Tenant> tenants;
  std::set<std::string> names, secrets;
  for (size_t i = 0; i < keys->size() && !in.error(); ++i) {
    std::string path = "keys[" + std::to_string(i) + "]";
    if (!(*keys)[i].is_object()) return wrong(path + " must be an object");
    FieldReader item((*keys)[i], path);
    tenants.push_back(read_tenant(item));
    if (!names.insert(tenants.back().name).second) item.fail("name", "is another key's already");
    if (!secrets.insert(tenants.back().key).second) item.fail("key", "is there twice");
    if (item.error()) in.fail(*item.error());
  }
  if (in.error()) return wrong(in.error()->message);
  return tenants;
}

}  // namespace matador
