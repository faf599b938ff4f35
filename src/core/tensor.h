// Tensor: a view of a matrix of activations in a backend's memory; never an owner.
//
// Batches are ragged, so activations are always [tokens, features]: heads, gates and experts are
// runs of features. A view may be a slice of columns, hence the stride.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace matador {

enum class DType : uint8_t { f32, f16, bf16, i32 };

constexpr size_t size_of(DType dtype) { return dtype == DType::f32 || dtype == DType::i32 ? 4 : 2; }
constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float32";
    case DType::f16: return "float16";
    case DType::bf16: return "bfloat16";
    case DType::i32: return "int32";
  }
  return "?";
}

struct Tensor {
  std::byte* data = nullptr;
  DType dtype = DType::f32;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;  // elements between the starts of two rows, >= cols

  explicit operator bool() const { return data != nullptr; }

  // Columns [begin, begin + count) of the same memory.
  Tensor columns(int64_t begin, int64_t count) const {
    return {data + begin * static_cast<int64_t>(size_of(dtype)), dtype, rows, count, stride};
  }
  // Valid only where the memory is the host's and the dtype is T's.
  template <class T>
  T* row(int64_t index) const {
    return reinterpret_cast<T*>(data) + index * stride;
  }
};

}  // namespace matador
