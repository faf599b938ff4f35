#include "models/stored_role.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

namespace matador {
namespace {

// Gives `host` bytes of its own.
template <class T>
void own(HostWeight& host, std::vector<T> values) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  host.data = reinterpret_cast<const std::byte*>(owner->data());
  host.owner = std::move(owner);
  host.mapped = false;
}

// Baichuan 2's head: rows of length 1 (below 1e-12, torch's functional.normalize divides by that).
std::vector<float> unit_rows(const HostWeight& matrix) {
  std::vector<float> values(static_cast<size_t>(matrix.rows * matrix.cols));
  const int64_t row_bytes = matrix.format->bytes(matrix.cols);
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const std::span<float> out(values.data() + row * matrix.cols, static_cast<size_t>(matrix.cols));
    matrix.format->decode(matrix.data + row * row_bytes, out.data(), matrix.cols);
    double squares = 0;
    for (float value : out) squares += double{value} * value;
    const double length = std::max(std::sqrt(squares), 1e-12);
    for (float& value : out) value = static_cast<float>(value / length);
  }
  return values;
}

// All values of some tensors, one after another.
std::vector<float> decode_all(std::span<const StoredTensor* const> tensors) {
  std::vector<float> values;
  for (const StoredTensor* tensor : tensors) {
    const int64_t count = std::accumulate(tensor->shape.begin(), tensor->shape.end(), int64_t{1},
                                          std::multiplies<>());
    const size_t begin = values.size();
    values.resize(begin + static_cast<size_t>(count));
    tensor->format->decode(tensor->data, values.data() + begin, count);
  }
  return values;
}

}  // namespace

const Format* StoredRole::format() const {
  const bool computed = role.kind == Role::Kind::vector || role.unit_rows;
  return computed ? find_format("f32") : tensors.front()->format;
}

HostWeight StoredRole::load(Precision precision) const {
  HostWeight host;
  host.format = format();
  host.count = role.count;
  host.rows = role.rows;
  host.cols = role.cols;
  host.precision = precision;
  host.is_table = role.kind == Role::Kind::table;
  host.bias = load_bias();
  if (role.kind != Role::Kind::vector) {
    load_matrices(host);
  } else {
    own(host, tensors.empty() ? std::vector<float>(static_cast<size_t>(host.cols), 1.0F)
                              : decode_all(tensors));
  }
  return host;
}

std::vector<float> StoredRole::load_bias() const {
  std::vector<float> all = decode_all(biases);
  if (role.kind == Role::Kind::vector || all.empty()) return all;
  std::vector<float> result;
  for (int32_t i = 0; i < role.count; ++i) {
    for (int64_t row = 0; row < role.rows; ++row) {
      result.push_back(all[static_cast<size_t>(i * matrix_rows + map(row))]);
    }
  }
  return result;
}

bool StoredRole::is_slice() const {
  const bool whole = matrix_rows == role.rows;  // or other roles' rows lie between two matrices
  return !transposed && map.run == role.rows && tensors.size() == 1 && (role.count == 1 || whole);
}

const std::byte* StoredRole::matrix(int32_t index) const {
  if (tensors.size() > 1) return tensors[static_cast<size_t>(index)]->data;
  return tensors.front()->data + tensors.front()->format->bytes(index * matrix_values);
}

// As it lies in the file where its rows lie together, else brought together.
void StoredRole::load_matrices(HostWeight& host) const {
  const Format& stored = *tensors.front()->format;
  host.format = &stored;
  const int64_t row_bytes = stored.bytes(host.cols);
  if (is_slice()) {
    host.data = tensors.front()->data + map.first * row_bytes;
    host.owner = tensors.front()->owner;
    host.mapped = tensors.front()->mapped;
  } else {
    std::vector<std::byte> bytes(static_cast<size_t>(rows() * row_bytes));
    std::byte* to = bytes.data();
    for (int32_t i = 0; i < role.count; ++i) {
      const std::byte* from = matrix(i);
      for (int64_t row = 0; row < role.rows; ++row, to += row_bytes) {
        if (!transposed) {
          std::memcpy(to, from + map(row) * row_bytes, static_cast<size_t>(row_bytes));
          continue;
        }
        const int64_t size = stored.block_bytes;
        for (int64_t col = 0; col < role.cols; ++col) {
          std::memcpy(to + col * size, from + (col * line + map(row)) * size,
                      static_cast<size_t>(size));
        }
      }
    }
    own(host, std::move(bytes));
  }
  if (role.unit_rows) {
    own(host, unit_rows(host));
    host.format = find_format("f32");
  }
}

}  // namespace matador
