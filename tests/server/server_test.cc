#include "server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "http_client.h"
#include "support/tiny_served_model.h"

namespace matador {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kChat[] = "/v1/chat/completions";
constexpr char kCompletions[] = "/v1/completions";

std::string chat_body(const std::string& more = "") {
  return R"({"messages": [{"role": "user", "content": "hi"}])" + more + "}";
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = 10s) {
  auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

struct Running {
  explicit Running(StubEngineOptions engine = {}, ServerOptions options = {})
      : tiny(std::move(engine)) {
    options.port = 0;
    auto started = Server::start(tiny.served, std::move(options));
    EXPECT_TRUE(started.ok()) << started.error().message;
    server = std::move(*started);
    port = server->port();
  }
  TinyServedModel tiny;
  std::unique_ptr<Server> server;
  int port = 0;
};

// What a stream said: the contents of its deltas joined.
std::string streamed_text(const std::string& body) {
  std::string text;
  const std::string key = "\"content\":\"";
  for (size_t at = body.find(key); at != body.npos; at = body.find(key, at + 1)) {
    size_t begin = at + key.size();
    text += body.substr(begin, body.find('"', begin) - begin);
  }
  return text;
}

TEST(Server, AnswersTheRoutesThatGenerateNothing) {
  Running run;
  HttpClient client(run.port);
  EXPECT_EQ(client.get("/health").status, 200);
  EXPECT_EQ(client.get("/ready").status, 200);
  EXPECT_THAT(client.get("/version").body, StartsWith(R"({"version":")"));
  EXPECT_THAT(client.get("/v1/models").body, HasSubstr(R"("id":"tiny","object":"model")"));
  EXPECT_EQ(client.get("/v1/models/tiny").status, 200);
  EXPECT_EQ(client.get("/v1/models/%74iny").status, 200);
  EXPECT_EQ(client.get("/v1/models/other").status, 404);
  EXPECT_THAT(client.post("/tokenize", R"({"prompt": "hi"})").body, HasSubstr("[104,105]"));
  EXPECT_THAT(client.post("/detokenize", R"({"tokens": [104]})").body, HasSubstr("\"h\""));
}

TEST(Server, ChatsWholeAndStreamed) {
  Running run;
  HttpClient client(run.port);
  Reply whole = client.post(kChat, chat_body());
  EXPECT_EQ(whole.status, 200);
  EXPECT_THAT(whole.head, HasSubstr("Content-Type: application/json"));
  EXPECT_THAT(whole.body, HasSubstr(R"("content":"Hello, world!")"));
  Reply stream = client.post(kChat, chat_body(R"(, "stream": true)"));
  EXPECT_EQ(stream.status, 200);
  EXPECT_THAT(stream.head, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_EQ(streamed_text(stream.body), "Hello, world!");
  EXPECT_TRUE(stream.body.ends_with("\n\ndata: [DONE]\n\n"));
  Reply again = client.post(kCompletions, R"({"prompt": ["a", "b"], "max_tokens": 5})");
  EXPECT_THAT(again.body, HasSubstr(R"("text":"Hello","index":1)"));
}

TEST(Server, AStopStringEndsTheChoiceInTheEngine) {
  Running run({.reply = "abcdefgh", .ends = false});
  HttpClient client(run.port);
  Reply reply = client.post(kCompletions, R"({"prompt": "x", "stop": "cde", "max_tokens": 4000})");
  EXPECT_THAT(reply.body, HasSubstr(R"("text":"ab")"));
  EXPECT_THAT(reply.body, HasSubstr(R"("completion_tokens":5)"));
  EXPECT_TRUE(eventually([&] { return run.tiny.engine->num_running() == 0; }));
}

TEST(Server, EveryFailureHasOpenAisBody) {
  Running run;
  struct {
    std::string request;
    int status;
  } cases[] = {
      {HttpClient::request("GET", "/nowhere", ""), 404},
      {HttpClient::request("GET", kChat, ""), 405},
      {HttpClient::request("POST", "/health", "{}"), 405},
      {HttpClient::request("POST", kChat, ""), 400},
      {HttpClient::request("POST", kChat, "{"), 400},
      {HttpClient::request("POST", kChat, std::string(64, '\0')), 400},
      {HttpClient::request("POST", kChat, std::string(5000, '[')), 400},
      {HttpClient::request("POST", kChat, chat_body(R"(, "n": "x")")), 400},
      {HttpClient::request("POST", kChat, chat_body(R"(, "model": "x")")), 404},
      {"GARBAGE\r\n\r\n", 400},
      {"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 9999999999999999999999999\r\n\r\n{}",
       400},
      {"POST /x HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", 400},
      {"GET / HTTP/1.1\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n", 431},
      {"POST /x HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413},
  };
  for (const auto& c : cases) {
    HttpClient client(run.port);
    client.send(c.request);
    Reply reply = client.read_reply();
    EXPECT_EQ(reply.status, c.status) << c.request.substr(0, 80);
    EXPECT_THAT(reply.body, StartsWith(R"({"error":{"message":")")) << c.request.substr(0, 80);
    EXPECT_THAT(reply.body, HasSubstr(R"("code":)"));
  }
  EXPECT_EQ(HttpClient(run.port).post(kChat, chat_body()).status, 200);
}

TEST(Server, AnEngineFaultIs500OrAnErrorEvent) {
  Running run({.fail_with = "the device is gone"});
  HttpClient client(run.port);
  Reply whole = client.post(kChat, chat_body());
  EXPECT_EQ(whole.status, 500);
  EXPECT_THAT(whole.body, HasSubstr("the device is gone"));
  Reply stream = client.post(kChat, chat_body(R"(, "stream": true)"));
  EXPECT_THAT(stream.body, HasSubstr(R"(data: {"error":{"message":"the device is gone")"));
  EXPECT_TRUE(stream.body.ends_with("data: [DONE]\n\n"));
}

TEST(Server, AsksForAKeyWhereOneIsSet) {
  ServerOptions options;
  options.api_keys = {"first-key", "second-key"};
  Running run({}, options);
  HttpClient client(run.port);
  for (auto header :
       {"", "Authorization: Bearer wrong\r\n", "Authorization: Bearer first-ke\r\n",
        "Authorization: Bearer first-keyy\r\n", "Authorization: first-key\r\n",
        "Authorization: Bearer \r\n", "Authorization: Bearer first-keyfirst-key\r\n"}) {
    Reply reply = client.get("/v1/models", header);
    EXPECT_EQ(reply.status, 401) << header;
    EXPECT_THAT(reply.body, HasSubstr("invalid_api_key"));
  }
  EXPECT_EQ(client.get("/v1/models", "Authorization: Bearer second-key\r\n").status, 200);
  EXPECT_EQ(client.post("/tokenize", R"({"prompt": "x"})").status, 401);
  for (auto path : {"/health", "/ready", "/version", "/metrics"})
    EXPECT_EQ(client.get(path).status, 200) << path;
}

TEST(Server, LetsBrowsersOfAllowedOriginsIn) {
  ServerOptions options;
  options.cors_origins = {"http://good.example"};
  options.api_keys = {"key"};
  Running run({}, options);
  HttpClient client(run.port);
  client.send(HttpClient::request("OPTIONS", kChat, "",
                                  "Origin: http://good.example\r\n"
                                  "Access-Control-Request-Method: POST\r\n"
                                  "Access-Control-Request-Headers: authorization\r\n"));
  Reply preflight = client.read_reply();
  EXPECT_EQ(preflight.status, 204);
  EXPECT_THAT(preflight.head, HasSubstr("Access-Control-Allow-Origin: http://good.example"));
  EXPECT_THAT(preflight.head, HasSubstr("Access-Control-Allow-Headers: authorization"));
  const std::string key = "Authorization: Bearer key\r\n";
  const std::string allowed = "Access-Control-Allow-Origin: http://good.example";
  const std::string good = "Origin: http://good.example\r\n" + key;
  EXPECT_THAT(client.post(kChat, chat_body(), good).head, HasSubstr(allowed));
  EXPECT_THAT(client.post(kChat, "{", good).head, HasSubstr(allowed));
  EXPECT_THAT(client.post(kChat, chat_body(R"(, "stream": true)"), good).head, HasSubstr(allowed));
  EXPECT_FALSE(client.get("/health", "Origin: http://evil.example\r\n").has("Allow-Origin"));
}

TEST(Server, MetricsHaveVllmsNames) {
  Running run;
  HttpClient client(run.port);
  client.post(kChat, chat_body());
  std::string text = client.get("/metrics").body;
  for (auto line :
       {R"(vllm:num_requests_running{engine="0",model_name="tiny"})",
        R"(vllm:request_success_total{engine="0",finished_reason="stop",model_name="tiny"} 1)",
        R"(vllm:time_to_first_token_seconds_count{engine="0",model_name="tiny"} 1)",
        R"(vllm:time_to_first_token_seconds_bucket{engine="0",model_name="tiny",le="0.001"})",
        R"(vllm:inter_token_latency_seconds_count{engine="0",model_name="tiny"} 13)",
        R"(vllm:request_generation_tokens_sum{engine="0",model_name="tiny"} 14)",
        R"(vllm:request_max_num_generation_tokens_sum{engine="0",model_name="tiny"} 14)",
        R"(vllm:request_prefill_kv_computed_tokens_count{engine="0",model_name="tiny"} 1)",
        R"(vllm:request_queue_time_seconds_bucket{engine="0",model_name="tiny",le="7680"} 1)",
        R"(vllm:request_prefill_time_seconds_bucket{engine="0",model_name="tiny",le="7680"} 1)",
        R"(vllm:request_decode_time_seconds_bucket{engine="0",model_name="tiny",le="7680"} 1)",
        R"(vllm:request_inference_time_seconds_bucket{engine="0",model_name="tiny",le="7680"} 1)",
        R"(vllm:iteration_tokens_total_count{engine="0",model_name="tiny"} 14)",
        R"(vllm:iteration_tokens_total_bucket{engine="0",model_name="tiny",le="1"} 14)",
        R"(vllm:iteration_tokens_total_bucket{engine="0",model_name="tiny",le="+Inf"} 14)",
        R"(vllm:generation_tokens_total{engine="0",model_name="tiny"} 14)"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Server, RefusesOptionsThatMakeNoSense) {
  TinyServedModel tiny;
  for (auto change :
       {+[](ServerOptions& o) { o.api_keys = {""}; }, +[](ServerOptions& o) { o.port = 70'000; },
        +[](ServerOptions& o) { o.worker_threads = 0; },
        +[](ServerOptions& o) { o.host = "256.256.256.256"; }}) {
    ServerOptions options;
    options.port = 0;
    change(options);
    EXPECT_FALSE(Server::start(tiny.served, options).ok());
  }
}

}  // namespace
}  // namespace matador
