// MATADOR_DEVICE: marks the small functions that kernels are built from (number conversion, block
// decoding). They are compiled once for each instruction set, so they must be inlined: an
// out-of-line copy made for one set could be linked into code that runs on another.
//
// MATADOR_TABLE: declares a table that such functions look up at run time.
#pragma once

#ifdef __CUDACC__
#define MATADOR_DEVICE __host__ __device__ __forceinline__
#else
#define MATADOR_DEVICE [[gnu::always_inline]] inline
#endif

#ifdef __CUDA_ARCH__
#define MATADOR_TABLE static __device__ constexpr
#else
#define MATADOR_TABLE inline constexpr
#endif
