// Grammars: compiled once, kept while in use, whoever asks.
#include "engine/grammars.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace matador {
namespace {

// Letters as single tokens.
std::shared_ptr<const Tokenizer> letters() {
  GgufVocab vocab;
  vocab.model = "gpt2";
  vocab.pre = "gpt-2";
  for (char c = 'a'; c <= 'z'; ++c) vocab.tokens.emplace_back(1, c);
  vocab.types.assign(vocab.tokens.size(), 1);
  return *Tokenizer::from_gguf(vocab);
}

GrammarSource regex(std::string text) { return {GrammarSource::Kind::regex, std::move(text)}; }

TEST(Grammars, TheSameSourceIsCompiledOnce) {
  Grammars grammars(letters());
  auto first = grammars.constraint(regex("ab*")), again = grammars.constraint(regex("ab*"));
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(*first, *again);
  auto other = grammars.constraint({GrammarSource::Kind::lark_or_gbnf, "start: \"a\""});
  ASSERT_TRUE(other.ok());
  EXPECT_NE(*first, *other);
}

TEST(Grammars, TheLeastRecentlyUsedGoesFirst) {
  Grammars grammars(letters(), 2);
  auto a = grammars.constraint(regex("a")), b = grammars.constraint(regex("b"));
  (void)grammars.constraint(regex("a"));
  (void)grammars.constraint(regex("c"));
  EXPECT_EQ(*grammars.constraint(regex("a")), *a);
  EXPECT_NE(*grammars.constraint(regex("b")), *b);
}

TEST(Grammars, AskedByManyThreadsAtOnceTheyAllGetTheSame) {
  Grammars grammars(letters());
  std::vector<std::shared_ptr<const Constraint>> found(8);
  std::vector<std::thread> threads;
  for (auto& slot : found) {
    threads.emplace_back([&] { slot = *grammars.constraint(regex("(ab|cd){1,40}e")); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& slot : found) EXPECT_EQ(slot, found[0]);
}

TEST(Grammars, ASourceThatDoesNotCompileSaysWhy) {
  Grammars grammars(letters());
  auto constraint = grammars.constraint(regex("(a"));
  ASSERT_FALSE(constraint.ok());
  EXPECT_EQ(constraint.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace matador
