// Times steps of Llama-shaped models with random weights on the CUDA backend: planning, launching
// and waiting, without sampling.
//
//   matador_cuda_step 8b|1b [LABEL]    only the rows whose label begins so
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "cuda_bench.h"
#include "nn/attention.h"
#include "nn/mlp.h"

namespace matador {
namespace {

struct Dimensions {
  int32_t layers, hidden, inner, heads, kv_heads, head_dim, vocab;
};
constexpr Dimensions k8b{32, 4096, 14336, 32, 8, 128, 128256};
constexpr Dimensions k1b{16, 2048, 8192, 32, 8, 64, 128256};

class Network {
 public:
  Network(Backend& backend, const Dimensions& d, int32_t num_blocks) {
    const RandomWeights random(static_cast<size_t>(d.vocab) * static_cast<size_t>(d.hidden));
    attention_.hidden = mlp_.hidden = d.hidden;
    attention_.attend = {d.heads, d.kv_heads, d.head_dim,
                         1 / std::sqrt(static_cast<float>(d.head_dim))};
    attention_.rope.dim = d.head_dim;
    mlp_.inner = d.inner;
    table_ = random.make(backend, d.vocab, d.hidden);
    head_ = random.make(backend, d.vocab, d.hidden);
    norm_weight_ = random.make(backend, 1, d.hidden);
    for (int32_t i = 0; i < d.layers; ++i) {
      Layer layer;
      for (const Role& role : roles(attention_)) {
        layer.attention.push_back(random.make(backend, role.rows, role.cols));
      }
      for (const Role& role : roles(mlp_)) {
        layer.mlp.push_back(random.make(backend, role.rows, role.cols));
      }
      layer.kv = kv_layer(attention_, KvType::bf16, kBlockSize);
      layer.kv.num_blocks = num_blocks;
      layer.kv.block_bytes = backend.kv_block_bytes(layer.kv);
      layer.memory = backend.allocate(static_cast<size_t>(layer.kv.block_bytes * num_blocks));
      layer.kv.blocks = layer.memory->data();
      layers_.push_back(std::move(layer));
    }
  }

  Tensor forward(Ops& ops, const Batch& batch) const {
    Tensor x = ops.embed(table_, batch, 1);
    Tensor h = ops.norm(x, norm_, norm_weight_);
    for (const Layer& layer : layers_) {
      const Tensor mixed = apply(attention_, ops, h, {layer.attention, &layer.kv}, batch);
      std::tie(h, x) = ops.add_norm(x, mixed, norm_, norm_weight_);
      const Tensor after_attention[] = {h, x};
      ops.release_except(after_attention);
      const Tensor inner = apply(mlp_, ops, h, {layer.mlp, nullptr}, batch);
      std::tie(h, x) = ops.add_norm(x, inner, norm_, norm_weight_);
      const Tensor after_mlp[] = {h, x};
      ops.release_except(after_mlp);
    }
    return ops.scale_logits(ops.linear(ops.take(h, batch.logit_tokens), head_), 1, 0);
  }

 private:
  struct Layer {
    std::vector<Weight> attention, mlp;
    KvLayer kv;
    std::unique_ptr<Buffer> memory;
  };
  Attention attention_;
  Mlp mlp_;
  Norm norm_{.kind = Norm::Kind::rms};
  Weight table_, head_, norm_weight_;
  std::vector<Layer> layers_;
};

void time_steps(const char* label, Backend& backend, const Network& network, const Work& work) {
  const double median = median_time([&] {
    backend.plan(work.batch);
    Tensor logits;
    backend.run({}, [&](Ops& ops) { logits = network.forward(ops, work.batch); });
    backend.to_host(logits.columns(0, 8));
  });
  std::printf("%-28s %9.3f ms %12.0f tokens/s\n", label, median * 1e3,
              static_cast<double>(work.ids.size()) / median);
  std::fflush(stdout);
}

struct Row {
  std::string_view label;
  int32_t sequences, cached, tokens;
};
constexpr Row kRows[] = {
    {"decode 1 at 256", 1, 255, 1},          {"decode 8 at 256", 8, 255, 1},
    {"decode 32 at 256", 32, 255, 1},        {"decode 64 at 256", 64, 255, 1},
    {"decode 256 at 256", 256, 255, 1},      {"long decode 1 at 16000", 1, 15999, 1},
    {"long decode 16 at 8000", 16, 7999, 1}, {"prefill 1 x 8192", 1, 0, 8192},
    {"prefill 8 x 1024", 8, 0, 1024},
};

void run(const Dimensions& dimensions, std::string_view label) {
  const auto backend = make_cuda_backend({});
  const auto start = std::chrono::steady_clock::now();
  const Network network(*backend, dimensions, 256 * 512 / kBlockSize);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s, weights there after %.1f s\n", backend->info().name.c_str(), seconds.count());
  for (const Row& row : kRows) {
    if (!row.label.starts_with(label)) continue;
    time_steps(row.label.data(), *backend, network, Work(row.sequences, row.cached, row.tokens));
  }
}

}  // namespace
}  // namespace matador

int main(int argc, char** argv) {
  const std::string_view shape = argc > 1 ? argv[1] : "8b";
  matador::run(shape == "1b" ? matador::k1b : matador::k8b, argc > 2 ? argv[2] : "");
  return 0;
}
