#include "engine/engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "engine/inbox.h"
#include "engine/kv_cache.h"
#include "engine/random.h"
#include "engine/runner.h"
#include "engine/scheduler.h"
#include "engine/validate.h"

namespace matador {

namespace {

constexpr int kFaultsInARow = 3;             // of the device, until it counts as unusable
constexpr int32_t kLogitsInARow = 16 << 20;  // of prompt logprobs in one step: 64 MiB

Error unavailable(std::string why) { return {ErrorCode::unavailable, std::move(why)}; }

Status check_options(const EngineOptions& options) {
  auto positive = [](const std::string& field, int32_t value) -> Status {
    if (value > 0) return {};
    return invalid_argument(field + ": must be at least 1, not " + std::to_string(value));
  };
  for (auto& status :
       {positive("max_num_seqs", options.max_num_seqs),
        positive("max_waiting", options.max_waiting), positive("block_size", options.block_size)}) {
    if (!status.ok()) return status;
  }
  if (options.max_num_batched_tokens >= 0) return {};
  return invalid_argument("max_num_batched_tokens: must not be negative, but is " +
                          std::to_string(options.max_num_batched_tokens));
}

// What the device decides where nothing was asked for.
EngineOptions resolved(EngineOptions options, const DeviceInfo& device) {
  if (options.max_num_batched_tokens == 0) options.max_num_batched_tokens = device.step_tokens;
  return options;
}

SchedulerLimits limits_of(const Model& model, const KvCache& cache, const EngineOptions& options) {
  const ModelInfo& info = model.info();
  SchedulerLimits limits{
      .max_model_len = cache.max_model_len(),
      .max_num_seqs = options.max_num_seqs,
      .max_num_batched_tokens = options.max_num_batched_tokens,
      .max_prompt_logprob_rows = std::max(1, kLogitsInARow / std::max(1, info.vocab_size)),
      .vocab_size = info.vocab_size,
      .eos_token_ids = options.eos_token_ids,
      .clock = options.clock,
  };
  // A checkpoint may name tokens that its logits do not have.
  std::erase_if(limits.eos_token_ids,
                [&](int32_t token) { return token < 0 || token >= info.vocab_size; });
  if (info.state_depends_on_length) {
    limits.length_class = [&model](int32_t length) { return model.length_class(length); };
    limits.recomputes_when_class_grows = info.recomputes_when_length_class_grows;
  }
  return limits;
}

uint64_t random_seed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

class LocalEngine final : public Engine {
 public:
  LocalEngine(std::unique_ptr<Model> model, std::shared_ptr<Backend> backend, KvCache cache,
              const EngineOptions& options)
      : options_(options),
        seed_(options.seed != 0 ? options.seed : random_seed()),
        plan_ahead_(options.plan_ahead.value_or(backend->info().asynchronous)),
        model_(std::move(model)),
        backend_(std::move(backend)),
        cache_(std::move(cache)),
        blocks_(cache_.num_blocks(), cache_.block_size(), options.prefix_caching),
        scheduler_(blocks_, limits_of(*model_, cache_, options)),
        runner_(*model_, *backend_, cache_),
        stats_(scheduler_.stats()),
        thread_([this] { run(); }) {}

  ~LocalEngine() override {
    inbox_.close();
    thread_.join();
  }

  Result<RequestId> submit(Request request) override;
  void cancel(RequestId id, int32_t choice) override { inbox_.push(Cancel{id, choice}); }
  void drain() override;
  EngineStats stats() const override;
  const ModelInfo& model_info() const override { return model_->info(); }
  int32_t max_model_len() const override { return cache_.max_model_len(); }
  bool healthy() const override { return healthy_; }

 private:
  void run();
  bool step();
  bool step_ahead();
  void apply(Command command);
  bool launch(const Plan& plan);
  void commit(const Plan& plan);
  void fail(const Plan& plan, const std::string& why);
  void deliver();
  void publish();
  void break_down(const std::string& why);

  const EngineOptions options_;
  const uint64_t seed_;
  const bool plan_ahead_;

  // The engine's thread owns these.
  std::unique_ptr<Model> model_;
  std::shared_ptr<Backend> backend_;
  KvCache cache_;
  BlockPool blocks_;
  Scheduler scheduler_;
  Runner runner_;
  const Plan* launched_ = nullptr;  // by step_ahead; its results are not taken yet
  double worked_seconds_ = 0;
  int faults_ = 0;  // in a row

  // Shared.
  Inbox inbox_;
  std::atomic<bool> healthy_ = true;
  mutable std::mutex mutex_;
  std::condition_variable published_;
  EngineStats stats_;  // this and the rest: guarded by mutex_
  bool draining_ = false;
  uint64_t num_submitted_ = 0, num_started_ = 0, num_finished_ = 0;  // requests

  std::thread thread_;  // last: it uses all of the above
};

Result<RequestId> LocalEngine::submit(Request request) {
  RequestBounds bounds{model_->info().vocab_size, cache_.max_model_len()};
  if (Status status = validate(request, bounds); !status.ok()) return status.error();
  request.queued = options_.clock();
  std::lock_guard lock(mutex_);
  if (!healthy_) return unavailable("the engine has failed; its log says why");
  if (draining_) return unavailable("the server is shutting down");
  auto waiting = static_cast<int64_t>(num_submitted_ - num_started_);
  if (waiting >= options_.max_waiting) {
    return unavailable(std::to_string(waiting) + " requests are waiting already; try again later");
  }
  RequestId id = ++num_submitted_;
  auto drawn = philox(seed_, id, 0);
  uint64_t seed = request.params.seed.value_or(uint64_t{drawn[0]} << 32 | drawn[1]);
  inbox_.push(Submit{id, std::move(request), seed});
  return id;
}

void LocalEngine::drain() {
  std::unique_lock lock(mutex_);
  draining_ = true;
  published_.wait(lock, [&] { return num_finished_ == num_submitted_ || !healthy_; });
}

EngineStats LocalEngine::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void LocalEngine::run() {
  while (!inbox_.closed()) {
    try {
      const auto begin = std::chrono::steady_clock::now();
      const bool idle = plan_ahead_ ? step_ahead() : step();
      const std::chrono::duration<double> worked = std::chrono::steady_clock::now() - begin;
      worked_seconds_ += worked.count();
      deliver();
      publish();
      if (idle) inbox_.wait();
    } catch (const std::exception& fault) {
      break_down(fault.what());
    } catch (...) {
      break_down("an unknown exception");
    }
  }
  for (Command& command : inbox_.drain()) apply(std::move(command));
  scheduler_.finish_all(FinishReason::aborted, "");
  deliver();
}

// True where there was nothing to do.
bool LocalEngine::step() {
  for (Command& command : inbox_.drain()) apply(std::move(command));
  const Plan& plan = scheduler_.plan();
  if (!plan.empty() && launch(plan)) commit(plan);
  return plan.empty();
}

// While the device runs a step, the host plans and launches the next, then takes in the first's
// results. A sequence that turns out to have ended was computed once too often.
bool LocalEngine::step_ahead() {
  for (Command& command : inbox_.drain()) apply(std::move(command));
  const Plan& plan = scheduler_.plan();
  const bool running = !plan.empty() && launch(plan);
  const Plan* previous = std::exchange(launched_, running ? &plan : nullptr);
  if (previous != nullptr) commit(*previous);
  return plan.empty() && previous == nullptr;
}

void LocalEngine::apply(Command command) {
  if (auto* submit = std::get_if<Submit>(&command)) {
    scheduler_.add(submit->id, std::move(submit->request), submit->seed);
  } else if (auto* cancel = std::get_if<Cancel>(&command)) {
    scheduler_.cancel(cancel->id, cancel->choice);
  }
}

bool LocalEngine::launch(const Plan& plan) {
  try {
    runner_.launch(plan);
    return true;
  } catch (const std::exception& fault) {
    fail(plan, fault.what());
    return false;
  }
}

void LocalEngine::commit(const Plan& plan) {
  StepOutput output;
  try {
    output = runner_.collect();
  } catch (const std::exception& fault) {
    return fail(plan, fault.what());
  }
  faults_ = 0;
  scheduler_.commit(plan, std::move(output));
}

// A fault of the device ends the plan's sequences; the others go on.
void LocalEngine::fail(const Plan& plan, const std::string& why) {
  scheduler_.fail(plan, why);
  if (++faults_ >= kFaultsInARow) healthy_ = false;
}

void LocalEngine::deliver() {
  for (Delivery& delivery : scheduler_.take_deliveries()) {
    delivery.sink->push(std::move(delivery.event));
  }
}

void LocalEngine::publish() {
  {
    std::lock_guard lock(mutex_);
    stats_ = scheduler_.stats();
    stats_.host_seconds = worked_seconds_ - runner_.blocked_seconds();
    stats_.device_seconds = runner_.device_seconds();
    num_started_ = scheduler_.num_started();
    num_finished_ = scheduler_.num_finished();
  }
  published_.notify_all();
}

void LocalEngine::break_down(const std::string& why) {
  healthy_ = false;
  scheduler_.finish_all(FinishReason::error, why);
  deliver();
  publish();
}

}  // namespace

void StepTokens::add(int32_t tokens) {
  const auto bucket = std::ranges::lower_bound(kBounds, tokens) - kBounds.begin();
  ++counts[static_cast<size_t>(bucket)];
  sum += static_cast<uint64_t>(tokens);
}

Result<std::unique_ptr<Engine>> Engine::create(std::unique_ptr<Model> model,
                                               std::shared_ptr<Backend> backend,
                                               const EngineOptions& options) {
  if (Status status = check_options(options); !status.ok()) return status.error();
  Result<KvCache> cache = KvCache::create(*model, *backend, options);
  if (!cache) return cache.error();
  const EngineOptions chosen = resolved(options, backend->info());
  return std::unique_ptr<Engine>(std::make_unique<LocalEngine>(std::move(model), std::move(backend),
                                                               std::move(*cache), chosen));
}

}  // namespace matador
