// The protocol: what a connection may do besides asking one thing at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http_client.h"
#include "server/server.h"
#include "support/tiny_served_model.h"

namespace matador {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr char kCompletions[] = "/v1/completions";

class Http : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    options.port = 0;
    auto started = Server::start(tiny_.served, std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(*started);
  }
  TinyServedModel tiny_;
  std::unique_ptr<Server> server_;
};

TEST_F(Http, KeepsAConnectionUntilToldOtherwise) {
  start();
  HttpClient client(server_->port());
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(client.get("/health").head, HasSubstr("Connection: keep-alive"));
  EXPECT_THAT(client.get("/health", "Connection: close\r\n").head, HasSubstr("Connection: close"));
  EXPECT_TRUE(client.closed_within(5s));
}

TEST_F(Http, AnswersPipelinedRequestsInOrder) {
  start();
  HttpClient client(server_->port());
  std::string burst;
  for (int i = 0; i < 20; ++i)
    burst +=
        HttpClient::request("POST", kCompletions,
                            R"({"prompt": "x", "max_tokens": )" + std::to_string(i % 5 + 1) + "}");
  client.send(burst);
  for (int i = 0; i < 20; ++i) {
    Reply reply = client.read_reply();
    EXPECT_EQ(reply.status, 200);
    EXPECT_THAT(reply.body, HasSubstr("\"text\":\"" +
                                      std::string("Hello").substr(0, size_t(i % 5) + 1) + "\""));
  }
}

TEST_F(Http, HeadHasTheHeadersOnly) {
  start();
  HttpClient client(server_->port());
  client.send(HttpClient::request("HEAD", "/health", ""));
  Reply reply = client.read_reply(/*to_head=*/true);
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.head, HasSubstr("Content-Length: 15"));
  EXPECT_EQ(client.get("/health").status, 200);
}

TEST_F(Http, SaysContinueToWhoAsks) {
  start();
  HttpClient client(server_->port());
  const std::string body = R"({"prompt": "x"})";
  client.send("POST /v1/completions HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_EQ(client.read_reply().status, 100);
  client.send(body);
  EXPECT_EQ(client.read_reply().status, 200);
}

TEST_F(Http, TakesChunkedBodies) {
  start();
  HttpClient client(server_->port());
  client.send(
      "POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\n{\"pro\r\na\r\nmpt\": \"x\"}\r\n0\r\n\r\n");
  EXPECT_EQ(client.read_reply().status, 200);
}

TEST_F(Http, ServesHttp10WithoutChunks) {
  start();
  HttpClient client(server_->port());
  const std::string body = R"({"prompt": "x", "stream": true})";
  client.send("POST /v1/completions HTTP/1.0\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body);
  Reply reply = client.read_reply();
  EXPECT_THAT(reply.head, HasSubstr("Connection: close"));
  EXPECT_THAT(reply.head, testing::Not(HasSubstr("chunked")));
  EXPECT_TRUE(reply.body.ends_with("data: [DONE]\n\n"));
}

TEST_F(Http, GivesUpOnSlowSenders) {
  ServerOptions options;
  options.limits.header_timeout = 100ms;
  options.limits.body_timeout = 100ms;
  options.limits.idle_timeout = 300ms;
  start(options);
  HttpClient headers(server_->port());
  headers.send("GET /health HTTP/1.1\r\nX:");
  EXPECT_EQ(headers.read_reply().status, 408);
  HttpClient body(server_->port());
  body.send("POST /tokenize HTTP/1.1\r\nContent-Length: 10\r\n\r\n{");
  Reply reply = body.read_reply();
  EXPECT_EQ(reply.status, 408);
  EXPECT_THAT(reply.body, HasSubstr("\"error\""));
  HttpClient idle(server_->port());
  EXPECT_TRUE(idle.closed_within(5s));
}

TEST_F(Http, TurnsAwayConnectionsBeyondTheLimit) {
  ServerOptions options;
  options.limits.max_connections = 2;
  start(options);
  HttpClient first(server_->port()), second(server_->port());
  EXPECT_EQ(first.get("/health").status, 200);
  EXPECT_EQ(second.get("/health").status, 200);
  HttpClient third(server_->port());
  EXPECT_EQ(third.read_reply().status, 503);
}

TEST_F(Http, HoldsAThousandIdleConnections) {
  start();
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 1000; ++i) clients.push_back(std::make_unique<HttpClient>(server_->port()));
  for (size_t i = 0; i < clients.size(); i += 100)
    EXPECT_EQ(clients[i]->get("/health").status, 200);
  EXPECT_EQ(clients.back()->get("/health").status, 200);
}

}  // namespace
}  // namespace matador
