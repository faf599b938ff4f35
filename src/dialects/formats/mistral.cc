// Mistral: [TOOL_CALLS][{"name": ..., "arguments": ...}], from tokenizer v11 on
// [TOOL_CALLS]NAME[ARGS]{...}, some with [CALL_ID] between.
// https://docs.mistral.ai/capabilities/function_calling and mistral-common
#include "dialects/format.h"
#include "dialects/named_calls.h"

namespace matador {
namespace {

const RegisterFormat kCalls(CallFormat{
    .name = "mistral",
    .evidence = {"[TOOL_CALLS]"},
    .openings = {{"[TOOL_CALLS]", named_or_json_calls([](std::string_view header) {
                    return text_before(text_before(header, "[ARGS]"), "[CALL_ID]");
                  })}},
    .inside = {"[ARGS]", "[CALL_ID]"},
    .written = {.call_begin = "[TOOL_CALLS]", .name_end = "[ARGS]"},
    .ids = CallIds::mistral});

const RegisterFormat kReasoning(ReasoningFormat{
    .name = "mistral", .evidence = {"[THINK]"}, .open = "[THINK]", .close = "[/THINK]"});

}  // namespace
}  // namespace matador
