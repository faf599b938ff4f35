#include "backends/backend.h"

#include "backends/random_weight.h"
#include "core/check.h"

namespace matador {

std::vector<Tensor> Ops::linears(const Tensor& x, std::span<const Weight* const> weights) {
  std::vector<Tensor> results;
  results.reserve(weights.size());
  for (const Weight* weight : weights) results.push_back(linear(x, *weight));
  return results;
}

Tensor Ops::gated(const Tensor& gate, const Tensor& up, Act act) {
  return multiply(activate(gate, act), up);
}

std::pair<Tensor, Tensor> Ops::add_norm(const Tensor& x, const Tensor& y, const Norm& norm,
                                        const Weight& w) {
  Tensor sum = add(x, y, 1);
  return {this->norm(sum, norm, w), sum};
}

void Ops::release_except(std::span<const Tensor>) {}

void Ops::draw(const Tensor&, const Draws&) { CHECK(false) << "this device does not draw"; }

DrawResults Backend::take_draws() {
  CHECK(false) << "this device does not draw";
  return {};
}

Weight Backend::make_random(HostWeight shape, uint64_t seed) {
  const auto row_bytes = static_cast<size_t>(shape.format->bytes(shape.cols));
  auto data = std::make_shared<std::vector<std::byte>>(row_bytes * shape.count * shape.rows);
  std::vector<float> row(static_cast<size_t>(shape.cols));
  uint64_t index = 0;
  for (int64_t r = 0; r < shape.count * shape.rows; ++r) {
    for (float& value : row) value = random_weight(seed, index++);
    shape.format->encode(row.data(), data->data() + r * row_bytes, shape.cols);
  }
  shape.data = data->data();
  shape.owner = std::move(data);
  return load(std::move(shape));
}

}  // namespace matador
