// Clients that leave, read slowly or come in crowds, and the end of the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "http_client.h"
#include "server/server.h"
#include "support/tiny_served_model.h"

namespace matador {
namespace {

using namespace std::chrono_literals;

constexpr char kCompletions[] = "/v1/completions";

std::string body_of(int max_tokens, bool stream, const std::string& more = "") {
  return R"({"prompt": "x", "max_tokens": )" + std::to_string(max_tokens) + R"(, "stream": )" +
         (stream ? "true" : "false") + more + "}";
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = 10s) {
  auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

class Streams : public testing::Test {
 protected:
  void start(StubEngineOptions engine, ServerOptions options = {}) {
    tiny_ = std::make_unique<TinyServedModel>(std::move(engine));
    options.port = 0;
    auto started = Server::start(tiny_->served, std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(*started);
  }
  StubEngine& engine() { return *tiny_->engine; }

  std::unique_ptr<TinyServedModel> tiny_;
  std::unique_ptr<Server> server_;
};

TEST_F(Streams, AClientThatLeavesIsCancelledWhileNothingIsWritten) {
  start({.prefill = 60s});
  for (bool stream : {false, true}) {
    HttpClient client(server_->port());
    client.send(HttpClient::request("POST", kCompletions, body_of(10, stream)));
    ASSERT_TRUE(eventually([&] { return engine().num_running() == 1; }));
    client.close();
    EXPECT_TRUE(eventually([&] { return engine().num_running() == 0; }));
  }
  EXPECT_EQ(engine().num_cancelled(), 2);
}

TEST_F(Streams, AClientThatLeavesInMidStreamIsCancelled) {
  start({.ends = false, .step = 1ms});
  HttpClient client(server_->port());
  client.send(HttpClient::request("POST", kCompletions, body_of(4000, true)));
  client.read_until("\"text\"");
  client.close();
  EXPECT_TRUE(eventually([&] { return engine().num_running() == 0; }));
}

TEST_F(Streams, APipelinedRequestIsNoSignOfLeaving) {
  start({.prefill = 200ms});
  HttpClient client(server_->port());
  client.send(HttpClient::request("POST", kCompletions, body_of(5, false)));
  ASSERT_TRUE(eventually([&] { return engine().num_running() == 1; }));
  client.send(HttpClient::request("GET", "/health", ""));
  EXPECT_EQ(client.read_reply().status, 200);
  EXPECT_EQ(client.read_reply().status, 200);
  EXPECT_EQ(engine().num_cancelled(), 0);
}

TEST_F(Streams, ASlowReaderIsCutOffAndHoldsNobodyUp) {
  ServerOptions options;
  options.limits.max_queued_events = 2000;
  start({.ends = false, .max_model_len = 2'000'000}, options);
  HttpClient slow(server_->port());
  slow.set_receive_buffer(4096);
  slow.send(
      HttpClient::request("POST", kCompletions, body_of(1'000'000, true, R"(, "logprobs": 20)")));
  ASSERT_TRUE(eventually([&] { return engine().num_submitted() == 1; }));
  HttpClient quick(server_->port());
  EXPECT_EQ(quick.post(kCompletions, body_of(50, false)).status, 200);
  EXPECT_TRUE(eventually([&] { return engine().num_running() == 0; }, 50s));
  EXPECT_EQ(engine().num_cancelled(), 1);
}

TEST_F(Streams, FiveHundredAtOnceAllGetTheirOwnText) {
  start({.reply = "abcdefghij", .ends = false, .step = 2ms});
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 500; ++i) {
    clients.push_back(std::make_unique<HttpClient>(server_->port()));
    clients.back()->send(HttpClient::request("POST", kCompletions, body_of(i % 20 + 1, true)));
  }
  for (size_t i = 0; i < clients.size(); ++i) {
    Reply reply = clients[i]->read_reply();
    ASSERT_EQ(reply.status, 200);
    size_t chunks = 0;
    for (size_t at = reply.body.find("\"text\""); at != reply.body.npos;
         at = reply.body.find("\"text\"", at + 1))
      ++chunks;
    EXPECT_EQ(chunks, i % 20 + 2);  // one a token, and the end
    EXPECT_TRUE(reply.body.ends_with("data: [DONE]\n\n"));
  }
  EXPECT_EQ(engine().num_running(), 0);
}

TEST_F(Streams, ShutdownLetsAnswersFinishAndRefusesNewOnes) {
  start({.reply = "abcdefghij", .ends = false, .step = 5ms});
  HttpClient idle(server_->port()), running(server_->port()), other(server_->port());
  EXPECT_EQ(idle.get("/health").status, 200);
  running.send(HttpClient::request("POST", kCompletions, body_of(100, true)));
  running.read_until("\"text\"");
  server_->shutdown();
  EXPECT_TRUE(idle.closed_within(5s));
  EXPECT_TRUE(other.closed_within(5s));
  EXPECT_EQ(HttpClient(server_->port()).get("/health").status, 0);
  EXPECT_TRUE(running.read_until("[DONE]\n\n").ends_with("[DONE]\n\n"));
  server_->wait();
}

TEST_F(Streams, ShutdownCutsWhatDoesNotFinishInTime) {
  ServerOptions options;
  options.limits.drain_timeout = 100ms;
  start({.prefill = 60s}, options);
  HttpClient client(server_->port());
  client.send(HttpClient::request("POST", kCompletions, body_of(5, false)));
  ASSERT_TRUE(eventually([&] { return engine().num_running() == 1; }));
  server_->shutdown();
  server_->wait();
  EXPECT_EQ(engine().num_running(), 0);
}

TEST_F(Streams, ADestroyedServerLeavesNothingRunning) {
  start({.prefill = 60s});
  HttpClient client(server_->port());
  client.send(HttpClient::request("POST", kCompletions, body_of(5, true)));
  ASSERT_TRUE(eventually([&] { return engine().num_running() == 1; }));
  server_.reset();
  EXPECT_EQ(engine().num_running(), 0);
}

}  // namespace
}  // namespace matador
