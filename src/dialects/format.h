// What there is to know of how a family of models writes its calls (CallFormat) and its reasoning
// (ReasoningFormat): values, one file each in dialects/formats, which registers its own with one
// static object; nothing lists them. docs/serving.md tells how to add one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "dialects/call_reader.h"

namespace matador {

// How a family's calls are best written, for a model that has to be told so or held to it:
// begin, then calls with separators between them, then end.
struct WrittenCalls {
  std::string_view begin = {};
  std::string_view call_begin = {}, name_end = {}, call_end = {};  // around the name, the arguments
  std::string_view separator = {};
  std::string_view end = {};
  // Arguments one by one, each between these; otherwise they are one JSON object.
  bool by_argument = false;
  std::string_view key_begin = {}, key_end = {}, value_end = {}, argument_separator = {};
  bool bare_strings = false;  // strings without quotes; all else is JSON
};

// What a call's id looks like.
enum class CallIds : uint8_t {
  openai,   // call_ and 24 letters and digits
  mistral,  // 9 letters and digits, which its template insists on
  kimi,     // functions.NAME:N, with N counting all of the conversation's calls
};

struct CallFormat {
  std::string_view name;  // as --tool-call-parser has it
  // A chat template that holds all of them belongs to the family. Of several formats whose evidence
  // a template holds, the one with the longest counts. Empty: chosen by name only.
  std::vector<std::string_view> evidence = {};

  struct Opening {
    std::string_view mark;  // what calls begin with; "": nothing, they are all of the message
    std::shared_ptr<const CallSyntax> syntax;
  };
  std::vector<Opening> openings = {};
  // Marks around calls that say nothing; beside a call they are not part of the content.
  std::vector<std::string_view> silent = {};
  // Marks that are never part of the content.
  std::vector<std::string_view> structural = {};
  // Marks inside calls.
  std::vector<std::string_view> inside = {};
  WrittenCalls written = {};
  CallIds ids = CallIds::openai;
};

struct ReasoningFormat {
  std::string_view name;  // as --reasoning-parser has it
  std::vector<std::string_view> evidence = {};
  std::string_view open, close;
  // Reasoning may come again after content; otherwise a message can only begin with it.
  bool anywhere = false;
  std::string_view next = {};  // what the model writes between the close and its calls
  std::vector<std::string_view> structural = {};
};

// Only as static objects of a format's file: registration is over before main.
class RegisterFormat {
 public:
  explicit RegisterFormat(CallFormat format);
  explicit RegisterFormat(ReasoningFormat format);
};

// Sorted by name.
std::vector<const CallFormat*> call_formats();
std::vector<const ReasoningFormat*> reasoning_formats();

// By name; an unknown one is an error that lists those there are.
Result<const CallFormat*> find_call_format(std::string_view name);
Result<const ReasoningFormat*> find_reasoning_format(std::string_view name);

// One call as the format writes it; `arguments`: the JSON of an object.
std::string write_call(const CallFormat& format, std::string_view name, std::string_view arguments);

// `text` is a mark of one of the formats (which may be null), or part of one.
bool is_in_mark(const CallFormat* calls, const ReasoningFormat* reasoning, std::string_view text);

// What a chat template's source shows the family to write: the "json" format where it shows
// nothing, nullptr where the family does not reason.
const CallFormat* detect_call_format(std::string_view chat_template);
const ReasoningFormat* detect_reasoning_format(std::string_view chat_template);

}  // namespace matador
