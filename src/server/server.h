// Server: the OpenAI-compatible HTTP server of one model.
//
// Threads: `io_threads` run sockets, JSON of answers and detokenising; `worker_threads` parse
// requests, render templates and tokenise; the engine has its own. All of Server may be called
// from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/api_model.h"
#include "api/tenants.h"
#include "core/result.h"
#include "engine/served_model.h"

namespace matador {

class Store;

struct ServerLimits {
  size_t max_body_bytes = size_t{32} << 20;          // more: 413
  size_t max_upload_bytes = size_t{512} << 20;       // of a file; more: 413
  size_t max_header_bytes = size_t{16} << 10;        // more: 431
  size_t max_connections = 4096;                     // more: 503
  std::chrono::milliseconds header_timeout{30'000};  // first byte to the end of the headers: 408
  std::chrono::milliseconds body_timeout{120'000};   // 408
  std::chrono::milliseconds idle_timeout{300'000};   // between requests: closed
  std::chrono::milliseconds write_timeout{60'000};   // a client that reads nothing: closed
  std::chrono::milliseconds drain_timeout{60'000};   // running answers after shutdown()
  size_t max_queued_events = 8192;  // of one answer to a slow client; more: cancelled and closed
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;                              // 0: any free one
  std::vector<std::string> served_model_names;  // empty: ServedModel::path; the first is shown
  std::vector<std::string> api_keys;            // of the operator, without limits
  std::vector<Tenant> tenants;                  // with neither of both, no key is asked for
  Store* store = nullptr;   // for files, batches and usage; outlives the server; null: none
  size_t batch_width = 64;  // lines of a batch answered at a time
  std::vector<std::string> cors_origins = {"*"};  // empty: no CORS headers
  // Control-token spellings in messages become control tokens, as in transformers. Off: plain
  // text, so that no message can forge a turn.
  bool parse_special_tokens_in_messages = false;
  DialectOptions dialect;  // how calls and reasoning are read
  // SIGTERM and SIGINT call shutdown(); a second one ends the process at once.
  bool handle_signals = false;
  int io_threads = 2;
  int worker_threads = 2;
  ServerLimits limits;
};

class Server {
 public:
  // Listens and serves until shut down. `model` must outlive the server. Fails where the address
  // cannot be bound or an option makes no sense.
  static Result<std::unique_ptr<Server>> start(ServedModel& model, ServerOptions options);
  // Stops without waiting for running answers, which are cancelled.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  // Returns once the server has shut down and every connection is closed.
  void wait();
  // Drains: no new connections or requests (503), running answers finish up to `drain_timeout`.
  // Returns at once; wait() tells when it is over.
  void shutdown();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace matador
