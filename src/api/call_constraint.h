// What holds the model to calls whose arguments match the tools' schemas. Internal to this room.
#pragma once

#include <memory>

#include "api/api_model.h"
#include "api/tool_request.h"
#include "engine/constraint.h"

namespace matador {

// null: the answer may be anything. May take long for large schemas. `opens_reasoning`: the answer
// begins inside the model's reasoning. Fails on schemas with what cannot be enforced, by name.
ApiResult<std::shared_ptr<const Constraint>> call_constraint(const ToolRequest& tools,
                                                             bool opens_reasoning,
                                                             const ApiModel& model);

}  // namespace matador
