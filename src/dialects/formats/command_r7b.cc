// Command R7B and Command A: https://docs.cohere.com/docs/command-a-hf
#include "dialects/format.h"
#include "dialects/json_calls.h"

namespace matador {
namespace {

const RegisterFormat kCalls(CallFormat{
    .name = "command_r7b",
    .evidence = {"<|START_ACTION|>", "<|CHATBOT_TOKEN|>"},
    .openings = {{"<|START_ACTION|>", json_calls()}},
    .silent = {"<|END_ACTION|>"},
    .structural = {"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"},
    .written = {.begin = "<|START_ACTION|>[\n",
                .call_begin = "{\"tool_name\": \"",
                .name_end = "\", \"parameters\": ",
                .call_end = "}",
                .separator = ",\n",
                .end = "\n]<|END_ACTION|>"}});

const RegisterFormat kReasoning(ReasoningFormat{.name = "command_r7b",
                                                .evidence = {"<|START_THINKING|>"},
                                                .open = "<|START_THINKING|>",
                                                .close = "<|END_THINKING|>"});

}  // namespace
}  // namespace matador
