#include "api/generation.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "api/field_reader.h"

namespace matador {
namespace {

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();

void read_sampling(FieldReader& in, SamplingParams& p) {
  // Below this a softmax overflows; greedy is what is meant.
  constexpr double kGreedyBelow = 1e-5;
  if (auto x = in.number("temperature", 0, 2))
    p.temperature = *x < kGreedyBelow ? 0.0F : static_cast<float>(*x);
  if (auto x = in.number("top_p", 0, 1))  // 0 keeps the most likely token only
    p.top_p = std::max(static_cast<float>(*x), std::numeric_limits<float>::min());
  if (auto x = in.integer_at_most("top_k", -1, kMaxInt32)) p.top_k = static_cast<int32_t>(*x);
  if (auto x = in.number("min_p", 0, 1)) p.min_p = static_cast<float>(*x);
  if (auto x = in.number("repetition_penalty", 0.01, 100))
    p.repetition_penalty = static_cast<float>(*x);
  if (auto x = in.number("presence_penalty", -2, 2)) p.presence_penalty = static_cast<float>(*x);
  if (auto x = in.number("frequency_penalty", -2, 2)) p.frequency_penalty = static_cast<float>(*x);
  if (auto x = in.integer("seed", std::numeric_limits<int64_t>::min(),
                          std::numeric_limits<int64_t>::max()))
    p.seed = static_cast<uint64_t>(*x);
  if (auto x = in.integer_at_most("min_tokens", 0, kMaxInt32))
    p.min_tokens = static_cast<int32_t>(*x);
  if (auto x = in.boolean("ignore_eos")) p.ignore_eos = *x;
}

void read_logit_bias(FieldReader& in, int32_t vocab_size, SamplingParams& params) {
  const Json* found = in.object("logit_bias");
  if (!found) return;
  for (const auto& [key, bias] : found->items()) {
    int32_t id = -1;
    auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size() || id < 0 || id >= vocab_size)
      return in.fail("logit_bias", "must have token ids from 0 to " +
                                       std::to_string(vocab_size - 1) + " as keys, found \"" + key +
                                       "\"");
    if (!bias.is_number() || bias.get<double>() < -100 || bias.get<double>() > 100)
      return in.fail("logit_bias", "must have numbers from -100 to 100, found " +
                                       describe_json(bias) + " for token " + key);
    params.logit_bias.emplace_back(id, bias.get<float>());
  }
}

void read_token_lists(FieldReader& in, int32_t vocab_size, SamplingParams& params) {
  if (auto ids = in.token_ids("stop_token_ids", vocab_size)) params.stop_token_ids = *ids;
  if (auto ids = in.token_ids("allowed_token_ids", vocab_size)) {
    if (ids->empty()) return in.fail("allowed_token_ids", "must not be empty");
    params.allowed_token_ids = *ids;
  }
}

void read_strings(FieldReader& in, Generation& g) {
  auto not_empty = [&in](std::string_view name, const std::vector<std::string>& texts) {
    if (std::find(texts.begin(), texts.end(), "") != texts.end())
      in.fail(name, "must not have an empty string");
  };
  if (auto stop = in.texts("stop", kMaxStopStrings)) {
    not_empty("stop", *stop);
    g.stop = std::move(*stop);
  }
  if (auto words = in.texts("bad_words", kMaxBadWords)) {
    not_empty("bad_words", *words);
    g.bad_words = std::move(*words);
  }
  if (auto salt = in.text("cache_salt")) {
    if (salt->empty()) in.fail("cache_salt", "must not be empty");
    g.cache_salt = std::move(*salt);
  }
}

void read_stream(FieldReader& in, Generation& g) {
  g.stream = in.boolean("stream").value_or(false);
  const Json* found = in.object("stream_options");
  if (!found) return;
  if (!g.stream) return in.fail("stream_options", "is only allowed when 'stream' is true");
  FieldReader options(*found, "stream_options");
  g.include_usage = options.boolean("include_usage").value_or(false);
  g.continuous_usage_stats = options.boolean("continuous_usage_stats").value_or(false);
  options.unsupported("include_obfuscation", false);
  options.refuse_unknown();
  if (options.error()) in.fail(*options.error());
}

// Fields that ask for nothing of the engine, or would but are not supported.
void read_rest(FieldReader& in) {
  for (auto name : {"user", "safety_identifier", "prompt_cache_key"}) in.text(name);
  in.object("metadata");
  in.unsupported("store", false);
  if (const Json* tier = in.value("service_tier"); tier && *tier != "auto" && *tier != "default")
    in.fail("service_tier", "must be \"auto\" or \"default\", found " + describe_json(*tier));
  in.unsupported("use_beam_search", false);
  in.unsupported("spaces_between_special_tokens", true);
  for (auto name : {"length_penalty", "truncate_prompt_tokens", "logits_processors",
                    "kv_transfer_params", "vllm_xargs", "request_id", "allowed_token_strs"})
    in.unsupported(name);
}

}  // namespace

Generation read_generation(FieldReader& in, const ApiModel& model) {
  Generation g;
  g.params = model.defaults;
  g.model = in.text("model").value_or(model.name());
  if (auto error = check_model_name(model, g.model)) in.fail(*error);
  read_sampling(in, g.params);
  read_logit_bias(in, model.vocab_size, g.params);
  read_token_lists(in, model.vocab_size, g.params);
  read_strings(in, g);
  read_stream(in, g);
  g.structured = read_structured_output(in);
  if (auto x = in.integer("n", 1, kMaxChoices)) g.n = static_cast<int32_t>(*x);
  if (auto x = in.integer("prompt_logprobs", 0, kMaxLogprobs)) {
    if (g.stream) in.fail("prompt_logprobs", "is not available when 'stream' is true");
    g.params.prompt_logprobs = static_cast<int32_t>(*x);
  }
  if (auto x = in.integer("priority", std::numeric_limits<int32_t>::min(), kMaxInt32))
    g.priority = static_cast<int32_t>(*x);
  g.include_stop_str_in_output = in.boolean("include_stop_str_in_output").value_or(false);
  g.skip_special_tokens = in.boolean("skip_special_tokens").value_or(true);
  g.echo = in.boolean("echo").value_or(false);
  g.return_token_ids = in.boolean("return_token_ids").value_or(false);
  read_rest(in);
  return g;
}

std::optional<ApiError> fit_to_context(Generation& g, size_t prompt_tokens, int32_t otherwise,
                                       const ApiModel& model, const char* prompt_field) {
  auto limit = static_cast<size_t>(model.max_model_len);
  auto too_long = [&](const std::string& asked) {
    return ApiError{.message = "This model's maximum context length is " + std::to_string(limit) +
                               " tokens. However, " + asked,
                    .param = prompt_field,
                    .code = "context_length_exceeded"};
  };
  std::string in_prompt = std::to_string(prompt_tokens) + " tokens";
  size_t least = g.max_tokens == 0 ? 0 : 1;
  if (prompt_tokens + least > limit)
    return too_long("the prompt has " + in_prompt + ", which leaves no room for an answer.");
  auto room = static_cast<int32_t>(limit - prompt_tokens);
  if (g.max_tokens && *g.max_tokens > room)
    return too_long("you requested " + std::to_string(*g.max_tokens) +
                    " tokens of answer after a prompt of " + in_prompt + ".");
  g.params.max_tokens = g.max_tokens.value_or(otherwise > 0 ? std::min(otherwise, room) : room);
  if (g.params.min_tokens > g.params.max_tokens)
    return field_error("min_tokens", "must not be greater than max_tokens = " +
                                         std::to_string(g.params.max_tokens) + ", found " +
                                         std::to_string(g.params.min_tokens));
  return std::nullopt;
}

Result<std::vector<std::vector<int32_t>>> encode_bad_words(const std::vector<std::string>& words,
                                                           const Tokenizer& tokenizer) {
  std::vector<std::vector<int32_t>> sequences;
  for (const std::string& word : words) {
    std::string bare = word.substr(std::min(word.find_first_not_of(' '), word.size()));
    auto first = tokenizer.encode(bare, {.add_special_tokens = false});
    if (!first.ok()) return first.error();
    auto inner = tokenizer.encode(" " + bare, {.add_special_tokens = false});
    if (!inner.ok()) return inner.error();
    bool same = *inner == *first;
    if (!first->empty()) sequences.push_back(std::move(*first));
    if (!inner->empty() && !same) sequences.push_back(std::move(*inner));
  }
  return sequences;
}

}  // namespace matador
