// DeepSeek V3 and R1: https://huggingface.co/deepseek-ai/DeepSeek-V3
#include "dialects/format.h"
#include "dialects/named_calls.h"

namespace matador {
namespace {

constexpr std::string_view kSeparator = "<｜tool▁sep｜>";

// function<｜tool▁sep｜>NAME, and a fence of JSON.
std::string name_of(std::string_view header) {
  const size_t at = header.find(kSeparator);
  if (at == std::string_view::npos) return "";
  return text_before(header.substr(at + kSeparator.size()), "```");
}

const RegisterFormat kDeepSeekV3(CallFormat{
    .name = "deepseek_v3",
    .evidence = {"<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "```json"},
    .openings = {{"<｜tool▁call▁begin｜>", named_calls(name_of)}},
    .silent = {"<｜tool▁calls▁begin｜>", "```<｜tool▁call▁end｜>", "<｜tool▁call▁end｜>",
               "<｜tool▁calls▁end｜>"},
    .inside = {kSeparator},
    .written = {.begin = "<｜tool▁calls▁begin｜>",
                .call_begin = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
                .name_end = "\n```json\n",
                .call_end = "\n```<｜tool▁call▁end｜>",
                .separator = "\n",
                .end = "<｜tool▁calls▁end｜>"}});

}  // namespace
}  // namespace matador
