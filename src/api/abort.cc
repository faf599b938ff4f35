#include "api/abort.h"

#include "api/field_reader.h"

namespace matador {

ApiResult<std::string> parse_abort(std::string_view body) {
  ApiResult<Json> json = parse_json_object(body);
  if (!json.ok()) return json.error();
  FieldReader in(*json);
  auto id = in.text("request_id");
  if (!id) in.fail("request_id", "is required", "missing_required_parameter");
  in.refuse_unknown();
  if (in.error()) return *in.error();
  return *id;
}

}  // namespace matador
