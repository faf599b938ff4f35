// Times the CUDA backend's heaviest kernels alone, at the shapes of Llama 3 8B, against what the
// card can do: bytes of weights or cache, and operations, over time.
//
//   matador_cuda_kernels [reproducible]
#include <cmath>
#include <cstdio>
#include <vector>

#include "cuda_bench.h"

namespace matador {
namespace {

constexpr int kRepeats = 16;  // on different memory, so that caches do not help

void print(const char* label, int32_t tokens, double seconds, double bytes, double operations) {
  std::printf("%-22s %6d tokens %10.1f us %7.2f TB/s %7.0f TFLOP/s\n", label, tokens, seconds * 1e6,
              bytes / seconds * 1e-12, operations / seconds * 1e-12);
  std::fflush(stdout);
}

struct Product {
  const char* label;
  std::vector<int64_t> rows;
  int64_t cols;
};

void time_product(Backend& backend, const RandomWeights& random, const Product& product) {
  std::vector<std::vector<Weight>> weights(kRepeats);
  int64_t values = 0;
  for (auto& set : weights) {
    for (int64_t rows : product.rows) set.push_back(random.make(backend, rows, product.cols));
  }
  for (int64_t rows : product.rows) values += rows * product.cols;
  const Weight table = random.make(backend, 8192, product.cols);
  for (int32_t tokens : {1, 8, 16, 32, 64, 128, 256, 1024, 8192}) {
    const Work work(tokens <= 256 ? tokens : 1, 0, tokens <= 256 ? 1 : tokens);
    const double seconds = median_time([&] {
      backend.plan(work.batch);
      Tensor x;
      backend.run({}, [&](Ops& ops) {
        x = ops.embed(table, work.batch, 1);
        for (const auto& set : weights) {
          std::vector<const Weight*> pointers;
          for (const Weight& w : set) pointers.push_back(&w);
          ops.linears(x, pointers);
          ops.release_except({&x, 1});
        }
      });
      backend.to_host(x.columns(0, 8));
    });
    print(product.label, tokens, seconds / kRepeats, 2.0 * static_cast<double>(values),
          2.0 * static_cast<double>(values) * tokens);
  }
}

struct Context {
  const char* label;
  int32_t sequences, cached, tokens;
};

void time_attention(Backend& backend, const RandomWeights& random, const Context& context) {
  const Attend attend{32, 8, 128, 1 / std::sqrt(128.0F)};
  const Work work(context.sequences, context.cached, context.tokens);
  KvLayer kv;
  kv.block_size = kBlockSize;
  kv.num_kv_heads = attend.num_kv_heads;
  kv.head_dim = attend.head_dim;
  kv.type = KvType::bf16;
  kv.num_blocks = static_cast<int32_t>(work.tables.size());
  kv.block_bytes = backend.kv_block_bytes(kv);
  std::vector<std::unique_ptr<Buffer>> caches(kRepeats);
  for (auto& cache : caches) {
    cache = backend.allocate(static_cast<size_t>(kv.block_bytes * kv.num_blocks));
  }
  const Weight table = random.make(backend, 8192, 4096);
  const double seconds = median_time([&] {
    backend.plan(work.batch);
    Tensor q;
    backend.run({}, [&](Ops& ops) {
      q = ops.embed(table, work.batch, 1);
      for (const auto& cache : caches) {
        kv.blocks = cache->data();
        ops.attend(q, kv, attend, work.batch);
        ops.release_except({&q, 1});
      }
    });
    backend.to_host(q.columns(0, 8));
  });
  const double tokens = context.tokens, length = context.cached + (tokens + 1) / 2;
  const double pairs = context.sequences * tokens * length;
  const double read = context.sequences * (context.cached + tokens);
  print(context.label, context.sequences * context.tokens, seconds / kRepeats,
        read * 2 * 2 * attend.num_kv_heads * attend.head_dim,
        pairs * 4 * attend.num_heads * attend.head_dim);
}

void run(const CudaOptions& options) {
  const RandomWeights random(size_t{2} * 14336 * 4096);
  const std::vector<Product> products = {{"qkv", {4096, 1024, 1024}, 4096},
                                         {"attention output", {4096}, 4096},
                                         {"gate and up", {14336, 14336}, 4096},
                                         {"down", {4096}, 14336}};
  // A backend each: one takes steps of the same shape for the same program.
  for (const Product& product : products) {
    time_product(*make_cuda_backend(options), random, product);
  }
  for (const Context& context : {Context{"decode 1 at 256", 1, 255, 1},
                                 {"decode 64 at 256", 64, 255, 1},
                                 {"decode 256 at 256", 256, 255, 1},
                                 {"decode 1 at 16000", 1, 15999, 1},
                                 {"decode 16 at 8000", 16, 7999, 1},
                                 {"prefill 1 x 8192", 1, 0, 8192},
                                 {"prefill 8 x 1024", 8, 0, 1024}}) {
    time_attention(*make_cuda_backend(options), random, context);
  }
}

}  // namespace
}  // namespace matador

int main(int argc, char**) {
  matador::run({.reproducible = argc > 1});
  return 0;
}
