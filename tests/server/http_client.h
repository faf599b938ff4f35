// A blocking HTTP client over a plain socket, for tests that need to see and send exact bytes.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

namespace matador {

struct Reply {
  int status = 0;  // 0: the connection ended before a whole reply
  std::string head;
  std::string body;  // chunks joined
  bool has(std::string_view text) const { return (head + body).find(text) != std::string::npos; }
};

class HttpClient {
 public:
  explicit HttpClient(int port);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void send(std::string_view bytes);
  Reply read_reply(bool to_head = false);
  // Until `text` has come, or the end; what came so far.
  std::string read_until(std::string_view text);
  // The server has closed the connection, within the time.
  bool closed_within(std::chrono::milliseconds timeout);
  void set_receive_buffer(int bytes);
  void close();

  Reply get(const std::string& path, const std::string& headers = "");
  Reply post(const std::string& path, const std::string& body, const std::string& headers = "");
  static std::string request(const std::string& method, const std::string& path,
                             const std::string& body, const std::string& headers = "");

 private:
  bool fill();  // reads some more; false at the end

  int socket_ = -1;
  std::string buffer_;
};

}  // namespace matador
