// StoredRole: where the values of a role lie among the tensors of a checkpoint, and how they become
// a weight.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/backend.h"
#include "nn/role.h"
#include "weights/checkpoint.h"

namespace matador {

// Which rows of a matrix that holds several roles are this one's: runs of `run` rows, `stride`
// apart.
struct RowMap {
  int64_t first = 0;
  int64_t run = 0;
  int64_t stride = 0;

  int64_t operator()(int64_t row) const { return first + row / run * stride + row % run; }
};

struct StoredRole {
  Role role;
  // None for a role that is not stored; one; or one for each matrix of a stack, or part of a
  // vector.
  std::vector<const StoredTensor*> tensors = {};
  std::vector<const StoredTensor*> biases = {};
  RowMap map = {};
  bool transposed = false;  // a row of the weight is a column of the tensor
  int64_t line = 0;         // transposed: values between two of a row
  // Values of the tensor for one matrix of a stack, with the other roles it holds; likewise of the
  // bias.
  int64_t matrix_values = 0;
  int64_t matrix_rows = 0;

  // Of the weight.
  const Format* format() const;
  int64_t rows() const { return role.count * role.rows; }
  HostWeight load(Precision precision) const;

 private:
  std::vector<float> load_bias() const;
  void load_matrices(HostWeight& host) const;
  // Whether the rows lie together in one tensor, in order.
  bool is_slice() const;
  const std::byte* matrix(int32_t index) const;
};

}  // namespace matador
