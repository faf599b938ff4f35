// Attention: shares a step's queries out to the threads (kernels/attend.h computes them).
#pragma once

#include "backends/batch.h"
#include "backends/cpu/arena.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/matmul.h"
#include "core/tensor.h"

namespace matador::cpu {

int64_t kv_block_bytes(const KvLayer& kv);

void store_kv(const MatmulContext& context, const KvLayer& kv, const Tensor& k, const Tensor& v,
              const Batch& batch);

// What queries attend to.
struct Attended {
  const KvLayer& kv;
  const Attend& attend;
  const Batch& batch;
  const float* sinks = nullptr;  // one a head, or null
};
void attend(const MatmulContext& context, const Tensor& q, const Attended& to, const Tensor& out);

}  // namespace matador::cpu
