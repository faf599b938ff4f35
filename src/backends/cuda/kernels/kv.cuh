// Where state lies in the paged cache: a block holds the keys of its tokens, head by head, and then
// their values, [2, num_kv_heads, block_size, head_dim]. A head's rows are one piece of memory. Of a
// latent layer the values are the keys' first features, and the second half is missing.
#pragma once

#include "backends/cuda/kernels/element.cuh"
#include "backends/params.h"

namespace matador::cuda {

template <class K>
struct KvView {
  K* blocks;
  int64_t block_stride;  // in elements
  int32_t block_size;
  int32_t num_heads;
  int32_t head_dim;
  int32_t latent;

  __device__ int64_t key_offset(int64_t block, int head, int offset) const {
    return block * block_stride + (int64_t{head} * block_size + offset) * head_dim;
  }
  __device__ K* key(int64_t block, int head, int offset) const {
    return blocks + key_offset(block, head, offset);
  }
  // From a key to the value beside it.
  __device__ int64_t value_offset() const {
    return latent > 0 ? 0 : int64_t{num_heads} * block_size * head_dim;
  }
};

template <class K>
KvView<K> view(const KvLayer& kv) {
  return {static_cast<K*>(kv.blocks), kv.block_bytes / static_cast<int64_t>(sizeof(K)),
          kv.block_size, kv.num_kv_heads, kv.head_dim, kv.latent};
}

// Calls visit.operator()<K>() for the type of a cached number.
template <class Visitor>
void with_kv_type(KvType type, Visitor&& visit) {
  switch (type) {
    case KvType::f32: return visit.template operator()<float>();
    case KvType::f16: return visit.template operator()<__half>();
    case KvType::bf16: return visit.template operator()<__nv_bfloat16>();
  }
}

}  // namespace matador::cuda
