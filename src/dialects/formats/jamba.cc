// Jamba 1.5: https://huggingface.co/ai21labs/AI21-Jamba-1.5-Mini#tool-use-with-jamba
#include "dialects/format.h"
#include "dialects/json_calls.h"

namespace matador {
namespace {

const RegisterFormat kJamba(CallFormat{.name = "jamba",
                                       .evidence = {"<tool_calls>"},
                                       .openings = {{"<tool_calls>", json_calls()}},
                                       .silent = {"</tool_calls>"},
                                       .written = {.begin = "<tool_calls>[\n",
                                                   .call_begin = "{\"name\": \"",
                                                   .name_end = "\", \"arguments\": ",
                                                   .call_end = "}",
                                                   .separator = ", ",
                                                   .end = "\n]</tool_calls>"}});

}  // namespace
}  // namespace matador
