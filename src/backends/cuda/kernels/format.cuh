// From a weight's format to its type, for kernels that are built once for each.
#pragma once

#include <algorithm>

#include "backends/cuda/kernels/element.cuh"
#include "quant/all_formats.h"
#include "quant/format.h"

namespace matador::cuda {

// Calls visit.operator()<F>() for the format's type.
template <class Visitor>
void with_format(const Format& format, Visitor&& visit) {
  AllFormats::for_each([&]<class F>() {
    if (F::name == format.name) visit.template operator()<F>();
  });
}

}  // namespace matador::cuda
