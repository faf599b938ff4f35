// Olmo 3: https://huggingface.co/allenai/Olmo-3-7B-Instruct
#include "dialects/format.h"
#include "dialects/python_calls.h"

namespace matador {
namespace {

const RegisterFormat kOlmo3(CallFormat{
    .name = "olmo3",
    .evidence = {"<function_calls>", "<functions>"},
    .openings = {{"<function_calls>", python_calls(PythonCallNames::any)}},
    .silent = {"</function_calls>"},
    .written = {.begin = "<function_calls>\n",
                .name_end = "(",
                .call_end = ")",
                .separator = "\n",
                .end = "\n</function_calls>",
                .by_argument = true,
                .key_end = "=",
                .argument_separator = ", "}});

}  // namespace
}  // namespace matador
