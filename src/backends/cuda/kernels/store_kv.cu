// Writes a step's keys and values to their slots of the paged cache.
#include "backends/cuda/kernels/kernels.h"
#include "backends/cuda/kernels/kv.cuh"

namespace matador::cuda {
namespace {

constexpr int kThreads = 256;

template <class T, class K>
__global__ void store_kv_kernel(KvView<K> kv, View<const T> k, View<const T> v,
                                const int32_t* slots) {
  const int64_t token = blockIdx.x;
  const int64_t block = slots[token] / kv.block_size;
  const int offset = slots[token] % kv.block_size;
  for (int i = threadIdx.x; i < kv.num_heads * kv.head_dim; i += kThreads) {
    K* key = kv.key(block, i / kv.head_dim, offset) + i % kv.head_dim;
    store(key, load(k.row(token) + i));
    if (kv.latent == 0) store(key + kv.value_offset(), load(v.row(token) + i));
  }
}

}  // namespace

void store_kv(const KvLayer& kv, const Tensor& k, const Tensor& v, const BatchArrays& batch,
              cudaStream_t stream) {
  if (k.rows == 0) return;
  with_type(k.dtype, [&]<class T>() {
    with_kv_type(kv.type, [&]<class K>() {
      store_kv_kernel<<<static_cast<unsigned>(k.rows), kThreads, 0, stream>>>(
          view<K>(kv), view<const T>(k), view<const T>(v), batch.slots);
    });
  });
  check_launch("store_kv_kernel");
}

}  // namespace matador::cuda
