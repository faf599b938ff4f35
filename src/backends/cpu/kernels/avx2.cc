#include "backends/cpu/kernels/avx2.h"

#include "backends/cpu/kernels/table.h"

namespace matador::cpu {

const Kernels& avx2_kernels() {
  static constexpr Kernels kTable = make_kernels<Avx2>();
  return kTable;
}

}  // namespace matador::cpu
