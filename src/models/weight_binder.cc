#include "models/weight_binder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

namespace matador {
namespace {

std::string full_name(std::string_view prefix, std::string_view role) {
  return prefix.empty() ? std::string(role) : std::string(prefix) + "." + std::string(role);
}

std::string print(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

// Old exports saved what is computed from the config: frequencies and causal masks.
bool is_derived(std::string_view tensor) {
  constexpr std::string_view kDerived[] = {".inv_freq", ".attn.bias", ".attn.masked_bias",
                                           ".attention.bias", ".attention.masked_bias"};
  return tensor.starts_with("rope_f") ||
         std::any_of(std::begin(kDerived), std::end(kDerived),
                     [&](std::string_view end) { return tensor.ends_with(end); });
}

std::string list(std::string_view what, const std::vector<std::string>& items) {
  constexpr size_t kShown = 12;
  std::string text = std::to_string(items.size()) + " " + std::string(what);
  for (size_t i = 0; i < items.size() && i < kShown; ++i) text += (i == 0 ? ": " : ", ") + items[i];
  if (items.size() > kShown) text += " and " + std::to_string(items.size() - kShown) + " more";
  return text;
}

int64_t values_of(const StoredTensor& tensor) {
  return std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t{1}, std::multiplies<>());
}

// Of a vector, which some checkpoints give as [heads, head_dim].
bool fits(const StoredTensor& tensor, const std::vector<int64_t>& shape) {
  return tensor.shape == shape || (shape.size() == 1 && values_of(tensor) == shape.front());
}

std::vector<float> decode(const StoredTensor& tensor) {
  std::vector<float> values(static_cast<size_t>(values_of(tensor)));
  tensor.format->decode(tensor.data, values.data(), static_cast<int64_t>(values.size()));
  return values;
}

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

}  // namespace

WeightBinder::WeightBinder(const Checkpoint& checkpoint, const Names& names)
    : checkpoint_(checkpoint), names_(names) {}

void WeightBinder::bind(std::string_view prefix, int32_t layer, std::span<const Role> roles,
                        std::span<Weight> targets) {
  CHECK(roles.size() == targets.size());
  for (size_t i = 0; i < roles.size(); ++i) {
    Request request{.role = roles[i]};
    if (roles[i].stored) request = locate(roles[i], candidates(prefix, layer, roles[i], roles));
    request.target = &targets[i];
    requests_.push_back(request);
  }
}

void WeightBinder::ignore(std::string_view role) {
  for (const Names::Place& place : names_.places(role, 0)) used_.insert(place.tensor + ".weight");
}

std::vector<WeightBinder::Candidate> WeightBinder::candidates(
    std::string_view prefix, int32_t layer, const Role& role,
    std::span<const Role> siblings) const {
  std::vector<Candidate> result;
  const std::string wanted = full_name(prefix, role.name);
  for (Names::Place& place : names_.places(wanted, layer)) {
    const bool by_part = place.layout == Layout::by_part;
    Candidate candidate{.tensor = std::move(place.tensor),
                        .transposed = place.layout == Layout::transposed};
    candidate.map.run = by_part ? role.rows / role.parts : role.rows;
    bool all_known = true;
    for (std::string_view held : place.roles) {
      const auto sibling = std::find_if(siblings.begin(), siblings.end(), [&](const Role& other) {
        return full_name(prefix, other.name) == held;
      });
      if (sibling == siblings.end()) {
        all_known = false;  // a fused tensor of which this sub-layer lacks a part
        break;
      }
      if (held == wanted) {
        candidate.map.first = by_part ? candidate.map.stride : candidate.rows;
      }
      candidate.rows += sibling->rows;
      candidate.map.stride += sibling->rows / sibling->parts;
    }
    if (all_known) result.push_back(std::move(candidate));
  }
  CHECK(!result.empty()) << "no name for the role " << wanted;
  return result;
}

std::vector<int64_t> WeightBinder::Candidate::shape(const Role& role) const {
  if (role.kind == Role::Kind::vector) return {is_split() ? role.cols / role.parts : role.cols};
  return transposed ? std::vector<int64_t>{role.cols, rows} : std::vector<int64_t>{rows, role.cols};
}

std::string WeightBinder::Candidate::name(int32_t part) const {
  const size_t at = tensor.find("{}");
  if (at == std::string::npos) return tensor;
  return tensor.substr(0, at) + std::to_string(part) + tensor.substr(at + 2);
}

// One that fits, else one that is there (to complain about), else the usual one.
const WeightBinder::Candidate& WeightBinder::choose(
    const Role& role, const std::vector<Candidate>& candidates) const {
  auto stored = [&](const Candidate& candidate) {
    return checkpoint_.find(candidate.name() + ".weight");
  };
  auto chosen = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
    return stored(candidate) != nullptr && fits(*stored(candidate), candidate.shape(role));
  });
  if (chosen == candidates.end()) {
    chosen = std::find_if(candidates.begin(), candidates.end(), stored);
  }
  return chosen == candidates.end() ? candidates.front() : *chosen;
}

WeightBinder::Request WeightBinder::locate(const Role& role,
                                           const std::vector<Candidate>& candidates) {
  const Candidate& chosen = choose(role, candidates);
  Request request{.role = role, .map = chosen.map, .transposed = chosen.transposed};
  if (chosen.is_split()) {
    use_parts(chosen, request);
    return request;
  }
  request.weight = use(chosen.tensor + ".weight", chosen.shape(role), chosen.transposed);
  if (role.bias) {
    const int64_t size = role.kind == Role::Kind::vector ? role.cols : chosen.rows;
    request.bias = use(chosen.tensor + ".bias", {size}, false);
  }
  return request;
}

void WeightBinder::use_parts(const Candidate& candidate, Request& request) {
  CHECK(request.role.kind == Role::Kind::vector && !request.role.bias);
  for (int32_t part = 0; part < request.role.parts; ++part) {
    request.parts.push_back(
        use(candidate.name(part) + ".weight", candidate.shape(request.role), false));
  }
  request.weight = request.parts.front();
}

const StoredTensor* WeightBinder::use(const std::string& name, const std::vector<int64_t>& shape,
                                      bool transposed) {
  const StoredTensor* tensor = checkpoint_.find(name);
  if (tensor == nullptr) {
    missing_.push_back(name + " " + print(shape));
  } else if (used_.insert(name).second) {
    // Blocks lie along the rows of the file, and cannot be turned.
    const int block = tensor->format->block_values;
    const bool whole_blocks = transposed ? block == 1 : shape.back() % block == 0;
    if (!fits(*tensor, shape) || !whole_blocks) {
      misshapen_.push_back(name + " is " + std::string(tensor->format->name) + " " +
                           print(tensor->shape) + ", expected " + print(shape));
    }
  }
  return tensor;
}

Status WeightBinder::check(std::string_view architecture) const {
  std::vector<std::string> unread;
  for (const StoredTensor& tensor : checkpoint_.tensors()) {
    if (!used_.contains(tensor.name) && !is_derived(tensor.name)) unread.push_back(tensor.name);
  }
  std::string problems;
  auto report = [&](std::string_view what, const std::vector<std::string>& items) {
    if (items.empty()) return;
    problems += (problems.empty() ? "" : "; ") + list(what, items);
  };
  report("missing", missing_);
  report("of another shape than the config asks for", misshapen_);
  report("that the model has no use for", unread);
  if (problems.empty()) return {};
  return invalid_argument(checkpoint_.path() + ": the tensors do not make a " +
                          std::string(architecture) + ": " + problems);
}

void WeightBinder::load(Backend& backend, const LoadOptions& options) const {
  const uint64_t total = bytes();
  uint64_t done = 0;
  for (const Request& request : requests_) {
    HostWeight host = host_weight(request, options);
    done += static_cast<uint64_t>(host.format->bytes(host.cols) * host.rows);
    *request.target = backend.load(std::move(host));
    if (options.progress) options.progress(done, total);
  }
}

HostWeight WeightBinder::host_weight(const Request& request, const LoadOptions& options) {
  HostWeight host;
  host.format = format_of(request);
  host.rows = request.role.rows;
  host.cols = request.role.cols;
  host.precision = options.precision;
  host.is_table = request.role.kind == Role::Kind::table;
  const bool is_vector = request.role.kind == Role::Kind::vector;
  if (request.bias != nullptr) {
    const std::vector<float> all = decode(*request.bias);
    if (is_vector) {
      host.bias = all;
    } else {
      for (int64_t row = 0; row < host.rows; ++row) {
        host.bias.push_back(all[static_cast<size_t>(request.map(row))]);
      }
    }
  }
  if (is_vector) {
    own(host, vector_of(request));
  } else {
    set_matrix(request, host);
  }
  return host;
}

std::vector<float> WeightBinder::vector_of(const Request& request) {
  if (request.weight == nullptr) {
    return std::vector<float>(static_cast<size_t>(request.role.cols), 1.0F);
  }
  std::vector<float> values;
  for (const StoredTensor* part : request.parts) {
    const std::vector<float> more = decode(*part);
    values.insert(values.end(), more.begin(), more.end());
  }
  return request.parts.empty() ? decode(*request.weight) : values;
}

// As it lies in the file where its rows lie together, else brought together.
void WeightBinder::set_matrix(const Request& request, HostWeight& host) {
  const StoredTensor& stored = *request.weight;
  host.format = stored.format;
  const int64_t row_bytes = stored.format->bytes(host.cols);
  if (request.transposed) {
    const int64_t size = stored.format->block_bytes;
    std::vector<std::byte> bytes(static_cast<size_t>(host.rows * row_bytes));
    std::byte* to = bytes.data();
    for (int64_t row = 0; row < host.rows; ++row) {
      const std::byte* from = stored.data + request.map(row) * size;
      for (int64_t col = 0; col < host.cols; ++col, to += size) {
        std::memcpy(to, from + col * stored.shape.back() * size, static_cast<size_t>(size));
      }
    }
    own(host, std::move(bytes));
  } else if (request.map.run < host.rows) {
    std::vector<std::byte> bytes;
    bytes.reserve(static_cast<size_t>(host.rows * row_bytes));
    for (int64_t row = 0; row < host.rows; row += request.map.run) {
      const std::byte* from = stored.data + request.map(row) * row_bytes;
      bytes.insert(bytes.end(), from, from + request.map.run * row_bytes);
    }
    own(host, std::move(bytes));
  } else {
    host.data = stored.data + request.map.first * row_bytes;
    host.owner = stored.owner;
    host.mapped = stored.mapped;
  }
  if (request.role.unit_rows) {
    own(host, unit_rows(host));
    host.format = find_format("f32");
  }
}

const Format* WeightBinder::format_of(const Request& request) {
  const bool computed = request.role.kind == Role::Kind::vector || request.role.unit_rows;
  return computed ? find_format("f32") : request.weight->format;
}

int64_t WeightBinder::num_parameters() const {
  int64_t count = 0;
  for (const Request& request : requests_) {
    if (request.weight != nullptr) count += request.role.rows * request.role.cols;
    if (request.bias != nullptr) count += request.role.rows;
  }
  return count;
}

uint64_t WeightBinder::bytes() const {
  int64_t total = 0;
  for (const Request& request : requests_) {
    total += format_of(request)->bytes(request.role.cols) * request.role.rows;
  }
  return static_cast<uint64_t>(total);
}

}  // namespace matador
