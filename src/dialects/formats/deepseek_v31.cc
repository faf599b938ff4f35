// DeepSeek V3.1: https://huggingface.co/deepseek-ai/DeepSeek-V3.1
#include "dialects/format.h"
#include "dialects/named_calls.h"

namespace matador {
namespace {

const RegisterFormat kDeepSeekV31(CallFormat{
    .name = "deepseek_v31",
    .evidence = {"<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>"},
    .openings = {{"<｜tool▁call▁begin｜>", named_calls([](std::string_view header) {
                    return text_before(header, "<｜tool▁sep｜>");
                  })}},
    .silent = {"<｜tool▁calls▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"},
    .inside = {"<｜tool▁sep｜>"},
    .written = {.begin = "<｜tool▁calls▁begin｜>",
                .call_begin = "<｜tool▁call▁begin｜>",
                .name_end = "<｜tool▁sep｜>",
                .call_end = "<｜tool▁call▁end｜>",
                .end = "<｜tool▁calls▁end｜>"}});

}  // namespace
}  // namespace matador
