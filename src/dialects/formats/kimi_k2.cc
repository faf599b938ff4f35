// Kimi K2: https://huggingface.co/moonshotai/Kimi-K2-Instruct/blob/main/docs/tool_call_guidance.md
#include "dialects/format.h"
#include "dialects/named_calls.h"

namespace matador {
namespace {

// functions.NAME:INDEX<|tool_call_argument_begin|>
std::string name_of(std::string_view header) {
  constexpr std::string_view kPrefix = "functions.";
  std::string id = text_before(header, "<|tool_call_argument_begin|>");
  if (id.starts_with(kPrefix)) id.erase(0, kPrefix.size());
  return id.substr(0, id.rfind(':'));
}

const RegisterFormat kKimiK2(CallFormat{
    .name = "kimi_k2",
    .evidence = {"<|tool_calls_section_begin|>"},
    .openings = {{"<|tool_call_begin|>", named_calls(name_of)}},
    .silent = {"<|tool_calls_section_begin|>", "<|tool_call_end|>", "<|tool_calls_section_end|>"},
    .inside = {"<|tool_call_argument_begin|>"},
    .written = {.begin = "<|tool_calls_section_begin|>",
                .call_begin = "<|tool_call_begin|>functions.",
                .name_end = ":0<|tool_call_argument_begin|>",
                .call_end = "<|tool_call_end|>",
                .end = "<|tool_calls_section_end|>"},
    .ids = CallIds::kimi});

}  // namespace
}  // namespace matador
