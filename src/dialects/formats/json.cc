// The fallback: a message that is nothing but calls as JSON, with or without Hermes' tags.
#include "dialects/format.h"
#include "dialects/json_calls.h"

namespace matador {
namespace {

const RegisterFormat kJson(CallFormat{
    .name = "json",
    .openings = {{"", json_calls(JsonCallNames::offered)}, {"<tool_call>", json_calls()}},
    .silent = {"</tool_call>"},
    .written = {.call_begin = "<tool_call>\n{\"name\": \"",
                .name_end = "\", \"arguments\": ",
                .call_end = "}\n</tool_call>",
                .separator = "\n"}});

}  // namespace
}  // namespace matador
