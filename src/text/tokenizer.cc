#include "text/tokenizer.h"

#include <algorithm>

#include "text/tokenizer_impl.h"

namespace matador {
namespace {

std::vector<MtextText> borrow_all(const std::vector<std::string>& texts) {
  std::vector<MtextText> borrowed(texts.size());
  std::transform(texts.begin(), texts.end(), borrowed.begin(), borrow);
  return borrowed;
}

int32_t choice(std::optional<bool> value) { return value ? *value : -1; }

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from_folder(const std::string& folder) {
  return Impl::load([&](MtextTokenizer** out, MtextTextSink message) {
    return mtext_tokenizer_from_folder(borrow(folder), out, message);
  });
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from_json(std::string_view json) {
  return Impl::load([&](MtextTokenizer** out, MtextTextSink message) {
    return mtext_tokenizer_from_json(borrow(json), out, message);
  });
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from_sentencepiece(std::string_view model) {
  return Impl::load([&](MtextTokenizer** out, MtextTextSink message) {
    return mtext_tokenizer_from_sentencepiece(borrow(model), out, message);
  });
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from_gguf(const GgufVocab& vocab) {
  std::vector<MtextText> tokens = borrow_all(vocab.tokens);
  std::vector<MtextText> merges = borrow_all(vocab.merges);
  MtextGgufVocab raw = {
      .model = borrow(vocab.model),
      .pre = borrow(vocab.pre),
      .tokens = tokens.data(),
      .token_count = tokens.size(),
      .scores = vocab.scores.data(),
      .score_count = vocab.scores.size(),
      .types = vocab.types.data(),
      .type_count = vocab.types.size(),
      .merges = merges.data(),
      .merge_count = merges.size(),
      .charsmap = borrow(vocab.precompiled_charsmap),
      .bos = vocab.bos,
      .eos = vocab.eos,
      .unknown = vocab.unk,
      .separator = vocab.sep,
      .class_token = vocab.cls,
      .end_of_turn = vocab.eot,
      .end_of_message = vocab.eom,
      .add_bos = choice(vocab.add_bos),
      .add_eos = choice(vocab.add_eos),
      .add_space_prefix = vocab.add_space_prefix,
      .remove_extra_whitespaces = vocab.remove_extra_whitespaces,
  };
  return Impl::load([&](MtextTokenizer** out, MtextTextSink message) {
    return mtext_tokenizer_from_gguf(&raw, out, message);
  });
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  std::vector<int32_t> ids;
  std::string message;
  int32_t status = mtext_encode(impl_->handle.get(), borrow(text), options.add_special_tokens,
                                options.parse_special_tokens, sink_into(ids), sink_into(message));
  if (status != MTEXT_OK) return error_of(status, std::move(message));
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special_tokens) const {
  std::string text;
  // Ids have the same bits on both sides; a negative one is beyond every vocabulary there.
  const auto* data = reinterpret_cast<const uint32_t*>(ids.data());
  int32_t status =
      mtext_decode(impl_->handle.get(), data, ids.size(), skip_special_tokens, sink_into(text));
  return status == MTEXT_OK ? text : std::string();
}

int32_t Tokenizer::vocab_size() const {
  return static_cast<int32_t>(mtext_vocab_size(impl_->handle.get()));
}

std::string_view Tokenizer::token_bytes(int32_t id) const {
  return view(mtext_token_bytes(impl_->handle.get(), static_cast<uint32_t>(id)));
}

std::string_view Tokenizer::token_text(int32_t id) const {
  return view(mtext_token_text(impl_->handle.get(), static_cast<uint32_t>(id)));
}

bool Tokenizer::is_special(int32_t id) const {
  return mtext_is_special(impl_->handle.get(), static_cast<uint32_t>(id));
}

int32_t Tokenizer::token_id(std::string_view token) const {
  return static_cast<int32_t>(mtext_token_id(impl_->handle.get(), borrow(token)));
}

int32_t Tokenizer::bos_id() const { return impl_->bos; }
std::span<const int32_t> Tokenizer::eos_ids() const { return impl_->eos; }

struct IncrementalDecoder::Impl {
  std::shared_ptr<const Tokenizer> tokenizer;
  DecoderHandle handle;
};

IncrementalDecoder::IncrementalDecoder(std::shared_ptr<const Tokenizer> tokenizer,
                                       bool skip_special_tokens)
    : impl_(std::make_unique<Impl>()) {
  const MtextTokenizer* raw = tokenizer->impl_->handle.get();
  impl_->handle.reset(mtext_decoder_new(raw, skip_special_tokens));
  impl_->tokenizer = std::move(tokenizer);
}

IncrementalDecoder::~IncrementalDecoder() = default;
IncrementalDecoder::IncrementalDecoder(IncrementalDecoder&&) noexcept = default;
IncrementalDecoder& IncrementalDecoder::operator=(IncrementalDecoder&&) noexcept = default;

std::string IncrementalDecoder::push(int32_t id) {
  std::string piece;
  const MtextTokenizer* raw = impl_->tokenizer->impl_->handle.get();
  int32_t status =
      mtext_decoder_push(impl_->handle.get(), raw, static_cast<uint32_t>(id), sink_into(piece));
  return status == MTEXT_OK ? piece : std::string();
}

std::string IncrementalDecoder::finish() {
  std::string piece;
  const MtextTokenizer* raw = impl_->tokenizer->impl_->handle.get();
  int32_t status = mtext_decoder_finish(impl_->handle.get(), raw, sink_into(piece));
  return status == MTEXT_OK ? piece : std::string();
}

}  // namespace matador
