#include "backends/cpu/kernels/portable.h"

#include "backends/cpu/kernels/table.h"

namespace matador::cpu {

const Kernels& portable_kernels() {
  static constexpr Kernels kTable = make_kernels<Portable>();
  return kTable;
}

}  // namespace matador::cpu
