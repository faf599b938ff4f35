#include "text/grammar.h"

#include <utility>

#include "text/tokenizer_impl.h"

namespace matador {
namespace {

using Kind = GrammarSource::Kind;
static_assert(static_cast<int>(Kind::json_schema) == MTEXT_GRAMMAR_JSON_SCHEMA);
static_assert(static_cast<int>(Kind::regex) == MTEXT_GRAMMAR_REGEX);
static_assert(static_cast<int>(Kind::choice) == MTEXT_GRAMMAR_CHOICE);
static_assert(static_cast<int>(Kind::lark_or_gbnf) == MTEXT_GRAMMAR_LARK_OR_GBNF);
static_assert(static_cast<int>(Kind::structural_tag) == MTEXT_GRAMMAR_STRUCTURAL_TAG);

// Calls `make(out, message)` and takes what it made into T's Impl.
template <class T, class Raw, class Make>
Result<std::unique_ptr<T>> take(Make make) {
  Raw* made = nullptr;
  std::string message;
  if (int32_t status = make(&made, sink_into(message)); status != MTEXT_OK) {
    return error_of(status, std::move(message));
  }
  return std::make_unique<T>(T{{made, {}}});
}

Status status_of(int32_t status, std::string message) {
  return status == MTEXT_OK ? Status() : Status(error_of(status, std::move(message)));
}

}  // namespace

struct GrammarState::Impl {
  GrammarStateHandle handle;
};
struct Grammar::Impl {
  GrammarHandle handle;
};
struct GrammarCompiler::Impl {
  GrammarCompilerHandle handle;
};

GrammarState::GrammarState(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrammarState::~GrammarState() = default;

Result<bool> GrammarState::fill_mask(std::span<uint32_t> mask) {
  bool may_end = false;
  std::string message;
  int32_t status = mtext_grammar_state_fill_mask(impl_->handle.get(), mask.data(), mask.size(),
                                                 &may_end, sink_into(message));
  if (status != MTEXT_OK) return error_of(status, std::move(message));
  return may_end;
}

Status GrammarState::accept(int32_t token) {
  std::string message;
  int32_t status = mtext_grammar_state_accept(impl_->handle.get(), static_cast<uint32_t>(token),
                                              sink_into(message));
  return status_of(status, std::move(message));
}

Status GrammarState::rollback(size_t tokens) {
  std::string message;
  int32_t status = mtext_grammar_state_rollback(impl_->handle.get(), tokens, sink_into(message));
  return status_of(status, std::move(message));
}

bool GrammarState::finished() const { return mtext_grammar_state_finished(impl_->handle.get()); }

Grammar::Grammar(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Grammar::~Grammar() = default;

std::unique_ptr<GrammarState> Grammar::start() const {
  auto impl = std::make_unique<GrammarState::Impl>();
  impl->handle.reset(mtext_grammar_start(impl_->handle.get()));
  return std::unique_ptr<GrammarState>(new GrammarState(std::move(impl)));
}

GrammarCompiler::GrammarCompiler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrammarCompiler::~GrammarCompiler() = default;

Result<std::shared_ptr<const GrammarCompiler>> GrammarCompiler::make(const Tokenizer& tokenizer) {
  const MtextTokenizer* raw = tokenizer.impl_->handle.get();
  auto impl = take<Impl, MtextGrammarCompiler>([&](auto** out, MtextTextSink message) {
    return mtext_grammar_compiler_new(raw, out, message);
  });
  if (!impl) return impl.error();
  return std::shared_ptr<const GrammarCompiler>(new GrammarCompiler(std::move(*impl)));
}

Result<std::shared_ptr<const Grammar>> GrammarCompiler::compile(const GrammarSource& source) const {
  const MtextGrammarCompiler* raw = impl_->handle.get();
  auto impl = take<Grammar::Impl, MtextGrammar>([&](auto** out, MtextTextSink message) {
    return mtext_grammar_compile(raw, static_cast<int32_t>(source.kind), borrow(source.text), out,
                                 message);
  });
  if (!impl) return impl.error();
  return std::shared_ptr<const Grammar>(new Grammar(std::move(*impl)));
}

}  // namespace matador
