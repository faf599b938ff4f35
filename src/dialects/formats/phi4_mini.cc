// Phi-4-mini:
// https://huggingface.co/microsoft/Phi-4-mini-instruct#tool-enabled-function-calling-format
#include "dialects/format.h"
#include "dialects/json_calls.h"

namespace matador {
namespace {

const RegisterFormat kPhi4Mini(CallFormat{
    .name = "phi4_mini",
    .evidence = {"<|tool|>", "<|/tool|>"},
    .openings = {{"functools", json_calls()}, {"<|tool_call|>", json_calls()}},
    .silent = {"<|/tool_call|>"},
    .written = {.begin = "functools[",
                .call_begin = "{\"name\": \"",
                .name_end = "\", \"arguments\": ",
                .call_end = "}",
                .separator = ", ",
                .end = "]"}});

}  // namespace
}  // namespace matador
