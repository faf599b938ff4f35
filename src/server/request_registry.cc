#include "server/request_registry.h"

#include <vector>

#include "server/generation_job.h"

namespace matador {

void RequestRegistry::add(Key key, std::weak_ptr<GenerationJob> job) {
  std::lock_guard lock(mutex_);
  const GenerationJob* address = job.lock().get();
  jobs_.emplace(std::move(key), Entry{address, std::move(job)});
}

void RequestRegistry::remove(const Key& key, const GenerationJob* job) {
  std::lock_guard lock(mutex_);
  auto [begin, end] = jobs_.equal_range(key);
  for (auto it = begin; it != end; ++it)
    if (it->second.job == job) return void(jobs_.erase(it));
}

size_t RequestRegistry::abort(const Key& key) {
  std::vector<std::shared_ptr<GenerationJob>> found;
  {
    std::lock_guard lock(mutex_);
    auto [begin, end] = jobs_.equal_range(key);
    for (auto it = begin; it != end; ++it)
      if (auto job = it->second.alive.lock()) found.push_back(std::move(job));
  }
  for (const auto& job : found) job->abort();
  return found.size();
}

size_t RequestRegistry::size() const {
  std::lock_guard lock(mutex_);
  return jobs_.size();
}

}  // namespace matador
