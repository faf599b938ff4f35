#include "support/tiny_served_model.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace matador {
namespace {

constexpr char kChatMl[] =
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

void append_utf8(std::string& out, int code_point) {
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else {
    out += static_cast<char>(0xC0 | code_point >> 6);
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  }
}

// GPT-2's spelling of bytes: printable ones as themselves, the others from U+0100 on.
std::vector<std::string> byte_spellings() {
  std::vector<std::string> spellings;
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    append_utf8(spellings.emplace_back(), printable ? byte : next++);
  }
  return spellings;
}

}  // namespace

std::shared_ptr<const Tokenizer> byte_tokenizer() {
  GgufVocab vocab;
  vocab.model = "gpt2";
  vocab.pre = "gpt-2";
  vocab.tokens = byte_spellings();
  vocab.types.assign(256, 1);
  for (auto special : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) {
    vocab.tokens.emplace_back(special);
    vocab.types.push_back(3);
  }
  vocab.eos = kTurnEnd;
  auto tokenizer = Tokenizer::from_gguf(vocab);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  return *tokenizer;
}

std::vector<int32_t> bytes_of(const std::string& text) {
  std::vector<int32_t> ids;
  for (char c : text) ids.push_back(static_cast<uint8_t>(c));
  return ids;
}

StubEngine::StubEngine(StubEngineOptions options)
    : options_(std::move(options)), thread_([this] { run(); }) {
  info_.vocab_size = kTinyVocabSize;
}

StubEngine::~StubEngine() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<RequestId> StubEngine::submit(Request request) {
  std::lock_guard lock(mutex_);
  RequestId id = static_cast<RequestId>(++num_submitted_);
  Running running;
  running.ready = std::chrono::steady_clock::now() + options_.prefill;
  running.produced.resize(static_cast<size_t>(request.n));
  running.open.assign(static_cast<size_t>(request.n), true);
  last_ = request;
  last_.sink = nullptr;
  running.request = std::move(request);
  running_.emplace(id, std::move(running));
  changed_.notify_all();
  return id;
}

void StubEngine::cancel(RequestId id, int32_t choice) {
  std::lock_guard lock(mutex_);
  auto it = running_.find(id);
  if (it == running_.end()) return;
  ++num_cancelled_;
  Running& running = it->second;
  for (int32_t i = 0; i < running.request.n; ++i) {
    auto at = static_cast<size_t>(i);
    if ((choice >= 0 && choice != i) || !running.open[at]) continue;
    running.open[at] = false;
    running.request.sink->push({.kind = Event::Kind::finished,
                                .choice = i,
                                .logprobs = {},
                                .prompt_logprobs = {},
                                .reason = FinishReason::aborted,
                                .error = {}});
  }
  if (std::count(running.open.begin(), running.open.end(), true) == 0) running_.erase(it);
}

EngineStats StubEngine::stats() const {
  std::lock_guard lock(mutex_);
  EngineStats stats;
  stats.num_running = static_cast<int32_t>(running_.size());
  stats.generation_tokens = num_tokens_;
  for (uint64_t i = 0; i < stats.generation_tokens; ++i) stats.step_tokens.add(1);
  return stats;
}

int StubEngine::num_running() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(running_.size());
}
int StubEngine::num_submitted() const {
  std::lock_guard lock(mutex_);
  return num_submitted_;
}
int StubEngine::num_cancelled() const {
  std::lock_guard lock(mutex_);
  return num_cancelled_;
}
Request StubEngine::last_request() const {
  std::lock_guard lock(mutex_);
  return last_;
}

void StubEngine::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (running_.empty()) {
      changed_.wait(lock);
      continue;
    }
    for (auto it = running_.begin(); it != running_.end();) {
      Running& running = it->second;
      advance(running);
      bool open = std::count(running.open.begin(), running.open.end(), true) > 0;
      it = open ? std::next(it) : running_.erase(it);
    }
    lock.unlock();
    std::this_thread::sleep_for(std::max(options_.step, std::chrono::microseconds(1)));
    lock.lock();
  }
}

void StubEngine::advance(Running& running) {
  if (std::chrono::steady_clock::now() < running.ready) return;
  if (!running.prompt_done) {
    running.prompt_done = true;
    Event event;
    event.kind = Event::Kind::prompt_done;
    event.queued = event.scheduled = event.time = std::chrono::steady_clock::now();
    if (running.request.params.prompt_logprobs)
      for (size_t i = 1; i < running.request.prompt.size(); ++i)
        event.prompt_logprobs.push_back({{running.request.prompt[i], -0.5F, 1}, {}});
    running.request.sink->push(std::move(event));
  }
  for (int32_t choice = 0; choice < running.request.n; ++choice)
    if (running.open[static_cast<size_t>(choice)]) produce(running, choice);
}

void StubEngine::produce(Running& running, int32_t choice) {
  auto at = static_cast<size_t>(choice);
  const SamplingParams& params = running.request.params;
  auto finish = [&](FinishReason reason, int32_t stop_token) {
    Event event;
    event.kind = Event::Kind::finished;
    event.choice = choice;
    event.reason = reason;
    event.stop_token = stop_token;
    event.error = options_.fail_with;
    running.open[at] = false;
    running.request.sink->push(std::move(event));
  };
  if (!options_.fail_with.empty()) return finish(FinishReason::error, -1);
  if (running.produced[at] >= params.max_tokens) return finish(FinishReason::length, -1);
  int32_t token = token_at(running, choice, running.produced[at]++);
  ++num_tokens_;
  Event event;
  event.choice = choice;
  event.token = token;
  event.time = std::chrono::steady_clock::now();
  if (params.logprobs) {
    event.logprobs = TokenLogprobs{{token, -0.25F, 1}, {}};
    for (int32_t i = 0; i < *params.logprobs; ++i)
      event.logprobs->top.push_back({(token + i) % 256, -0.25F - static_cast<float>(i), i + 1});
  }
  running.request.sink->push(std::move(event));
  const auto& stops = params.stop_token_ids;
  bool stop = std::find(stops.begin(), stops.end(), token) != stops.end();
  if (stop || (token == kTurnEnd && !params.ignore_eos))
    finish(FinishReason::stop, token);
  else if (running.produced[at] >= params.max_tokens)
    finish(FinishReason::length, -1);
}

int32_t StubEngine::token_at(const Running& running, int32_t choice, int32_t index) const {
  auto i = static_cast<size_t>(index);
  if (options_.ends && i >= options_.reply.size()) return kTurnEnd;
  auto byte = static_cast<uint8_t>(options_.reply[i % options_.reply.size()]);
  if (running.request.params.seed && choice > 0 && std::isalpha(byte)) return 'A' + choice;
  return byte;
}

TinyServedModel::TinyServedModel(StubEngineOptions options) {
  auto stub = std::make_unique<StubEngine>(std::move(options));
  engine = stub.get();
  served.path = "tiny";
  served.engine = std::move(stub);
  served.tokenizer = byte_tokenizer();
  served.grammars = std::make_unique<Grammars>(served.tokenizer);
  auto chat_template = ChatTemplate::compile(kChatMl, R"({"eos_token": "<|im_end|>"})");
  EXPECT_TRUE(chat_template.ok()) << chat_template.error().message;
  served.chat_template = *chat_template;
  served.eos_token_ids = {kTurnEnd};
}

}  // namespace matador
