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
    .silent = {"```"},
    .written = {.begin = "Action: ```json\n[\n",
                .call_begin = "{\"tool_name\": \"",
                .name_end = "\", \"parameters\": ",
                .call_end = "}",
                .separator = ",\n",
                .end = "\n]\n```"}});

}  // namespace
}  // namespace matador
