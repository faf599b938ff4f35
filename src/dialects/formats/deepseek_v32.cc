// DeepSeek V3.2: https://huggingface.co/deepseek-ai/DeepSeek-V3.2/tree/main/encoding
#include "dialects/format.h"
#include "dialects/tagged_calls.h"

namespace matador {
namespace {

const RegisterFormat kDeepSeekV32(CallFormat{
    .name = "deepseek_v32",
    .evidence = {"｜DSML｜"},
    .openings = {{"<｜DSML｜invoke name=\"",
                  tagged_calls({.name_ends = "\"",
                                .key_begin = "<｜DSML｜parameter name=\"",
                                .key_end = ">",
                                .value_end = "</｜DSML｜parameter>",
                                .call_end = "</｜DSML｜invoke>"})}},
    .silent = {"<｜DSML｜function_calls>", "</｜DSML｜function_calls>"},
    .written = {.begin = "<｜DSML｜function_calls>\n",
                .call_begin = "<｜DSML｜invoke name=\"",
                .name_end = "\">\n",
                .call_end = "</｜DSML｜invoke>",
                .separator = "\n",
                .end = "\n</｜DSML｜function_calls>",
                .by_argument = true,
                .key_begin = "<｜DSML｜parameter name=\"",
                .key_end = "\">",
                .value_end = "</｜DSML｜parameter>\n",
                .bare_strings = true}});

}  // namespace
}  // namespace matador
