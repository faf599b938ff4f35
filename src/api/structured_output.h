// Structured output: the fields by which a request says what its answer must look like, and the
// constraint that they make. Internal to this room.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/api_model.h"
#include "engine/constraint.h"
#include "text/grammar.h"

namespace matador {

class FieldReader;

struct StructuredOutput {
  std::string field;  // that asks for it, for errors
  GrammarSource source;
};

// response_format, vLLM's guided_json, guided_regex, guided_choice and guided_grammar, and
// structured_outputs: at most one of them. `strict` schemas and others are enforced alike. The
// first fault stays in `fields`.
std::optional<StructuredOutput> read_structured_output(FieldReader& fields);

// May take long (text/grammar.h). 400 where what is asked cannot be enforced.
ApiResult<std::shared_ptr<const Constraint>> compile_constraint(const StructuredOutput& wanted,
                                                                const ApiModel& model);

}  // namespace matador
