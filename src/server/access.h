// Who may call: API keys and CORS (https://fetch.spec.whatwg.org/#http-cors-protocol).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http.h"

namespace matador {

// The Authorization header holds "Bearer <one of the keys>". The time taken does not depend on
// how much of a key was right, nor on which.
bool has_api_key(std::string_view authorization, const std::vector<std::string>& keys);

// What a browser needs to let a page of another origin read the answer; nothing where the origin
// is not allowed. Never with credentials, so "*" may be said to all.
HttpHeaders cors_headers(const HttpRequest& request, const std::vector<std::string>& origins);
// And for a preflight.
HttpHeaders preflight_headers(const HttpRequest& request, const std::vector<std::string>& origins);

}  // namespace matador
