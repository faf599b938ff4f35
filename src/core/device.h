// MATADOR_DEVICE: marks the small functions that kernels are built from (number conversion, block
// decoding). They are compiled once for each instruction set, so they must be inlined: an
// out-of-line copy made for one set could be linked into code that runs on another.
#pragma once

#ifdef __CUDACC__
#define MATADOR_DEVICE __host__ __device__ __forceinline__
#else
#define MATADOR_DEVICE [[gnu::always_inline]] inline
#endif
