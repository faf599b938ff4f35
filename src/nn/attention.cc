#include "nn/attention.h"

#include "nn/print.h"

namespace matador {
namespace {

enum : size_t { kQ, kK, kV, kOut, kQNorm, kKNorm };

}  // namespace

std::vector<Role> roles(const Attention& attention) {
  const Attend& attend = attention.attend;
  const int64_t q_width = int64_t{attend.num_heads} * attend.head_dim;
  const int64_t kv_width = int64_t{attend.num_kv_heads} * attend.head_dim;
  std::vector<Role> result{
      {"q", Role::Kind::matrix, q_width, attention.hidden, attention.qkv_bias},
      {"k", Role::Kind::matrix, kv_width, attention.hidden, attention.qkv_bias},
      {"v", Role::Kind::matrix, kv_width, attention.hidden, attention.qkv_bias},
      {"out", Role::Kind::matrix, attention.hidden, q_width, attention.out_bias}};
  if (attention.qk_norm) {
    result.push_back({"q_norm", Role::Kind::vector, 1, attend.head_dim});
    result.push_back({"k_norm", Role::Kind::vector, 1, attend.head_dim});
  }
  return result;
}

KvLayer kv_layer(const Attention& attention, KvType type, int32_t block_size) {
  KvLayer kv;
  kv.block_size = block_size;
  kv.num_kv_heads = attention.attend.num_kv_heads;
  kv.head_dim = attention.attend.head_dim;
  kv.type = type;
  return kv;
}

Tensor apply(const Attention& attention, Ops& ops, const Tensor& x, const Slot& slot,
             const Batch& batch) {
  const Attend& attend = attention.attend;
  const std::span<const Weight> w = slot.weights;
  const Weight* projections[] = {&w[kQ], &w[kK], &w[kV]};
  std::vector<Tensor> qkv = ops.linears(x, projections);
  if (attention.qk_norm) {
    qkv[kQ] = ops.norm(qkv[kQ], attention.qk_norm, w[kQNorm]);
    qkv[kK] = ops.norm(qkv[kK], attention.qk_norm, w[kKNorm]);
  }
  if (attention.rope.dim > 0) {
    ops.rope(qkv[kQ], attend.head_dim, attention.rope, batch);
    ops.rope(qkv[kK], attend.head_dim, attention.rope, batch);
  }
  ops.store_kv(*slot.kv, qkv[kK], qkv[kV], batch);
  return ops.linear(ops.attend(qkv[kQ], *slot.kv, attend, batch), w[kOut]);
}

std::string print(const Attention& attention) {
  const Attend& attend = attention.attend;
  std::string text = "attention(" + std::to_string(attend.num_heads) + " heads of " +
                     std::to_string(attend.head_dim) + ", " + std::to_string(attend.num_kv_heads) +
                     " kv heads, scale " + print(attend.scale);
  if (attend.softcap > 0) text += ", softcap " + print(attend.softcap);
  if (attend.window > 0) text += ", window " + std::to_string(attend.window);
  if (attention.qk_norm) text += ", qk " + print(attention.qk_norm);
  text += attention.rope.dim > 0 ? ", " + print(attention.rope) : ", no rope";
  if (attention.qkv_bias) text += ", qkv bias";
  if (attention.out_bias) text += ", out bias";
  return text + ")";
}

}  // namespace matador
