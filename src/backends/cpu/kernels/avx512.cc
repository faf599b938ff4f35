#include "backends/cpu/kernels/avx512.h"

#include "backends/cpu/kernels/table.h"

namespace matador::cpu {

const Kernels& avx512_kernels() {
  static constexpr Kernels kTable = make_kernels<Avx512>();
  return kTable;
}

}  // namespace matador::cpu
