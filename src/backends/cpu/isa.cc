#include "backends/cpu/isa.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "backends/cpu/kernels/kernels.h"
#include "core/check.h"

namespace matador {
namespace {

struct Entry {
  Isa isa;
  std::string_view name;
  bool (*available)();
  const cpu::Kernels& (*kernels)();
};

#ifdef __x86_64__
// Asked of the processor itself, as not every compiler's __builtin_cpu_supports knows it.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
bool has_vnni() { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }
bool has_bf16() { return has_vnni() && __builtin_cpu_supports("avx512bf16"); }
#endif

constexpr Entry kEntries[] = {
    {Isa::portable, "portable", [] { return true; }, cpu::portable_kernels},
#ifdef __x86_64__
    {Isa::avx2, "avx2", has_avx2, cpu::avx2_kernels},
    {Isa::avx512, "avx512", has_avx512, cpu::avx512_kernels},
    {Isa::avx512_vnni, "avx512-vnni", has_vnni, cpu::avx512_vnni_kernels},
    {Isa::avx512_bf16, "avx512-bf16", has_bf16, cpu::avx512_bf16_kernels},
#endif
};

}  // namespace

std::string_view name_of(Isa isa) {
  for (const Entry& entry : kEntries) {
    if (entry.isa == isa) return entry.name;
  }
  return "?";
}

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Entry& entry : kEntries) {
    if (entry.available()) isas.push_back(entry.isa);
  }
  return isas;
}

Isa best_isa() {
  Isa best = available_isas().back();
#ifdef __x86_64__
  // Intel's cores take two cycles for a product of bf16 pairs, and so do as well without: on a
  // Sapphire Rapids 65 GOP/s against 92 to 129 for widening to f32.
  if (best == Isa::avx512_bf16 && __builtin_cpu_is("intel")) best = Isa::avx512_vnni;
#endif
  return best;
}

const cpu::Kernels& cpu::kernels_for(Isa isa) {
  for (const Entry& entry : kEntries) {
    if (entry.isa == isa) return entry.kernels();
  }
  CHECK(false) << "no kernels for instruction set " << static_cast<int>(isa);
  return portable_kernels();
}

}  // namespace matador
