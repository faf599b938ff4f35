// Tools for models whose chat template does not know of them: as text in the messages. Internal to
// this room.
#pragma once

#include "api/json.h"
#include "dialects/format.h"

namespace matador {

// Describes `tools` (OpenAI's objects) and how to call them at the end of the system message,
// which is put in front where there is none.
void describe_tools(const Json& tools, const CallFormat& format, Json& messages);

// Writes an assistant's earlier calls as text of its message, and their results as a user's.
void write_calls_as_text(const CallFormat& format, Json& messages);

}  // namespace matador
