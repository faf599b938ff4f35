#include "nn/attention.h"

#include "nn/print.h"

namespace matador {
namespace {

enum : size_t { kQ, kK, kV, kOut, kQNorm, kKNorm };

// Of the weights of a norm over heads of `width` features in all.
int64_t norm_width(const Attention& attention, int64_t width) {
  return attention.qk_norm.group == 0 || attention.head_norms_differ ? width
                                                                     : attention.qk_norm.group;
}

void normalise(const Attention& attention, Ops& ops, std::span<Tensor> qkv, const Slot& slot) {
  if (!attention.qk_norm) return;
  qkv[kQ] = ops.norm(qkv[kQ], attention.qk_norm, slot.weights[kQNorm]);
  qkv[kK] = ops.norm(qkv[kK], attention.qk_norm, slot.weights[kKNorm]);
}

void rotate(const Attention& attention, Ops& ops, std::span<Tensor> qkv, const Batch& batch) {
  if (attention.rope.dim == 0) return;
  ops.rope(qkv[kQ], attention.attend.head_dim, attention.rope, batch);
  ops.rope(qkv[kK], attention.attend.head_dim, attention.rope, batch);
}

}  // namespace

std::vector<Role> roles(const Attention& attention) {
  const Attend& attend = attention.attend;
  const int64_t q_width = int64_t{attend.num_heads} * attend.head_dim;
  const int64_t kv_width = int64_t{attend.num_kv_heads} * attend.head_dim;
  const auto projection = [&](std::string_view name, int64_t width) {
    return Role{
        name, Role::Kind::matrix, width, attention.hidden, attention.qkv_bias, attend.num_kv_heads};
  };
  std::vector<Role> result{
      projection("q", q_width),
      projection("k", kv_width),
      projection("v", kv_width),
      {"out", Role::Kind::matrix, attention.hidden, q_width, attention.out_bias}};
  if (attention.qk_norm) {
    result.push_back(norm_role("q_norm", attention.qk_norm, norm_width(attention, q_width)));
    result.back().parts = attend.num_heads;
    result.push_back(norm_role("k_norm", attention.qk_norm, norm_width(attention, kv_width)));
    result.back().parts = attend.num_kv_heads;
  }
  if (attention.sinks) {
    result.push_back(
        {.name = "sinks", .kind = Role::Kind::vector, .rows = 1, .cols = attend.num_heads});
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
  if (!attention.norm_after_rope) normalise(attention, ops, qkv, slot);
  if (attention.clip > 0) {
    for (Tensor& part : qkv) part = ops.clamp(part, attention.clip);
  }
  rotate(attention, ops, qkv, batch);
  if (attention.norm_after_rope) normalise(attention, ops, qkv, slot);
  ops.store_kv(*slot.kv, qkv[kK], qkv[kV], batch);
  const Weight* sinks = attention.sinks ? &w.back() : nullptr;
  return ops.linear(ops.attend(qkv[kQ], *slot.kv, attend, batch, sinks), w[kOut]);
}

std::string print(const Attention& attention) {
  const Attend& attend = attention.attend;
  std::string text = "attention(" + std::to_string(attend.num_heads) + " heads of " +
                     std::to_string(attend.head_dim) + ", " + std::to_string(attend.num_kv_heads) +
                     " kv heads, scale " + print(attend.scale);
  if (attend.softcap > 0) text += ", softcap " + print(attend.softcap);
  if (attend.window > 0) text += ", window " + std::to_string(attend.window);
  if (attend.alibi_max > 0) text += ", alibi " + print(attend.alibi_max);
  if (attend.alibi_scale != 1) text += " times " + print(attend.alibi_scale);
  if (attend.chunk > 0) text += ", chunks of " + std::to_string(attend.chunk);
  if (attend.temperature != 0) {
    text +=
        ", temperature " + print(attend.temperature) + " from " + print(attend.temperature_floor);
  }
  if (attention.sinks) text += ", sinks";
  if (attention.clip > 0) text += ", clipped to " + print(attention.clip);
  if (attention.qk_norm) text += ", qk " + print(attention.qk_norm);
  if (attention.head_norms_differ) text += " for each head";
  if (attention.norm_after_rope) text += " after rope";
  text += attention.rope.dim > 0 ? ", " + print(attention.rope) : ", no rope";
  if (attention.qkv_bias) text += ", qkv bias";
  if (attention.out_bias) text += ", out bias";
  return text + ")";
}

}  // namespace matador
