#include "backends/cpu/kernels/avx512_vnni.h"
#include "backends/cpu/kernels/table.h"

namespace matador::cpu {
namespace {

struct Avx512Bf16 : Avx512Vnni {
  using Avx512Vnni::broadcast;
  MATADOR_DEVICE static I broadcast(const BFloat16* pair) {
    return Avx512Vnni::broadcast(reinterpret_cast<const int8_t*>(pair));
  }
  // To each lane the two products of its pair, each rounded once.
  MATADOR_DEVICE static F dot_pairs(F sums, I weights, I pair) {
    return _mm512_dpbf16_ps(sums, reinterpret_cast<__m512bh>(weights),
                            reinterpret_cast<__m512bh>(pair));
  }
};

}  // namespace

const Kernels& avx512_bf16_kernels() {
  static constexpr Kernels kTable = [] {
    Kernels table = make_kernels<Avx512Bf16>();
    table.multiply_narrow = multiply_plain<Avx512Bf16, DotPairStrip<Avx512Bf16>>;
    return table;
  }();
  return kTable;
}

}  // namespace matador::cpu
