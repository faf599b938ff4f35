// Events in, the wire's objects out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/call.h"
#include "api/json.h"
#include "support/tiny_served_model.h"

namespace matador {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Event token(int32_t id, int32_t choice = 0, float logprob = -0.25F) {
  Event event;
  event.token = id;
  event.choice = choice;
  event.logprobs = TokenLogprobs{{id, logprob, 1}, {{id, logprob, 1}, {'z', -3, 2}}};
  return event;
}
Event prompt_done(std::vector<TokenLogprobs> logprobs = {}) {
  Event event;
  event.kind = Event::Kind::prompt_done;
  event.num_cached_tokens = 1;
  event.prompt_logprobs = std::move(logprobs);
  return event;
}
Event finished(FinishReason reason, int32_t choice = 0, int32_t stop_token = -1) {
  Event event;
  event.kind = Event::Kind::finished;
  event.choice = choice;
  event.reason = reason;
  event.stop_token = stop_token;
  return event;
}

class Answers : public testing::Test {
 protected:
  std::unique_ptr<Answer> chat(const std::string& more) {
    auto call =
        prepare_chat(R"({"messages": [{"role": "user", "content": "hi"}])" + more + "}", *model_);
    EXPECT_TRUE(call.ok()) << call.error().message;
    return std::move(call->answer);
  }
  std::unique_ptr<Answer> completion(const std::string& more) {
    auto call = prepare_completion(R"({"prompt": "hi")" + more + "}", *model_);
    EXPECT_TRUE(call.ok()) << call.error().message;
    return std::move(call->answer);
  }
  static void say(Answer& answer, const std::string& text, int32_t choice = 0) {
    for (int32_t id : bytes_of(text)) answer.push(0, token(id, choice));
  }
  // Without what differs from run to run, and without the envelope all chunks share.
  static std::vector<std::string> chunks(Answer& answer) {
    std::vector<std::string> all;
    for (const std::string& chunk : answer.take_chunks()) {
      if (chunk == "[DONE]") {
        all.push_back(chunk);
        continue;
      }
      Json json = *parse_json(chunk);
      for (auto key : {"id", "object", "created", "model"}) json.erase(key);
      all.push_back(dump_json(json));
    }
    return all;
  }
  static Json body(Answer& answer) {
    EXPECT_TRUE(answer.done());
    auto text = answer.body();
    EXPECT_TRUE(text.ok());
    return *parse_json(*text);
  }

  TinyServedModel tiny_;
  std::shared_ptr<const ApiModel> model_ = *ApiModel::make(tiny_.served, {"tiny"}, false);
};

TEST_F(Answers, AChatStreamHasRoleTextFinishUsageAndDone) {
  auto answer = chat(R"(, "stream": true, "stream_options": {"include_usage": true})");
  answer->push(0, prompt_done());
  say(*answer, "a\xC3\xA9");
  answer->push(0, token(kTurnEnd));
  answer->push(0, finished(FinishReason::stop, 0, kTurnEnd));
  auto choice = [](const std::string& delta, const std::string& reason) {
    return R"({"choices":[{"index":0,"delta":)" + delta + R"(,"logprobs":null,"finish_reason":)" +
           reason + R"(}],"usage":null})";
  };
  EXPECT_THAT(chunks(*answer),
              ElementsAre(choice(R"({"role":"assistant","content":""})", "null"),
                          choice(R"({"content":"a"})", "null"),
                          choice(R"({"content":"é"})", "null"), choice("{}", R"("stop")"),
                          R"({"choices":[],"usage":{"prompt_tokens":21,"completion_tokens":4,)"
                          R"("total_tokens":25,"prompt_tokens_details":{"cached_tokens":1}}})",
                          "[DONE]"));
  EXPECT_TRUE(answer->done());
}

TEST_F(Answers, ACompletionStreamEndsWithTheLastText) {
  auto answer = completion(R"(, "stream": true, "stop": ["xyz"])");
  answer->push(0, prompt_done());
  say(*answer, "ax");
  answer->push(0, finished(FinishReason::length));
  EXPECT_THAT(
      chunks(*answer),
      ElementsAre(
          R"({"choices":[{"text":"a","index":0,"logprobs":null,"finish_reason":null}]})",
          R"({"choices":[{"text":"x","index":0,"logprobs":null,"finish_reason":"length"}]})",
          "[DONE]"));
}

TEST_F(Answers, HoldingTextBackSendsNothing) {
  auto answer = chat(R"(, "stream": true, "stop": ["abcdef"])");
  answer->push(0, prompt_done());
  EXPECT_EQ(answer->take_chunks().size(), 1u);
  say(*answer, "abcde");
  EXPECT_THAT(answer->take_chunks(), IsEmpty());
  answer->push(0, finished(FinishReason::length));
  EXPECT_EQ(answer->take_chunks().size(), 3u);  // the text, the end, [DONE]
}

TEST_F(Answers, AStopStringCancelsTheChoiceAndCountsTheTokensUpToIt) {
  auto answer = completion(R"(, "n": 2, "stop": "b")");
  answer->push(0, prompt_done());
  say(*answer, "abcd", 1);
  auto cancels = answer->take_cancels();
  ASSERT_EQ(cancels.size(), 1u);
  EXPECT_EQ(cancels[0].choice, 1);
  answer->push(0, finished(FinishReason::aborted, 1));
  say(*answer, "a", 0);
  answer->push(0, finished(FinishReason::length, 0));
  Json json = body(*answer);
  EXPECT_EQ(json["choices"][1]["text"], "a");
  EXPECT_EQ(json["choices"][1]["finish_reason"], "stop");
  EXPECT_EQ(json["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(json["usage"]["completion_tokens"], 3);
  EXPECT_EQ(json["usage"]["prompt_tokens"], 2);
}

TEST_F(Answers, AChatHasTheTrueBytesOfItsTokens) {
  auto answer = chat(R"(, "logprobs": true, "top_logprobs": 1)");
  answer->push(0, prompt_done());
  say(*answer, "\xC3\xA9");
  answer->push(0, finished(FinishReason::length));
  Json logprobs = body(*answer)["choices"][0]["logprobs"]["content"];
  EXPECT_EQ(dump_json(logprobs[0]),
            "{\"token\":\"\uFFFD\",\"logprob\":-0.25,\"bytes\":[195],"
            "\"top_logprobs\":[{\"token\":\"\uFFFD\",\"logprob\":-0.25,\"bytes\":[195]}]}");
  EXPECT_EQ(logprobs[1]["bytes"], Json::array({169}));
}

TEST_F(Answers, StreamedLogprobsComeWithTheTextTheyBelongTo) {
  auto answer = chat(R"(, "stream": true, "logprobs": true)");
  answer->push(0, prompt_done());
  say(*answer, "\xC3\xA9");
  auto sent = answer->take_chunks();
  ASSERT_EQ(sent.size(), 2u);
  Json choice = (*parse_json(sent[1]))["choices"][0];
  EXPECT_EQ(choice["delta"]["content"], "é");
  EXPECT_EQ(choice["logprobs"]["content"].size(), 2u);
}

TEST_F(Answers, AnEchoWithLogprobsBeginsWithNull) {
  auto answer = completion(R"(, "echo": true, "logprobs": 1, "max_tokens": 2)");
  answer->push(0, prompt_done({TokenLogprobs{{'i', -1, 4}, {{'o', -0.5F, 1}}}}));
  say(*answer, "!?");
  answer->push(0, finished(FinishReason::length));
  Json choice = body(*answer)["choices"][0];
  EXPECT_EQ(choice["text"], "hi!?");
  EXPECT_EQ(dump_json(choice["logprobs"]),
            R"({"text_offset":[0,1,2,3],"token_logprobs":[null,-1.0,-0.25,-0.25],)"
            R"("tokens":["h","i","!","?"],)"
            R"("top_logprobs":[null,{"o":-0.5,"i":-1.0},{"!":-0.25},{"?":-0.25}]})");
}

TEST_F(Answers, LogprobsZeroIsNotOff) {
  auto answer = completion(R"(, "logprobs": 0)");
  answer->push(0, prompt_done());
  say(*answer, "\xE6");
  answer->push(0, finished(FinishReason::length));
  Json logprobs = body(*answer)["choices"][0]["logprobs"];
  EXPECT_EQ(logprobs["tokens"], Json::array({"bytes:\\xe6"}));
  EXPECT_EQ(logprobs["token_logprobs"], Json::array({-0.25}));
}

TEST_F(Answers, ImpossibleTokensHaveAFiniteLogprob) {
  auto answer = completion(R"(, "logprobs": 0)");
  answer->push(0, prompt_done());
  answer->push(0, token('a', 0, -std::numeric_limits<float>::infinity()));
  answer->push(0, finished(FinishReason::length));
  EXPECT_EQ(body(*answer)["choices"][0]["logprobs"]["token_logprobs"][0], -9999.0);
}

TEST_F(Answers, BestOfShowsTheLikeliest) {
  auto answer = completion(R"(, "n": 1, "best_of": 3)");
  answer->push(0, prompt_done());
  for (int32_t choice : {0, 1, 2}) {
    answer->push(0, token('a' + choice, choice, choice == 1 ? -0.1F : -1.0F));
    answer->push(0, finished(FinishReason::length, choice));
  }
  Json json = body(*answer);
  ASSERT_EQ(json["choices"].size(), 1u);
  EXPECT_EQ(json["choices"][0]["text"], "b");
  EXPECT_EQ(json["choices"][0]["index"], 0);
  EXPECT_EQ(json["usage"]["completion_tokens"], 3);
}

TEST_F(Answers, ChoicesOfSeveralPromptsAreNumberedThrough) {
  auto call = prepare_completion(R"({"prompt": ["a", "b"], "n": 2})", *model_);
  Answer& answer = *call->answer;
  for (size_t request : {size_t{1}, size_t{0}}) {
    answer.push(request, prompt_done());
    for (int32_t choice : {1, 0}) {
      answer.push(request, token(static_cast<int32_t>('0' + 2 * request) + choice, choice));
      answer.push(request, finished(FinishReason::length, choice));
    }
  }
  Json choices = body(answer)["choices"];
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(choices[static_cast<size_t>(i)]["index"], i);
    EXPECT_EQ(choices[static_cast<size_t>(i)]["text"], std::to_string(i));
  }
}

TEST_F(Answers, PromptLogprobsAndTokenIdsHaveVllmsShape) {
  auto answer = completion(R"(, "prompt_logprobs": 1, "return_token_ids": true)");
  answer->push(0, prompt_done({TokenLogprobs{{'i', -1, 4}, {{'o', -0.5F, 1}}}}));
  say(*answer, "!");
  answer->push(0, finished(FinishReason::length));
  Json choice = body(*answer)["choices"][0];
  EXPECT_EQ(dump_json(choice["prompt_logprobs"]),
            R"([null,{"105":{"logprob":-1.0,"rank":4,"decoded_token":"i"},)"
            R"("111":{"logprob":-0.5,"rank":1,"decoded_token":"o"}}])");
  EXPECT_EQ(dump_json(choice["prompt_token_ids"]), "[104,105]");
  EXPECT_EQ(dump_json(choice["token_ids"]), "[33]");
}

TEST_F(Answers, AFailedChoiceFailsTheAnswer) {
  auto whole = chat(R"(, "n": 2)");
  Event fault = finished(FinishReason::error, 1);
  fault.error = "the device is gone";
  whole->push(0, fault);
  EXPECT_TRUE(whole->done());
  EXPECT_EQ(whole->body().error().status, 500);
  EXPECT_EQ(whole->take_cancels().size(), 2u);

  auto streamed = chat(R"(, "stream": true)");
  streamed->push(0, finished(FinishReason::aborted));
  auto sent = streamed->take_chunks();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_TRUE((*parse_json(sent[0])).contains("error"));
  EXPECT_EQ(sent[1], "[DONE]");
}

TEST_F(Answers, ScoringOnlyAPromptShowsThePrompt) {
  auto answer = completion(R"(, "echo": true, "logprobs": 0, "max_tokens": 0)");
  answer->push(0, prompt_done({TokenLogprobs{{'i', -1, 4}, {}}}));
  answer->push(0, finished(FinishReason::length));
  Json json = body(*answer);
  EXPECT_EQ(json["choices"][0]["text"], "hi");
  EXPECT_EQ(json["choices"][0]["logprobs"]["tokens"].size(), 2u);
  EXPECT_EQ(json["usage"]["completion_tokens"], 0);
}

}  // namespace
}  // namespace matador
