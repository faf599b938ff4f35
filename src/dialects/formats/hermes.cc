// Hermes 2 Pro and later, Qwen 2.5 and 3: https://github.com/NousResearch/Hermes-Function-Calling
#include "dialects/format.h"
#include "dialects/json_calls.h"

namespace matador {
namespace {

const RegisterFormat kHermes(CallFormat{.name = "hermes",
                                        .evidence = {"<tool_call>"},
                                        .openings = {{"<tool_call>", json_calls()}},
                                        .silent = {"</tool_call>"},
                                        .written = {.call_begin = "<tool_call>\n{\"name\": \"",
                                                    .name_end = "\", \"arguments\": ",
                                                    .call_end = "}\n</tool_call>",
                                                    .separator = "\n"}});

}  // namespace
}  // namespace matador
