// Kimi-VL and Kimi-Dev: https://huggingface.co/moonshotai/Kimi-VL-A3B-Thinking
#include "dialects/format.h"

namespace matador {
namespace {

const RegisterFormat kKimi(ReasoningFormat{
    .name = "kimi", .evidence = {"◁/think▷"}, .open = "◁think▷", .close = "◁/think▷"});

}  // namespace
}  // namespace matador
