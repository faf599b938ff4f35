// The kernels of one instruction set, as the table that the rest of the backend calls.
#pragma once

#include "backends/cpu/kernels/attend.h"
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/strips.h"

namespace matador::cpu {

template <class V>
constexpr Kernels make_kernels() {
  return {
      .strips = strip_kernels<V>(),
      .narrow = Elementwise<V>::narrow,
      .quantise = Elementwise<V>::quantise,
      .add = Elementwise<V>::add,
      .multiply = Elementwise<V>::multiply,
      .activate = Elementwise<V>::activate,
      .clamp = Elementwise<V>::clamp,
      .gated = Elementwise<V>::gated,
      .scale_logits = Elementwise<V>::scale_logits,
      .norm = Elementwise<V>::norm,
      .rope = Elementwise<V>::rope,
      .store_kv = {AttendKernel<V, float>::store, AttendKernel<V, Half>::store,
                   AttendKernel<V, BFloat16>::store},
      .attend = {AttendKernel<V, float>::attend, AttendKernel<V, Half>::attend,
                 AttendKernel<V, BFloat16>::attend},
      .merge = AttendKernel<V, float>::merge,
  };
}

}  // namespace matador::cpu
