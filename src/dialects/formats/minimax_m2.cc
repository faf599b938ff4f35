// MiniMax M2: https://huggingface.co/MiniMaxAI/MiniMax-M2/blob/main/docs/tool_calling_guide.md
#include "dialects/format.h"
#include "dialects/tagged_calls.h"

namespace matador {
namespace {

const RegisterFormat kMiniMaxM2(CallFormat{
    .name = "minimax_m2",
    .evidence = {"<minimax:tool_call>", "<invoke name="},
    .openings = {{"<invoke name=\"", tagged_calls({.name_ends = "\"",
                                                   .key_begin = "<parameter name=\"",
                                                   .key_end = ">",
                                                   .value_end = "</parameter>",
                                                   .call_end = "</invoke>",
                                                   .trims_lines = true})}},
    .silent = {"<minimax:tool_call>", "</minimax:tool_call>"},
    .written = {.begin = "<minimax:tool_call>\n",
                .call_begin = "<invoke name=\"",
                .name_end = "\">\n",
                .call_end = "</invoke>",
                .separator = "\n",
                .end = "\n</minimax:tool_call>",
                .by_argument = true,
                .key_begin = "<parameter name=\"",
                .key_end = "\">",
                .value_end = "</parameter>\n",
                .bare_strings = true}});

}  // namespace
}  // namespace matador
