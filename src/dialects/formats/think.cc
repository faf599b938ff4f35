// Reasoning between <think> tags: DeepSeek R1, Qwen 3, GLM 4.5, MiniMax M2, Olmo 3 and many more.
#include "dialects/format.h"

namespace matador {
namespace {

const RegisterFormat kThink(ReasoningFormat{
    .name = "think", .evidence = {"</think>"}, .open = "<think>", .close = "</think>"});

}  // namespace
}  // namespace matador
