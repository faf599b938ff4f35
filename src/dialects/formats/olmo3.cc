// Olmo 3: https://huggingface.co/allenai/Olmo-3-7B-Instruct
#include "dialects/format.h"
#include "dialects/python_calls.h"

namespace matador {
namespace {

const RegisterFormat kOlmo3(CallFormat{
    .name = "olmo3",
    .evidence = {"<function_calls>", "<functions>"},
    .openings = {{"<function_calls>", python_calls(PythonCallNames::any)}},
    .silent = {"</function_calls>"}});

}  // namespace
}  // namespace matador
