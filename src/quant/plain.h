// Plain: the format of weights stored as ordinary numbers, one value a block.
#pragma once

#include <type_traits>

#include "core/device.h"

namespace matador::quant {

template <class T>
struct Plain {
  static constexpr int values = 1;
  struct Block {
    T value;
  };
  MATADOR_DEVICE static void decode(const Block& block, float* out) {
    *out = static_cast<float>(block.value);
  }
  MATADOR_DEVICE static void encode(const float* in,
                                    Block& block) requires std::is_floating_point_v<T> {
    block.value = *in;
  }
};

}  // namespace matador::quant
