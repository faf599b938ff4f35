// E2M1: the four-bit floating point of MXFP4 and NVFP4.
#pragma once

#include <cstdint>

#include "core/device.h"

namespace matador::quant {

// Twice the value of each code, which makes all of them whole numbers. Bit 3 is the sign.
MATADOR_TABLE int8_t kTwiceE2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace matador::quant
