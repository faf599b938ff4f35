// ConnectionSet: the open connections of an HttpServer, to end them all and to wait for that.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace matador {

class Connection;

// Thread-safe.
class ConnectionSet {
 public:
  // Held by a connection to its very end, so that an empty set means that nothing is left.
  class Place {
   public:
    Place(ConnectionSet& set, Connection* connection);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    ConnectionSet& set_;
    Connection* connection_;
  };

  size_t size() const;
  void wait_until_empty();
  // Connection::drain or Connection::stop of each; a connection that comes later asks by itself.
  void drain_all();
  void stop_all();
  bool draining() const { return draining_; }
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::shared_ptr<Connection>> alive() const;

  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::unordered_set<Connection*> open_;
  std::atomic<bool> draining_ = false, stopped_ = false;
};

}  // namespace matador
