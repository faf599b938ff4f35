#include "server/cors.h"

#include <algorithm>
#include <string_view>

namespace matador {
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
