#include "backends/cuda/drawn.h"

#include <utility>

#include "backends/cuda/error.h"

namespace matador::cuda {

Drawn::Drawn() {
  for (Sent& sent : sent_) {
    check(cudaEventCreateWithFlags(&sent.arrived, cudaEventDisableTiming), "cudaEventCreate");
  }
}

Drawn::~Drawn() {
  for (Sent& sent : sent_) cudaEventDestroy(sent.arrived);
}

// The last step's draws are still needed: they move along.
bool Drawn::reserve(const Draws& draws) {
  const size_t count = draws.draws.size();
  bool moved = false;
  if (count * sizeof(int32_t) > tokens_.size()) {
    check(cudaDeviceSynchronize(), "the step before");
    const DeviceMemory last = std::exchange(tokens_, DeviceMemory());
    tokens_.reserve(count * sizeof(int32_t));
    check(cudaMemcpy(tokens_.data(), last.data(), last.size(), cudaMemcpyDeviceToDevice),
          "moving drawn tokens");
    moved = true;
  }
  const size_t logprob_bytes = count * DrawResults::kLogprobs * sizeof(DrawnLogprob);
  return logprobs_.reserve(logprob_bytes) || moved;
}

DrawOutput Drawn::output() const { return {tokens_.as<int32_t>(), logprobs_.as<DrawnLogprob>()}; }

void Drawn::send(const Draws& draws, cudaStream_t stream) {
  Sent& sent = sent_[next_++ % sent_.size()];
  sent.count = draws.draws.size();
  sent.has_logprobs = draws.logprobs;
  const size_t token_bytes = sent.count * sizeof(int32_t);
  sent.tokens.reserve(token_bytes);
  check(cudaMemcpyAsync(sent.tokens.data(), tokens_.data(), token_bytes, cudaMemcpyDeviceToHost,
                        stream),
        "copying drawn tokens");
  if (draws.logprobs) {
    const size_t bytes = sent.count * DrawResults::kLogprobs * sizeof(DrawnLogprob);
    sent.logprobs.reserve(bytes);
    check(cudaMemcpyAsync(sent.logprobs.data(), logprobs_.data(), bytes, cudaMemcpyDeviceToHost,
                          stream),
          "copying logprobs");
  }
  check(cudaEventRecord(sent.arrived, stream), "cudaEventRecord");
}

DrawResults Drawn::take() {
  Sent& sent = sent_[oldest_++ % sent_.size()];
  check(cudaEventSynchronize(sent.arrived), "a step");
  DrawResults results;
  results.tokens = {reinterpret_cast<const int32_t*>(sent.tokens.data()), sent.count};
  if (sent.has_logprobs) {
    results.logprobs = {reinterpret_cast<const DrawnLogprob*>(sent.logprobs.data()),
                        sent.count * DrawResults::kLogprobs};
  }
  return results;
}

}  // namespace matador::cuda
