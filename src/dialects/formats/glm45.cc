// GLM 4.5 and later: https://huggingface.co/zai-org/GLM-4.5
#include "dialects/format.h"
#include "dialects/tagged_calls.h"

namespace matador {
namespace {

const RegisterFormat kGlm45(CallFormat{
    .name = "glm45",
    .evidence = {"<tool_call>", "<arg_key>", "<arg_value>"},
    .openings = {{"<tool_call>", tagged_calls({.name_ends = "\n<",
                                               .key_begin = "<arg_key>",
                                               .key_end = "<arg_value>",
                                               .value_end = "</arg_value>",
                                               .call_end = "</tool_call>"})}}});

}  // namespace
}  // namespace matador
