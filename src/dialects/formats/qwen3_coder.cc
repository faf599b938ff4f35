// Qwen3-Coder and Qwen 3.5: https://huggingface.co/Qwen/Qwen3-Coder-480B-A35B-Instruct
#include "dialects/format.h"
#include "dialects/tagged_calls.h"

namespace matador {
namespace {

const RegisterFormat kQwen3Coder(CallFormat{
    .name = "qwen3_coder",
    .evidence = {"<tool_call>", "<function=", "<parameter="},
    .openings = {{"<function=", tagged_calls({.name_ends = ">",
                                              .key_begin = "<parameter=",
                                              .key_end = ">",
                                              .value_end = "</parameter>",
                                              .call_end = "</function>",
                                              .trims_lines = true})}},
    .silent = {"<tool_call>", "</tool_call>"},
    .written = {.call_begin = "<tool_call>\n<function=",
                .name_end = ">\n",
                .call_end = "</function>\n</tool_call>",
                .separator = "\n",
                .by_argument = true,
                .key_begin = "<parameter=",
                .key_end = ">\n",
                .value_end = "\n</parameter>\n",
                .bare_strings = true}});

}  // namespace
}  // namespace matador
