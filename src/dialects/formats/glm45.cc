// GLM 4.5 and later: https://huggingface.co/zai-org/GLM-4.5
#include "dialects/format.h"
#include "dialects/tagged_calls.h"

namespace matador {
namespace {

const RegisterFormat kGlm45(CallFormat{
    .name = "glm45",
    .evidence = {"<tool_call>", "<arg_key>", "<arg_value>"},
    .openings = {{"<tool_call>", tagged_calls({.name_ends = "\n<",
                                               .key_begin = "<arg_key>",
                                               .key_end = "<arg_value>",
                                               .value_end = "</arg_value>",
                                               .call_end = "</tool_call>"})}},
    .written = {.call_begin = "<tool_call>",
                .name_end = "\n",
                .call_end = "</tool_call>",
                .separator = "\n",
                .by_argument = true,
                .key_begin = "<arg_key>",
                .key_end = "</arg_key>\n<arg_value>",
                .value_end = "</arg_value>\n",
                .bare_strings = true}});

}  // namespace
}  // namespace matador
