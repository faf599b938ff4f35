#include "engine/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "recording_sink.h"

namespace matador {
namespace {

using ::testing::HasSubstr;

Request good() {
  Request request;
  request.prompt = {1, 2, 3};
  request.sink = std::make_shared<RecordingSink>();
  return request;
}

std::string error_after(const std::function<void(Request&)>& change) {
  Request request = good();
  change(request);
  Status status = validate(request, {.vocab_size = 49152, .max_model_len = 100});
  return status.ok() ? "" : status.error().message;
}

TEST(Validate, AcceptsOrdinaryAndExtremeButMeaningfulRequests) {
  EXPECT_EQ(error_after([](Request&) {}), "");
  EXPECT_EQ(error_after([](Request& r) { r.prompt.assign(99, 0); }), "");
  EXPECT_EQ(error_after([](Request& r) { r.params.top_k = -1; }), "");
  EXPECT_EQ(error_after([](Request& r) { r.params.temperature = 1e-30F; }), "");
  EXPECT_EQ(error_after([](Request& r) { r.params.max_tokens = 1 << 30; }), "");
  EXPECT_EQ(error_after([](Request& r) { r.params.logit_bias = {{49151, -100}}; }), "");
}

TEST(Validate, NamesTheTokenAndTheVocabulary) {
  EXPECT_EQ(error_after([](Request& r) {
              r.params.logit_bias = {{99999999, 1}};
            }),
            "logit_bias: token id 99999999 is outside the vocabulary (0 to 49151)");
  EXPECT_THAT(error_after([](Request& r) { r.prompt = {-1}; }), HasSubstr("prompt: token id -1"));
  EXPECT_THAT(error_after([](Request& r) { r.params.bad_words = {{49152}}; }),
              HasSubstr("bad_words: token id 49152"));
  EXPECT_THAT(error_after([](Request& r) { r.params.allowed_token_ids = {-7}; }),
              HasSubstr("allowed_token_ids: token id -7"));
  EXPECT_THAT(error_after([](Request& r) { r.params.stop_token_ids = {49152}; }),
              HasSubstr("stop_token_ids: token id 49152"));
}

TEST(Validate, APromptThatCannotFitIsRefusedWithTheArithmetic) {
  std::string error = error_after([](Request& r) { r.prompt.assign(100, 0); });
  EXPECT_THAT(error, HasSubstr("100 tokens"));
  EXPECT_THAT(error, HasSubstr("at least one is for the answer"));
  EXPECT_EQ(error_after([](Request& r) {
              r.prompt.assign(100, 0);
              r.params.max_tokens = 0;
            }),
            "");
  EXPECT_THAT(error_after([](Request& r) { r.prompt.clear(); }), HasSubstr("prompt: "));
}

TEST(Validate, NamesTheFieldThatIsOutOfBounds) {
  using Change = std::function<void(SamplingParams&)>;
  const float nan = std::nanf("");
  const std::vector<std::pair<std::string, Change>> cases = {
      {"max_tokens", [](auto& p) { p.max_tokens = -1; }},
      {"min_tokens", [](auto& p) { p.min_tokens = p.max_tokens + 1; }},
      {"temperature", [](auto& p) { p.temperature = -0.1F; }},
      {"temperature", [&](auto& p) { p.temperature = nan; }},
      {"temperature", [](auto& p) { p.temperature = INFINITY; }},
      {"top_p", [](auto& p) { p.top_p = 0; }},
      {"top_p", [](auto& p) { p.top_p = 1.5F; }},
      {"top_p", [&](auto& p) { p.top_p = nan; }},
      {"min_p", [](auto& p) { p.min_p = -1; }},
      {"repetition_penalty", [](auto& p) { p.repetition_penalty = 0; }},
      {"presence_penalty", [](auto& p) { p.presence_penalty = 2.5F; }},
      {"frequency_penalty", [](auto& p) { p.frequency_penalty = -2.5F; }},
      {"logprobs", [](auto& p) { p.logprobs = -1; }},
      {"prompt_logprobs", [](auto& p) { p.prompt_logprobs = 1000000; }},
      {"logit_bias",
       [&](auto& p) {
         p.logit_bias = {{1, nan}};
       }},
      {"logit_bias",
       [](auto& p) {
         p.logit_bias = {{1, 101.0F}};
       }},
      {"bad_words", [](auto& p) { p.bad_words = {{}}; }},
  };
  for (const auto& [field, change] : cases) {
    std::string error = error_after([&](Request& r) { change(r.params); });
    EXPECT_EQ(error.rfind(field + ": ", 0), 0U) << field << " gave \"" << error << '"';
  }
  EXPECT_THAT(error_after([](Request& r) { r.n = 0; }), HasSubstr("n: must be between 1 and"));
}

}  // namespace
}  // namespace matador
