#include "server/connection_set.h"

#include "server/http_connection.h"

namespace matador {

ConnectionSet::Place::Place(ConnectionSet& set, Connection* connection)
    : set_(set), connection_(connection) {
  std::lock_guard lock(set_.mutex_);
  set_.open_.insert(connection_);
}

ConnectionSet::Place::~Place() {
  std::lock_guard lock(set_.mutex_);
  set_.open_.erase(connection_);
  if (set_.open_.empty()) set_.empty_.notify_all();
}

size_t ConnectionSet::size() const {
  std::lock_guard lock(mutex_);
  return open_.size();
}

std::vector<std::shared_ptr<Connection>> ConnectionSet::alive() const {
  std::vector<std::shared_ptr<Connection>> all;
  std::lock_guard lock(mutex_);
  for (Connection* connection : open_)
    if (auto held = connection->weak_from_this().lock()) all.push_back(std::move(held));
  return all;
}

// Without the lock: a connection may end here, and then it takes the lock itself.
void ConnectionSet::drain_all() {
  draining_ = true;
  for (const auto& connection : alive()) connection->drain();
}

void ConnectionSet::stop_all() {
  stopped_ = true;
  for (const auto& connection : alive()) connection->stop();
}

void ConnectionSet::wait_until_empty() {
  std::unique_lock lock(mutex_);
  empty_.wait(lock, [this] { return open_.empty(); });
}

}  // namespace matador
