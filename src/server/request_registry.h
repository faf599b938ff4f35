// RequestRegistry: the generating requests that are being answered, by their X-Request-Id, so that
// they can be aborted from elsewhere. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace matador {

class GenerationJob;

class RequestRegistry {
 public:
  // Owner and id: nobody aborts another's requests.
  using Key = std::pair<std::string, std::string>;

  void add(Key key, std::weak_ptr<GenerationJob> job);
  void remove(const Key& key, const GenerationJob* job);
  // All of that id. How many there were.
  size_t abort(const Key& key);
  size_t size() const;

 private:
  struct Entry {
    const GenerationJob* job;
    std::weak_ptr<GenerationJob> alive;
  };
  mutable std::mutex mutex_;
  std::multimap<Key, Entry> jobs_;
};

}  // namespace matador
