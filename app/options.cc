#include "options.h"

#include <map>

#include "terminal.h"

namespace matador {

namespace {

struct DType {
  Precision precision;
  std::optional<KvType> kv;  // none: what the device likes
};

const std::map<std::string, DType>& dtypes() {
  static const std::map<std::string, DType> table = {
      {"auto", {Precision::fast, std::nullopt}},    {"half", {Precision::fast, KvType::f16}},
      {"float16", {Precision::fast, KvType::f16}},  {"bfloat16", {Precision::fast, KvType::bf16}},
      {"float32", {Precision::exact, KvType::f32}}, {"float", {Precision::exact, KvType::f32}}};
  return table;
}

const std::map<std::string, std::optional<KvType>>& kv_dtypes() {
  static const std::map<std::string, std::optional<KvType>> table = {{"auto", std::nullopt},
                                                                     {"float16", KvType::f16},
                                                                     {"bfloat16", KvType::bf16},
                                                                     {"float32", KvType::f32}};
  return table;
}

template <class T>
std::vector<std::string> keys(const std::map<std::string, T>& table) {
  std::vector<std::string> names;
  for (const auto& [name, value] : table) names.push_back(name);
  return names;
}

}  // namespace

Precision precision_of(const ModelOptions& options) { return dtypes().at(options.dtype).precision; }
std::optional<KvType> kv_type_of(const ModelOptions& options) {
  const std::optional<KvType> asked = kv_dtypes().at(options.kv_cache_dtype);
  return asked ? asked : dtypes().at(options.dtype).kv;
}

void add_model(CLI::App& command, std::string& model) {
  command.add_option("MODEL", model, "Folder, .gguf file or name of an installed model")
      ->required();
}

void add_model_options(CLI::App& command, ModelOptions& options) {
  add_model(command, options.model);
  command
      .add_option("--device", options.device.name,
                  "cpu, cuda or cuda:N; auto: the first GPU that this build can use, else the CPU")
      ->capture_default_str();
  command
      .add_option("--dtype", options.dtype,
                  "Activations and KV cache. auto: what the weights' kernels like best, 16-bit "
                  "cache; float32: nothing is rounded below 32 bits")
      ->check(CLI::IsMember(keys(dtypes())))
      ->capture_default_str();
  command
      .add_option("--kv-cache-dtype", options.kv_cache_dtype,
                  "KV cache alone; auto: as --dtype says, else what the device likes")
      ->check(CLI::IsMember(keys(kv_dtypes())))
      ->capture_default_str();
  command.add_option("--threads", options.device.threads, "CPU threads; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command.add_flag("--reproducible", options.device.reproducible,
                   "On a GPU: a token's bits depend on its context alone, not on its batch (on the "
                   "CPU they never do); prompts take several times as long");
}

void add_engine_options(CLI::App& command, EngineFlags& flags) {
  command
      .add_option("--max-model-len", flags.max_model_len,
                  "Tokens of prompt and answer together; 0: as many as the model was made for "
                  "and the cache can hold")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--max-num-seqs", flags.max_num_seqs, "Sequences running at once")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--max-num-batched-tokens", flags.max_num_batched_tokens,
                  "Tokens computed in one step; longer prompts are split. 0: 256 on a CPU, 2048 on "
                  "a GPU")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--kv-cache-memory", flags.kv_cache_memory,
                  "Bytes of KV cache (512MiB, 4GiB...); 0: by the model and the free memory")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("0");
  command
      .add_option("--gpu-memory-utilization", flags.gpu_memory_utilization,
                  "Share of a GPU's memory for weights and KV cache together")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  command.add_flag("!--no-enable-prefix-caching,--enable-prefix-caching", flags.prefix_caching,
                   "Whether the cache of equal prompt beginnings is shared (it is)");
  command.add_option("--seed", flags.seed, "Of requests that bring none")->capture_default_str();
}

void add_sampling_options(CLI::App& command, SamplingFlags& flags) {
  command.add_option("--temperature", flags.temperature, "0: always the likeliest token")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--top-p", flags.top_p, "Only the likeliest tokens of this total probability")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--top-k", flags.top_k, "Only this many of the likeliest tokens; 0: all")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--min-p", flags.min_p, "Only tokens this likely beside the likeliest")
      ->check(CLI::Range(0.0, 1.0));
  command
      .add_option("--repetition-penalty", flags.repetition_penalty,
                  "Above 1: less of what was said before")
      ->check(CLI::PositiveNumber);
  command.add_option("--seed", flags.seed, "Same seed, same text");
}

void apply(const SamplingFlags& flags, SamplingParams& params) {
  params.temperature = flags.temperature.value_or(params.temperature);
  params.top_p = flags.top_p.value_or(params.top_p);
  params.top_k = flags.top_k.value_or(params.top_k);
  params.min_p = flags.min_p.value_or(params.min_p);
  params.repetition_penalty = flags.repetition_penalty.value_or(params.repetition_penalty);
  if (flags.seed) params.seed = flags.seed;
}

void add_tokens(CLI::App& command, std::vector<int32_t>& tokens) {
  command.add_option("--tokens", tokens, "Token ids, as 1,2,3")->delimiter(',')->required();
}

ServeOptions serve_options(const ModelOptions& model, const EngineFlags& engine) {
  ServeOptions options;
  options.engine.max_model_len = engine.max_model_len;
  options.engine.max_num_seqs = engine.max_num_seqs;
  options.engine.max_num_batched_tokens = engine.max_num_batched_tokens;
  options.engine.kv_cache_bytes = engine.kv_cache_memory;
  options.engine.gpu_memory_utilization = engine.gpu_memory_utilization;
  options.engine.kv_type = kv_type_of(model);
  options.engine.prefix_caching = engine.prefix_caching;
  options.engine.seed = engine.seed;
  options.load.precision = precision_of(model);
  options.device = model.device;
  return options;
}

Result<std::unique_ptr<ServedModel>> load(const ModelOptions& model, const EngineFlags& engine) {
  ServeOptions options = serve_options(model, engine);
  ProgressLine progress("loading " + model.model);
  options.load.progress = [&](uint64_t done, uint64_t total) { progress.show(done, total); };
  return load_served_model(model.model, options);
}

}  // namespace matador
