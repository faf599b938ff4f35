#include "backends/cpu/kernels/avx512_vnni.h"

#include "backends/cpu/kernels/table.h"

namespace matador::cpu {

const Kernels& avx512_vnni_kernels() {
  static constexpr Kernels kTable = make_kernels<Avx512Vnni>();
  return kTable;
}

}  // namespace matador::cpu
