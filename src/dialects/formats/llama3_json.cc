// Llama 3.1 to 3.3: https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/
#include "dialects/format.h"
#include "dialects/json_calls.h"

namespace matador {
namespace {

const RegisterFormat kLlama3Json(CallFormat{
    .name = "llama3_json",
    .evidence = {"<|start_header_id|>", "ipython", "\"parameters\""},
    .openings = {{"", json_calls(JsonCallNames::offered)}, {"<|python_tag|>", json_calls()}},
    .written = {.call_begin = "{\"name\": \"",
                .name_end = "\", \"parameters\": ",
                .call_end = "}",
                .separator = "; "}});

}  // namespace
}  // namespace matador
