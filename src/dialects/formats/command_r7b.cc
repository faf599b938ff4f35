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
    .structural = {"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"}});

const RegisterFormat kReasoning(ReasoningFormat{.name = "command_r7b",
                                                .evidence = {"<|START_THINKING|>"},
                                                .open = "<|START_THINKING|>",
                                                .close = "<|END_THINKING|>"});

}  // namespace
}  // namespace matador
