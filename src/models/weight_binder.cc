#include "models/weight_binder.h"

#include <algorithm>
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

// Old exports saved what is computed from the config.
bool is_derived(std::string_view tensor) {
  return tensor.ends_with(".rotary_emb.inv_freq") || tensor.starts_with("rope_f");
}

std::string list(std::string_view what, const std::vector<std::string>& items) {
  constexpr size_t kShown = 12;
  std::string text = std::to_string(items.size()) + " " + std::string(what);
  for (size_t i = 0; i < items.size() && i < kShown; ++i) text += (i == 0 ? ": " : ", ") + items[i];
  if (items.size() > kShown) text += " and " + std::to_string(items.size() - kShown) + " more";
  return text;
}

std::vector<float> decode(const StoredTensor& tensor, int64_t first, int64_t count) {
  std::vector<float> all(static_cast<size_t>(tensor.shape.back()));
  tensor.format->decode(tensor.data, all.data(), tensor.shape.back());
  return {all.begin() + first, all.begin() + first + count};
}

}  // namespace

WeightBinder::WeightBinder(const Checkpoint& checkpoint, const Names& names)
    : checkpoint_(checkpoint), names_(names) {}

void WeightBinder::bind(std::string_view prefix, int32_t layer, std::span<const Role> roles,
                        std::span<Weight> targets) {
  CHECK(roles.size() == targets.size());
  for (size_t i = 0; i < roles.size(); ++i) {
    Request request = locate(roles[i], candidates(prefix, layer, roles[i], roles));
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
    Candidate candidate{std::move(place.tensor)};
    bool all_known = true;
    for (std::string_view held : place.roles) {
      const auto sibling = std::find_if(siblings.begin(), siblings.end(), [&](const Role& other) {
        return full_name(prefix, other.name) == held;
      });
      if (sibling == siblings.end()) {
        all_known = false;  // a fused tensor of which this sub-layer lacks a part
        break;
      }
      if (held == wanted) candidate.first_row = candidate.rows;
      candidate.rows += sibling->rows;
    }
    if (all_known) result.push_back(std::move(candidate));
  }
  CHECK(!result.empty()) << "no name for the role " << wanted;
  return result;
}

WeightBinder::Request WeightBinder::locate(const Role& role,
                                           const std::vector<Candidate>& candidates) {
  auto shape = [&](const Candidate& candidate) -> std::vector<int64_t> {
    if (role.kind == Role::Kind::vector) return {role.cols};
    return {candidate.rows, role.cols};
  };
  auto stored = [&](const Candidate& candidate) {
    return checkpoint_.find(candidate.tensor + ".weight");
  };
  // One that fits, else one that is there (to complain about), else the usual one.
  auto chosen = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
    return stored(candidate) != nullptr && stored(candidate)->shape == shape(candidate);
  });
  if (chosen == candidates.end()) {
    chosen = std::find_if(candidates.begin(), candidates.end(), stored);
  }
  if (chosen == candidates.end()) chosen = candidates.begin();
  Request request{.role = role, .first_row = chosen->first_row};
  request.weight = use(chosen->tensor + ".weight", shape(*chosen));
  if (role.bias) {
    const int64_t size = role.kind == Role::Kind::vector ? role.cols : chosen->rows;
    request.bias = use(chosen->tensor + ".bias", {size});
  }
  return request;
}

const StoredTensor* WeightBinder::use(const std::string& name, const std::vector<int64_t>& shape) {
  const StoredTensor* tensor = checkpoint_.find(name);
  if (tensor == nullptr) {
    missing_.push_back(name + " " + print(shape));
  } else if (used_.insert(name).second) {
    const bool whole_blocks = shape.back() % tensor->format->block_values == 0;
    if (tensor->shape != shape || !whole_blocks) {
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

HostWeight WeightBinder::host_weight(const Request& request, const LoadOptions& options) const {
  HostWeight host;
  host.rows = request.role.rows;
  host.cols = request.role.cols;
  host.precision = options.precision;
  host.is_table = request.role.kind == Role::Kind::table;
  if (request.bias != nullptr) {
    const bool whole = request.role.kind == Role::Kind::vector;
    host.bias = decode(*request.bias, request.first_row, whole ? host.cols : host.rows);
  }
  if (request.role.kind == Role::Kind::vector) {
    auto values = std::make_shared<const std::vector<float>>(decode(*request.weight, 0, host.cols));
    host.format = find_format("f32");
    host.data = reinterpret_cast<const std::byte*>(values->data());
    host.owner = std::move(values);
  } else {
    host.format = request.weight->format;
    host.data = request.weight->data + request.first_row * host.format->bytes(host.cols);
    host.owner = request.weight->owner;
    host.mapped = request.weight->mapped;
  }
  return host;
}

int64_t WeightBinder::num_parameters() const {
  int64_t count = 0;
  for (const Request& request : requests_) {
    count += request.role.rows * request.role.cols;
    if (request.bias != nullptr) count += request.role.rows;
  }
  return count;
}

uint64_t WeightBinder::bytes() const {
  int64_t total = 0;
  for (const Request& request : requests_) {
    const bool is_vector = request.role.kind == Role::Kind::vector;
    const Format* format = is_vector ? find_format("f32") : request.weight->format;
    total += format->bytes(request.role.cols) * request.role.rows;
  }
  return static_cast<uint64_t>(total);
}

}  // namespace matador
