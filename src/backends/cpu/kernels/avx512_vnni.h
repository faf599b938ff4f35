// Avx512Vnni: Avx512 whose products of bytes are one instruction: unsigned by signed bytes, four
// products summed exactly.
#pragma once

#include "backends/cpu/kernels/avx512.h"

namespace matador::cpu {

struct Avx512Vnni : Avx512 {
  static constexpr bool kOffsetSigned = true;

  MATADOR_DEVICE static I dot(I sums, B weights, const int8_t* x) {
    return _mm512_dpbusd_epi32(sums, weights, broadcast(x));
  }
};

}  // namespace matador::cpu
