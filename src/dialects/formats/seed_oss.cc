// Seed-OSS: https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct
#include "dialects/format.h"
#include "dialects/tagged_calls.h"

namespace matador {
namespace {

const RegisterFormat kCalls(CallFormat{
    .name = "seed_oss",
    .evidence = {"<seed:tool_call>", "<function=", "<parameter="},
    .openings = {{"<function=", tagged_calls({.name_ends = ">",
                                              .key_begin = "<parameter=",
                                              .key_end = ">",
                                              .value_end = "</parameter>",
                                              .call_end = "</function>",
                                              .trims_lines = true})}},
    .silent = {"<seed:tool_call>", "</seed:tool_call>"},
    .written = {.call_begin = "<seed:tool_call>\n<function=",
                .name_end = ">\n",
                .call_end = "</function>\n</seed:tool_call>",
                .separator = "\n",
                .by_argument = true,
                .key_begin = "<parameter=",
                .key_end = ">\n",
                .value_end = "\n</parameter>\n",
                .bare_strings = true}});

const RegisterFormat kReasoning(ReasoningFormat{.name = "seed_oss",
                                                .evidence = {"<seed:think>"},
                                                .open = "<seed:think>",
                                                .close = "</seed:think>"});

}  // namespace
}  // namespace matador
