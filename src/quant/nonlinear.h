// The sixteen levels of IQ4_NL and IQ4_XS.
#pragma once

#include <cstdint>

#include "core/device.h"

namespace matador::quant {

MATADOR_TABLE int8_t kNonlinearLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                             1,    13,   25,  38,  53,  69,  89,  113};

}  // namespace matador::quant
