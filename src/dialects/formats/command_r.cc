// Command R and R+: https://docs.cohere.com/docs/command-r-hf
#include "dialects/format.h"
#include "dialects/json_calls.h"

namespace matador {
namespace {

const RegisterFormat kCommandR(CallFormat{
    .name = "command_r",
    .evidence = {"Action:", "<|CHATBOT_TOKEN|>", "directly_answer"},
    .openings = {{"Action: ```json", json_calls()},
                 {"Action:\n```json", json_calls()},
                 {"Action:```json", json_calls()}},
    .silent = {"```"}});

}  // namespace
}  // namespace matador
