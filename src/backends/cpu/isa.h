// Isa: the instruction sets that kernels are built for, lowest first.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace matador {

enum class Isa : uint8_t { portable, avx2, avx512, avx512_vnni, avx512_bf16 };

std::string_view name_of(Isa isa);
// Those this machine can run, lowest first; never empty.
std::vector<Isa> available_isas();
// The fastest of them.
Isa best_isa();

namespace cpu {
struct Kernels;
// The one place where kernels are chosen. `isa` must be available.
const Kernels& kernels_for(Isa isa);
}  // namespace cpu

}  // namespace matador
