// Llama 3.2 and 4 as Python: https://www.llama.com/docs/model-cards-and-prompt-formats/llama4/
#include "dialects/format.h"
#include "dialects/python_calls.h"

namespace matador {
namespace {

const RegisterFormat kPythonic(CallFormat{
    .name = "pythonic",
    .evidence = {"func_name1(params_name1=params_value1"},
    .openings = {{"", python_calls(PythonCallNames::offered)},
                 {"<|python_start|>", python_calls(PythonCallNames::any)}},
    .silent = {"<|python_end|>"},
    .written = {.begin = "[",
                .name_end = "(",
                .call_end = ")",
                .separator = ", ",
                .end = "]",
                .by_argument = true,
                .key_end = "=",
                .argument_separator = ", "}});

}  // namespace
}  // namespace matador
