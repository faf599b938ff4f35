// Granite 3: https://www.ibm.com/granite/docs/models/granite (4 writes as Hermes does)
#include "dialects/format.h"
#include "dialects/json_calls.h"

namespace matador {
namespace {

const RegisterFormat kCalls(CallFormat{
    .name = "granite",
    .evidence = {"<|tool_call|>", "<|start_of_role|>"},
    .openings = {{"<|tool_call|>", json_calls()}, {"<tool_call>", json_calls()}},
    .silent = {"</tool_call>"},
    .written = {.begin = "<|tool_call|>[",
                .call_begin = "{\"name\": \"",
                .name_end = "\", \"arguments\": ",
                .call_end = "}",
                .separator = ", ",
                .end = "]"}});

const RegisterFormat kReasoning(ReasoningFormat{.name = "granite",
                                                .evidence = {"Here is my thought process:"},
                                                .open = "Here is my thought process:",
                                                .close = "Here is my response:"});

}  // namespace
}  // namespace matador
