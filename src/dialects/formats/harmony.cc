// gpt-oss: https://cookbook.openai.com/articles/openai-harmony
#include "dialects/format.h"
#include "dialects/named_calls.h"

namespace matador {
namespace {

// NAME <|constrain|>json<|message|>, or NAME<|channel|>commentary json<|message|>.
std::string name_of(std::string_view header) {
  return std::string(trimmed(header.substr(0, header.find_first_of(" <\n"))));
}

const RegisterFormat kCalls(CallFormat{
    .name = "harmony",
    .evidence = {"<|channel|>", "<|message|>"},
    .openings = {{"<|channel|>commentary to=functions.", named_calls(name_of)},
                 {"<|channel|>analysis to=functions.", named_calls(name_of)},
                 {"<|start|>assistant to=functions.", named_calls(name_of)}},
    .silent = {"<|call|>"},
    .inside = {"<|constrain|>", "<|message|>"},
    .written = {.call_begin = "<|channel|>commentary to=functions.",
                .name_end = " <|constrain|>json<|message|>",
                .call_end = "<|call|>"}});

const RegisterFormat kReasoning(ReasoningFormat{
    .name = "harmony",
    .evidence = {"<|channel|>", "<|message|>"},
    .open = "<|channel|>analysis<|message|>",
    .close = "<|end|>",
    .anywhere = true,
    .next = "<|start|>assistant",
    .structural = {"<|start|>assistant", "<|channel|>final<|message|>",
                   "<|channel|>commentary<|message|>", "<|end|>", "<|return|>"}});

}  // namespace
}  // namespace matador
