// Grammars of every kind, over vocabularies of bytes and of SentencePiece.
#include "text/grammar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "read_vocab.h"

namespace matador {
namespace {

using Kind = GrammarSource::Kind;

struct Vocabulary {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const GrammarCompiler> compiler;
};

const Vocabulary& vocabulary(const std::string& name) {
  static std::map<std::string, Vocabulary> made;
  auto [entry, fresh] = made.try_emplace(name);
  if (fresh) {
    entry->second.tokenizer = *Tokenizer::from_gguf(read_vocab(name));
    entry->second.compiler = *GrammarCompiler::make(*entry->second.tokenizer);
  }
  return entry->second;
}

class Mask {
 public:
  explicit Mask(const Tokenizer& tokenizer)
      : words_((static_cast<size_t>(tokenizer.vocab_size()) + 31) / 32) {}
  bool operator[](int32_t token) const { return words_[token / 32] >> (token % 32) & 1; }
  std::span<uint32_t> words() { return words_; }

 private:
  std::vector<uint32_t> words_;
};

// The longest or the shortest token that `text` begins with; -1: none.
int32_t first_token(const Tokenizer& tokenizer, std::string_view text, bool longest) {
  int32_t best = -1;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    std::string_view bytes = tokenizer.token_bytes(id);
    if (bytes.empty() || tokenizer.is_special(id) || !text.starts_with(bytes)) continue;
    size_t size = best < 0 ? 0 : tokenizer.token_bytes(best).size();
    if (best < 0 || (longest ? bytes.size() > size : bytes.size() < size)) best = id;
  }
  return best;
}

// Whether the masks let `text` through to an end, written in long or in short tokens.
bool accepts(const Vocabulary& vocab, const Grammar& grammar, std::string_view text, bool longest) {
  std::unique_ptr<GrammarState> state = grammar.start();
  Mask mask(*vocab.tokenizer);
  while (true) {
    auto may_end = state->fill_mask(mask.words());
    if (!may_end) ADD_FAILURE() << may_end.error().message;
    if (text.empty()) return may_end.ok() && *may_end;
    int32_t token = first_token(*vocab.tokenizer, text, longest);
    if (token < 0) ADD_FAILURE() << "no token begins " << text;
    if (token < 0 || !mask[token]) return false;
    EXPECT_TRUE(state->accept(token).ok());
    text.remove_prefix(vocab.tokenizer->token_bytes(token).size());
  }
}

struct Case {
  Kind kind;
  std::string source;
  std::vector<std::string> accepted, refused;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {Kind::choice, R"(["yes", "yes, sir", "né 😀"])", {"yes", "yes, sir", "né 😀"}, {"no", "yes,"}},
      {Kind::regex, "[a-c]{2}é?|9+", {"ab", "abé", "999"}, {"a", "abc", "aé", "é", "9a"}},
      {Kind::regex, R"(a/b"\d)", {"a/b\"7"}, {"a/b7"}},
      {Kind::json_schema,
       R"({"type": "object", "properties": {"a": {"type": "integer"},
        "b": {"enum": ["x", "😀é"]}}, "required": ["a"], "additionalProperties": false})",
       {R"({"a":1})", R"({"a": -12, "b": "😀é"})"},
       {R"({"b":"x"})", R"({"a":1.5})", R"({"a":1,"c":2})", R"({ "a":1})", R"({"a":  1})",
        "{\"a\":1\n}", R"({"a":01})"}},
      {Kind::json_schema,
       R"({"$ref": "#/$defs/T", "$defs": {"T": {"type": "array",
        "items": {"$ref": "#/$defs/T"}, "maxItems": 2}}})",
       {"[]", "[[], [[]]]"},
       {"[[],[],[]]", "1"}},
      {Kind::json_schema,
       R"({"type": "integer", "minimum": -5, "exclusiveMaximum": 11})",
       {"-5", "0", "10"},
       {"-6", "11", "1.0"}},
      {Kind::json_schema, "true", {"null", R"([1, {"a": "b"}])"}, {"nul", "[1,]"}},
      {Kind::lark_or_gbnf,
       "start: \"<\" WORD (\",\" WORD)* \">\"\nWORD: /[a-z]+/",
       {"<a>", "<ab,c>"},
       {"<>", "<a,>"}},
      {Kind::lark_or_gbnf,
       R"x(# sums
        root  ::= term ("+" term)*
        term  ::= [0-9]+ | "(" root ")"  # in parentheses
        )x",
       {"1", "(1+22)+3"},
       {"1+", "(1"}},
      {Kind::lark_or_gbnf,
       R"(root ::= ("a" | "ab") "bc" ws [^x-z\]] . "\x41\u00e9\n\""
        ws ::= [ \t]* )",
       {"abc-?Aé\n\"", "abbc \t!/Aé\n\""},
       {"abcy?Aé\n\"", "abc]?Aé\n\""}},
      {Kind::lark_or_gbnf,
       "root ::= (\n \"a\"{2} |\n \"b\"{1,} | \"c\"{,2} )",
       {"aa", "bbb", "cc"},
       {"a", "aaa", "ccc"}},
      {Kind::structural_tag,
       R"({"type": "structural_tag", "triggers": ["<f="], "structures": [
        {"begin": "<f=a>", "schema": {"const": 1}, "end": "</f>"},
        {"begin": "<f=b>", "schema": {"type": "boolean"}, "end": "</f>"}]})",
       {"", "hello <f", "x<f=a>1</f>y<f=b>true</f>"},
       {"<f=", "<f=c>", "<f=a>2</f>", "<f=a>1"}},
      {Kind::structural_tag,
       R"({"type": "structural_tag", "format": {"type": "sequence", "elements":
        [{"type": "tag", "begin": "<t>", "content": {"type": "any_text"}, "end": "</t>"},
         {"type": "or", "elements": [{"type": "const_string", "value": "ok"},
           {"type": "json_schema", "json_schema": {"const": 7}},
           {"type": "regex", "pattern": "a/b?"}]}]}})",
       {"<t>any\n<thing></t>ok", "<t></t>7", "<t></t>a/"},
       {"<t>", "<t></t>", "<t></t>no", "ok"}},
      {Kind::structural_tag,
       R"({"format": {"type": "triggered_tags", "triggers": ["["], "tags": [
        {"begin": "[x]", "content": {"type": "regex", "pattern": "[0-9]"}, "end": "."}]}})",
       {"free", "a[x]1.b"},
       {"[", "a[y]", "[x]1"}},
  };
  return all;
}

class Grammars : public testing::TestWithParam<std::string> {};

TEST_P(Grammars, LetThroughWhatMatchesAndNothingElse) {
  const Vocabulary& vocab = vocabulary(GetParam());
  for (const Case& c : cases()) {
    auto grammar = vocab.compiler->compile({c.kind, c.source});
    ASSERT_TRUE(grammar.ok()) << c.source << ": " << grammar.error().message;
    for (bool longest : {true, false}) {
      for (const std::string& text : c.accepted) {
        EXPECT_TRUE(accepts(vocab, **grammar, text, longest)) << c.source << "\nfor " << text;
      }
      for (const std::string& text : c.refused) {
        EXPECT_FALSE(accepts(vocab, **grammar, text, longest)) << c.source << "\nfor " << text;
      }
    }
  }
}

TEST_P(Grammars, AMaskIsExactOverTheWholeVocabulary) {
  const Vocabulary& vocab = vocabulary(GetParam());
  const std::vector<std::string> choices = {"the cat", "then", "é😀", " of", "0"};
  auto grammar =
      vocab.compiler->compile({Kind::choice, R"(["the cat", "then", "é😀", " of", "0"])"});
  ASSERT_TRUE(grammar.ok()) << grammar.error().message;
  Mask mask(*vocab.tokenizer);
  ASSERT_TRUE((*grammar)->start()->fill_mask(mask.words()).ok());
  for (int32_t id = 0; id < vocab.tokenizer->vocab_size(); ++id) {
    std::string_view bytes = vocab.tokenizer->token_bytes(id);
    bool begins = std::ranges::any_of(choices, [&](auto& c) { return c.starts_with(bytes); });
    EXPECT_EQ(mask[id], begins && !bytes.empty() && !vocab.tokenizer->is_special(id))
        << "token " << id << " '" << bytes << "'";
  }
}

TEST_P(Grammars, SpecialTokensMatchNoText) {
  const Vocabulary& vocab = vocabulary(GetParam());
  auto grammar = vocab.compiler->compile({Kind::regex, "(?s:.*)"});
  ASSERT_TRUE(grammar.ok()) << grammar.error().message;
  Mask mask(*vocab.tokenizer);
  ASSERT_TRUE((*grammar)->start()->fill_mask(mask.words()).ok());
  int special = 0;
  for (int32_t id = 0; id < vocab.tokenizer->vocab_size(); ++id) {
    if (!vocab.tokenizer->is_special(id)) continue;
    ++special;
    EXPECT_FALSE(mask[id]) << vocab.tokenizer->token_text(id);
  }
  EXPECT_GT(special, 0);
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, Grammars, testing::Values("gpt2", "llama"));

TEST(Grammar, RollbackComesBackToTheSameMask) {
  const Vocabulary& vocab = vocabulary("gpt2");
  auto grammar = vocab.compiler->compile({Kind::regex, "ab|ac"});
  ASSERT_TRUE(grammar.ok());
  auto state = (*grammar)->start();
  int32_t a = vocab.tokenizer->token_id("a"), b = vocab.tokenizer->token_id("b");
  Mask first(*vocab.tokenizer), again(*vocab.tokenizer);
  ASSERT_TRUE(state->accept(a).ok());
  ASSERT_TRUE(state->fill_mask(first.words()).ok());
  ASSERT_TRUE(state->accept(b).ok());
  EXPECT_TRUE(state->finished());
  ASSERT_TRUE(state->rollback(1).ok());
  EXPECT_FALSE(state->finished());
  ASSERT_TRUE(state->fill_mask(again.words()).ok());
  EXPECT_TRUE(std::ranges::equal(first.words(), again.words()));
}

TEST(Grammar, ATokenThatTheMaskForbidsIsAnError) {
  const Vocabulary& vocab = vocabulary("gpt2");
  auto grammar = vocab.compiler->compile({Kind::regex, "a"});
  ASSERT_TRUE(grammar.ok());
  auto state = (*grammar)->start();
  EXPECT_FALSE(state->accept(vocab.tokenizer->token_id("b")).ok());
}

TEST(Grammar, AGrammarMayNameASpecialToken) {
  const Vocabulary& vocab = vocabulary("llama");
  int32_t end = vocab.tokenizer->token_id("<|im_end|>");
  ASSERT_TRUE(vocab.tokenizer->is_special(end));
  auto grammar = vocab.compiler->compile({Kind::lark_or_gbnf, "start: \"a\" <|im_end|>"});
  ASSERT_TRUE(grammar.ok()) << grammar.error().message;
  auto state = (*grammar)->start();
  ASSERT_TRUE(state->accept(first_token(*vocab.tokenizer, "a", true)).ok());
  Mask mask(*vocab.tokenizer);
  ASSERT_TRUE(state->fill_mask(mask.words()).ok());
  EXPECT_TRUE(mask[end]);
}

}  // namespace
}  // namespace matador
