// The grammar that holds a model to calls whose arguments match the tools' schemas, written as the
// model's family writes calls. In the Lark dialect of llguidance:
// https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "dialects/format.h"
#include "dialects/tool.h"

namespace matador {

// Marks that are one token of the vocabulary, which text cannot spell.
struct MarkToken {
  std::string text;
  int32_t id = 0;
};

struct CallGrammar {
  const CallFormat* calls = nullptr;           // not null
  const ReasoningFormat* reasoning = nullptr;  // null: there is none
  bool reasoning_open = false;                 // the prompt has opened it
  const ToolSet* tools = nullptr;              // not empty
  // The message is calls, after reasoning; otherwise it is any text, and calls only once one has
  // begun.
  bool forced = false;
  bool parallel = true;  // several calls
  std::vector<MarkToken> mark_tokens = {};
};

// "": the format's calls cannot be told from other text before they have begun, so that only forced
// ones can be held to a grammar. Fails on what a schema asks for that the format cannot express;
// the error names the tool and the keyword.
Result<std::string> write_call_grammar(const CallGrammar& grammar);

}  // namespace matador
