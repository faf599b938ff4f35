// matador_kernel_bench [--cpu-time] [--threads N] [--isa NAME] [--rows N] [--cols N] [FORMAT...]
//
// How fast the CPU backend multiplies and attends: weight bytes and operations a second for each
// format and number of tokens. On a machine that others use, --cpu-time with one thread counts only
// the time that the system gave to this process.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "backends/cpu/cpu.h"

namespace matador {
namespace {

struct Arguments {
  CpuOptions cpu;
  bool cpu_time = false;
  int64_t rows = 8192, cols = 2048;
  std::vector<std::string> formats;
};

double now(bool cpu_time) {
  if (cpu_time) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The best of some runs of about 20 ms.
template <class Body>
double seconds_of(bool cpu_time, const Body& body) {
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    int count = 0;
    const double begin = now(cpu_time);
    double elapsed = 0;
    while (elapsed < 0.02) {
      body();
      ++count;
      elapsed = now(cpu_time) - begin;
    }
    best = std::min(best, elapsed / count);
  }
  return best;
}

void bench_linear(Backend& backend, const Format& format, const Arguments& arguments) {
  const int64_t values = arguments.rows * arguments.cols;
  const auto bytes = static_cast<size_t>(format.bytes(values));
  auto data = std::make_shared<std::vector<std::byte>>(bytes, std::byte{0x11});
  HostWeight host;
  host.format = &format;
  host.rows = arguments.rows;
  host.cols = arguments.cols;
  host.data = data->data();
  host.owner = data;
  host.precision = Precision::fast;
  const Weight weight = backend.load(std::move(host));
  for (int64_t tokens : {1, 2, 4, 8, 16, 32, 128, 512}) {
    std::vector<float> x(static_cast<size_t>(tokens * arguments.cols), 0.5F);
    const Tensor input{reinterpret_cast<std::byte*>(x.data()), DType::f32, tokens, arguments.cols,
                       arguments.cols};
    const double seconds = seconds_of(
        arguments.cpu_time, [&] { backend.run({}, [&](Ops& ops) { ops.linear(input, weight); }); });
    std::printf("%-8s %4d tokens  %8.1f us  %6.1f GB/s  %7.1f GOP/s\n",
                std::string(format.name).c_str(), static_cast<int>(tokens), seconds * 1e6,
                static_cast<double>(bytes) / seconds / 1e9,
                2 * static_cast<double>(values * tokens) / seconds / 1e9);
  }
}

// `tokens` queries at the end of a context of `length` keys.
void bench_attend(Backend& backend, KvType type, int32_t tokens, int32_t length, bool cpu_time) {
  constexpr int32_t kHeads = 9, kKvHeads = 3, kHeadDim = 64, kBlock = 16;
  KvLayer kv;
  kv.num_blocks = length / kBlock;
  kv.block_size = kBlock;
  kv.num_kv_heads = kKvHeads;
  kv.head_dim = kHeadDim;
  kv.type = type;
  kv.block_bytes = backend.kv_block_bytes(kv);
  const auto buffer = backend.allocate(static_cast<size_t>(kv.block_bytes * kv.num_blocks));
  kv.blocks = buffer->data();
  std::vector<int32_t> ids(static_cast<size_t>(tokens)), positions(ids.size()),
      table(static_cast<size_t>(kv.num_blocks));
  std::iota(positions.begin(), positions.end(), length - tokens);
  std::iota(table.begin(), table.end(), 0);
  const std::vector<int32_t> start = {0, tokens}, lengths = {length};
  Batch batch;
  batch.token_ids = ids;
  batch.positions = positions;
  batch.query_start = start;
  batch.context_lens = lengths;
  batch.block_tables = table;
  batch.block_table_stride = kv.num_blocks;
  batch.block_size = kBlock;
  std::vector<float> q(static_cast<size_t>(tokens * kHeads * kHeadDim), 0.01F);
  const Tensor input{reinterpret_cast<std::byte*>(q.data()), DType::f32, tokens, kHeads * kHeadDim,
                     kHeads * kHeadDim};
  const Attend attend{.num_heads = kHeads, .num_kv_heads = kKvHeads, .head_dim = kHeadDim};
  const double seconds = seconds_of(
      cpu_time, [&] { backend.run({}, [&](Ops& ops) { ops.attend(input, kv, attend, batch); }); });
  const double keys = tokens * (length - (tokens - 1) / 2.0);
  std::printf("attend %s  %4d queries  %5d keys  %8.1f us  %6.1f GB/s  %7.1f GOP/s\n",
              type == KvType::f32   ? "f32 "
              : type == KvType::f16 ? "f16 "
                                    : "bf16",
              tokens, length, seconds * 1e6,
              static_cast<double>(kv.block_bytes * kv.num_blocks) / seconds / 1e9,
              4 * keys * kHeads * kHeadDim / seconds / 1e9);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (option.rfind("--", 0) != 0) {
      arguments.formats.push_back(option);
      continue;
    }
    if (option == "--cpu-time") {
      arguments.cpu_time = true;
      continue;
    }
    if (option == "--threads") arguments.cpu.threads = std::atoi(value);
    if (option == "--rows") arguments.rows = std::atoll(value);
    if (option == "--cols") arguments.cols = std::atoll(value);
    for (Isa isa : available_isas()) {
      if (option == "--isa" && name_of(isa) == value) arguments.cpu.isa = isa;
    }
    ++i;
  }
  if (arguments.formats.empty()) {
    arguments.formats = {"f32", "bf16", "q4_0", "q4_1", "q5_0", "q8_0", "q4_k", "q6_k"};
  }
  return arguments;
}

int bench(const Arguments& arguments) {
  const auto backend = make_cpu_backend(arguments.cpu);
  std::printf("%s\n", backend->info().name.c_str());
  for (const std::string& name : arguments.formats) {
    const Format* format = find_format(name);
    if (format == nullptr) {
      std::fprintf(stderr, "no weight format is named '%s'\n", name.c_str());
      return 1;
    }
    bench_linear(*backend, *format, arguments);
  }
  for (KvType type : {KvType::f32, KvType::f16, KvType::bf16}) {
    bench_attend(*backend, type, 1, 4096, arguments.cpu_time);
    bench_attend(*backend, type, 512, 512, arguments.cpu_time);
  }
  return 0;
}

}  // namespace
}  // namespace matador

int main(int argc, char** argv) { return matador::bench(matador::parse(argc, argv)); }
