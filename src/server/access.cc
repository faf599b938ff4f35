#include "server/access.h"

#include <algorithm>

namespace matador {
namespace {

bool equal_in_constant_time(std::string_view given, std::string_view key) {
  size_t different = given.size() ^ key.size();
  for (size_t i = 0; i < given.size(); ++i)
    different |= static_cast<size_t>(static_cast<unsigned char>(given[i]) ^
                                     static_cast<unsigned char>(key[i % key.size()]));
  return different == 0;
}

}  // namespace

bool has_api_key(std::string_view authorization, const std::vector<std::string>& keys) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size()) return false;
  bool is_bearer = std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                              [](char a, char b) { return a == (b | 0x20); });
  std::string_view given = authorization.substr(kScheme.size());
  bool found = false;
  for (const std::string& key : keys) found |= equal_in_constant_time(given, key);
  return found && is_bearer;
}

HttpHeaders cors_headers(const HttpRequest& request, const std::vector<std::string>& origins) {
  std::string_view origin = request.header("origin");
  if (origin.empty() || origins.empty()) return {};
  if (std::find(origins.begin(), origins.end(), "*") != origins.end())
    return {{"Access-Control-Allow-Origin", "*"}};
  if (std::find(origins.begin(), origins.end(), origin) == origins.end())
    return {{"Vary", "Origin"}};
  return {{"Access-Control-Allow-Origin", std::string(origin)}, {"Vary", "Origin"}};
}

HttpHeaders preflight_headers(const HttpRequest& request, const std::vector<std::string>& origins) {
  HttpHeaders headers = cors_headers(request, origins);
  if (headers.empty()) return headers;
  std::string_view wanted = request.header("access-control-request-headers");
  headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, DELETE, HEAD, OPTIONS");
  headers.emplace_back("Access-Control-Allow-Headers",
                       wanted.empty() ? "authorization, content-type" : std::string(wanted));
  headers.emplace_back("Access-Control-Max-Age", "600");
  return headers;
}

}  // namespace matador
