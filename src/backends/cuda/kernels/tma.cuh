// The bulk copy engine and the barriers it completes on (sm_90): one thread asks for a box of a
// matrix, which arrives in shared memory while others compute. PTX ISA 8.0, "Tensors" and
// "mbarrier".
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/tensor.h"

namespace matador::cuda {

// Columns of a box: rows of 128 bytes, the width of the swizzle that wgmma.cuh reads.
inline constexpr int kBoxColumns = 64;

// Describes a matrix of 16-bit numbers whose rows begin at multiples of 16 bytes, to be read in
// boxes of `box_rows` x kBoxColumns; what lies outside the matrix reads as zero.
CUtensorMap box_map(const Tensor& matrix, int box_rows);

// How long a line should stay in the L2 cache: weights are read once a step, inputs by all.
inline constexpr uint64_t kEvictFirst = 0x12F0000000000000;
inline constexpr uint64_t kEvictLast = 0x14F0000000000000;

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// In shared memory; its phases alternate between parity 0 and 1.
struct Barrier {
  uint64_t state;

  __device__ void initialise(uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&state)),
                 "r"(arrivals));
  }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&state))
                 : "memory");
  }
  // Arrives, and announces bytes that the phase also waits for.
  __device__ void arrive_expecting(uint32_t bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&state)),
        "r"(bytes)
        : "memory");
  }
  // Until the phase of this parity has ended.
  __device__ void wait(uint32_t parity) {
    uint32_t done = 0;
    while (done == 0) {
      asm volatile(
          "{\n.reg .pred p;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(shared_address(&state)), "r"(parity)
          : "memory");
    }
  }
};

// After barriers are initialised: so that the copy engine sees them.
__device__ __forceinline__ void fence_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// After ordinary writes to shared memory that the tensor cores or the copy engine use next.
__device__ __forceinline__ void fence_shared_writes() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Starts the copy of the box at this column and row; `to` is 1024-byte aligned.
__device__ __forceinline__ void load_box(void* to, const CUtensorMap& map, int column, int row,
                                         Barrier& barrier, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(shared_address(&barrier.state)), "r"(column), "r"(row), "l"(policy)
      : "memory");
}

}  // namespace matador::cuda
