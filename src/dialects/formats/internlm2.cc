// InternLM 2 and 2.5: https://github.com/InternLM/InternLM/blob/main/chat/chat_format.md
#include "dialects/format.h"
#include "dialects/json_calls.h"

namespace matador {
namespace {

const RegisterFormat kInternLm2(CallFormat{
    .name = "internlm2",
    .evidence = {"<|action_start|>"},
    .openings = {{"<|action_start|><|plugin|>", json_calls()},
                 {"<|action_start|> <|plugin|>", json_calls()}},
    .silent = {"<|action_end|>"},
    .written = {.call_begin = "<|action_start|><|plugin|>\n{\"name\": \"",
                .name_end = "\", \"parameters\": ",
                .call_end = "}<|action_end|>",
                .separator = "\n"}});

}  // namespace
}  // namespace matador
