// LFM2: https://huggingface.co/LiquidAI/LFM2-1.2B#tool-use
#include "dialects/format.h"
#include "dialects/python_calls.h"

namespace matador {
namespace {

const RegisterFormat kLfm2(CallFormat{
    .name = "lfm2",
    .evidence = {"<|tool_list_start|>"},
    .openings = {{"<|tool_call_start|>", python_calls(PythonCallNames::any)}},
    .silent = {"<|tool_call_end|>"},
    .written = {.begin = "<|tool_call_start|>[",
                .name_end = "(",
                .call_end = ")",
                .separator = ", ",
                .end = "]<|tool_call_end|>",
                .by_argument = true,
                .key_end = "=",
                .argument_separator = ", "}});

}  // namespace
}  // namespace matador
