// Which web pages may call: CORS (https://fetch.spec.whatwg.org/#http-cors-protocol).
#pragma once

#include <string>
#include <vector>

#include "server/http.h"

namespace matador {

// What a browser needs to let a page of another origin read the answer; nothing where the origin
// is not allowed. Never with credentials, so "*" may be said to all.
HttpHeaders cors_headers(const HttpRequest& request, const std::vector<std::string>& origins);
// And for a preflight.
HttpHeaders preflight_headers(const HttpRequest& request, const std::vector<std::string>& origins);

}  // namespace matador
