#include "http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace matador {

HttpClient::HttpClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) close();
  timeval limit{20, 0};
  if (socket_ >= 0) setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

HttpClient::~HttpClient() { close(); }

void HttpClient::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void HttpClient::set_receive_buffer(int bytes) {
  setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

void HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

bool HttpClient::fill() {
  char bytes[65536];
  ssize_t n = recv(socket_, bytes, sizeof bytes, 0);
  if (n <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(n));
  return true;
}

std::string HttpClient::read_until(std::string_view text) {
  while (buffer_.find(text) == std::string::npos && fill()) {
  }
  size_t at = buffer_.find(text);
  size_t end = at == std::string::npos ? buffer_.size() : at + text.size();
  std::string out = buffer_.substr(0, end);
  buffer_.erase(0, end);
  return out;
}

Reply HttpClient::read_reply(bool to_head) {
  Reply reply;
  reply.head = read_until("\r\n\r\n");
  if (!reply.head.ends_with("\r\n\r\n")) return reply;
  int status = std::stoi(reply.head.substr(9, 3));
  auto header = [&](std::string_view name) {
    size_t at = reply.head.find(name);
    if (at == std::string::npos) return std::string();
    size_t begin = at + name.size();
    return reply.head.substr(begin, reply.head.find("\r\n", begin) - begin);
  };
  if (to_head || status == 204 || status == 100) {
    reply.status = status;
  } else if (header("Transfer-Encoding: ") == "chunked") {
    for (;;) {
      std::string line = read_until("\r\n");
      if (!line.ends_with("\r\n")) return reply;
      size_t size = std::stoul(line, nullptr, 16);
      while (buffer_.size() < size + 2)
        if (!fill()) return reply;
      reply.body += buffer_.substr(0, size);
      buffer_.erase(0, size + 2);
      if (size == 0) break;
    }
    reply.status = status;
  } else {
    std::string length = header("Content-Length: ");
    while (length.empty() || buffer_.size() < std::stoul(length))
      if (!fill()) break;
    reply.body = length.empty() ? buffer_ : buffer_.substr(0, std::stoul(length));
    buffer_.erase(0, reply.body.size());
    reply.status = status;
  }
  return reply;
}

bool HttpClient::closed_within(std::chrono::milliseconds timeout) {
  auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd poll_fd{socket_, POLLIN, 0};
    if (poll(&poll_fd, 1, static_cast<int>(left.count())) > 0 && !fill()) return true;
  }
}

std::string HttpClient::request(const std::string& method, const std::string& path,
                                const std::string& body, const std::string& headers) {
  return method + " " + path + " HTTP/1.1\r\nHost: test\r\n" + headers +
         (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" +
         body;
}

Reply HttpClient::get(const std::string& path, const std::string& headers) {
  send(request("GET", path, "", headers));
  return read_reply();
}

Reply HttpClient::post(const std::string& path, const std::string& body,
                       const std::string& headers) {
  send(request("POST", path, body, headers));
  return read_reply();
}

}  // namespace matador
