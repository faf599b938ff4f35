#include "nn/mla.h"

#include "nn/print.h"

namespace matador {
namespace {

int32_t key_dim(const Mla& mla) { return mla.latent + mla.rope.dim; }

// [num_tokens, num_heads * (nope_dim + rope.dim)], the last part of each head rotated.
Tensor queries(const Mla& mla, Ops& ops, const Tensor& x, std::span<const Weight> w,
               const Batch& batch) {
  const Tensor from = mla.q_latent > 0 ? ops.norm(ops.linear(x, w[0]), mla.norm, w[1]) : x;
  Tensor q = ops.linear(from, w[mla.q_latent > 0 ? 2 : 0]);
  Tensor rotated = q.columns(mla.nope_dim, q.cols - mla.nope_dim);
  ops.rope(rotated, mla.nope_dim + mla.rope.dim, mla.rope, batch);
  return q;
}

}  // namespace

std::vector<Role> roles(const Mla& mla) {
  const auto matrix = [](std::string_view name, int64_t rows, int64_t cols) {
    return Role{.name = name, .rows = rows, .cols = cols};
  };
  const auto heads = [&](std::string_view name, int64_t rows, int64_t cols) {
    return Role{.name = name, .rows = rows, .cols = cols, .count = mla.num_heads};
  };
  const int64_t q_width = int64_t{mla.num_heads} * (mla.nope_dim + mla.rope.dim);
  std::vector<Role> result;
  if (mla.q_latent > 0) {
    result.push_back(matrix("q_a", mla.q_latent, mla.hidden));
    result.back().bias = mla.bias;
    result.push_back(norm_role("q_a_norm", mla.norm, mla.q_latent));
    result.push_back(matrix("q_b", q_width, mla.q_latent));
  } else {
    result.push_back(matrix("q", q_width, mla.hidden));
  }
  result.push_back(matrix("kv_a", key_dim(mla), mla.hidden));
  result.back().bias = mla.bias;
  result.push_back(norm_role("kv_a_norm", mla.norm, mla.latent));
  result.push_back(heads("k_b", mla.latent, mla.nope_dim));
  result.push_back(heads("v_b", mla.value_dim, mla.latent));
  result.push_back(matrix("out", mla.hidden, int64_t{mla.num_heads} * mla.value_dim));
  result.back().bias = mla.bias;
  return result;
}

KvLayer kv_layer(const Mla& mla, KvType type, int32_t block_size) {
  KvLayer kv;
  kv.block_size = block_size;
  kv.num_kv_heads = 1;
  kv.head_dim = key_dim(mla);
  kv.latent = mla.latent;
  kv.type = type;
  return kv;
}

Tensor apply(const Mla& mla, Ops& ops, const Tensor& x, const Slot& slot, const Batch& batch) {
  const size_t first = mla.q_latent > 0 ? 3 : 1;
  const std::span<const Weight> w = slot.weights.subspan(first);
  enum : size_t { kKvA, kKvANorm, kKB, kVB, kOut };
  const Tensor q = queries(mla, ops, x, slot.weights, batch);
  const Tensor kv = ops.linear(x, w[kKvA]);
  const Tensor latent = ops.norm(kv.columns(0, mla.latent), mla.norm, w[kKvANorm]);
  Tensor shared_key = kv.columns(mla.latent, mla.rope.dim);
  ops.rope(shared_key, mla.rope.dim, mla.rope, batch);
  const Tensor key = ops.concat(latent, shared_key);
  ops.store_kv(*slot.kv, key, key, batch);
  const Attend attend{
      .num_heads = mla.num_heads, .num_kv_heads = 1, .head_dim = key_dim(mla), .scale = mla.scale};
  const Tensor seen = ops.attend(ops.linear_heads(q, w[kKB]), *slot.kv, attend, batch);
  return ops.linear(ops.linear_heads(seen, w[kVB]), w[kOut]);
}

std::string print(const Mla& mla) {
  std::string text = "mla(" + std::to_string(mla.num_heads) + " heads of " +
                     std::to_string(mla.nope_dim) + " + " + std::to_string(mla.rope.dim) + " and " +
                     std::to_string(mla.value_dim) + ", latent " + std::to_string(mla.latent);
  if (mla.q_latent > 0) text += ", queries' " + std::to_string(mla.q_latent);
  text += ", scale " + print(mla.scale) + ", " + print(mla.norm) + ", " + print(mla.rope);
  return text + (mla.bias ? ", bias)" : ")");
}

}  // namespace matador
