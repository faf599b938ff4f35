#include "backends/cpu/kernels/avx512.h"
#include "backends/cpu/kernels/table.h"

namespace matador::cpu {
namespace {

// VNNI multiplies unsigned by signed bytes and sums four products in one instruction, exactly.
struct Avx512Vnni : Avx512 {
  static constexpr bool kOffsetSigned = true;

  MATADOR_DEVICE static I dot(I sums, B weights, const int8_t* x) {
    return _mm512_dpbusd_epi32(sums, weights, broadcast(x));
  }
};

}  // namespace

const Kernels& avx512_vnni_kernels() {
  static constexpr Kernels kTable = make_kernels<Avx512Vnni>();
  return kTable;
}

}  // namespace matador::cpu
