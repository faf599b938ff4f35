#include "models/weight_binder.h"

#include <algorithm>
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

int64_t product(std::span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// Some checkpoints give a vector as [heads, head_dim], a stack of matrices as one of all rows.
bool fits(const StoredTensor& tensor, const std::vector<int64_t>& shape) {
  if (tensor.shape == shape) return true;
  const bool same_size = product(tensor.shape) == product(shape);
  const bool is_row = shape.size() == 2 && shape.front() == 1 && tensor.shape.size() == 1;
  if (shape.size() == 1 || is_row) return same_size;
  return shape.size() == 3 && tensor.shape.size() == 2 && same_size &&
         tensor.shape.back() == shape.back();
}

bool is_split(const std::string& name) { return name.find("{}") != std::string::npos; }

// The tensors' names that a name stands for.
std::vector<std::string> expanded(const std::string& name, int32_t count) {
  if (!is_split(name)) return {name};
  const size_t at = name.find("{}");
  std::vector<std::string> names;
  for (int32_t i = 0; i < count; ++i) {
    names.push_back(name.substr(0, at) + std::to_string(i) + name.substr(at + 2));
  }
  return names;
}

// How `role` lies in a tensor that holds `held`.
StoredRole lie(const Role& role, std::span<const Role> held, Layout layout) {
  const bool by_part = layout == Layout::by_part || layout == Layout::transposed_by_part;
  StoredRole result{.role = role};
  result.transposed = layout == Layout::transposed || layout == Layout::transposed_by_part;
  result.map.run = by_part ? role.rows / role.parts : role.rows;
  for (const Role& other : held) {
    const bool turned = layout == Layout::first_turned && &other == held.data();
    if (other.name == role.name) {
      result.map.first = by_part ? result.map.stride : result.matrix_rows;
      if (turned) result.transposed = true;
    }
    result.map.stride += other.rows / other.parts;
    result.matrix_rows += turned ? other.cols : other.rows;
    result.matrix_values += other.rows * other.cols;
  }
  result.line = layout == Layout::first_turned ? role.rows : result.matrix_rows;
  return result;
}

// Of its tensor, or one of them.
std::vector<int64_t> shape_of(const StoredRole& lies, Layout layout) {
  const int64_t lines = lies.matrix_rows;
  if (lies.role.kind == Role::Kind::vector) return {lies.role.cols};
  if (layout == Layout::first_turned) return {lines, lies.matrix_values / lines};
  if (lies.transposed) return {lies.role.cols, lines};
  return {lines, lies.role.cols};
}

}  // namespace

WeightBinder::WeightBinder(const Checkpoint& checkpoint, const Names& names)
    : checkpoint_(checkpoint), names_(names) {}

void WeightBinder::bind(std::string_view prefix, int32_t layer, std::span<const Role> roles,
                        std::span<Weight> targets) {
  CHECK(roles.size() == targets.size());
  for (size_t i = 0; i < roles.size(); ++i) {
    StoredRole found{.role = roles[i]};
    if (roles[i].stored) found = locate(roles[i], candidates(prefix, layer, roles[i], roles));
    requests_.push_back({std::move(found), &targets[i]});
  }
}

void WeightBinder::ignore(std::string_view role) {
  for (const Names::Place& place : names_.places(role, 0)) used_.insert(place.tensor + ".weight");
}

void WeightBinder::ignore_layer(int32_t layer) {
  const std::string number = std::to_string(layer) + ".";
  for (const StoredTensor& tensor : checkpoint_.tensors()) {
    const bool drafts = tensor.name.starts_with("model.layers." + number) ||
                        tensor.name.starts_with("blk." + number);
    if (drafts) used_.insert(tensor.name);
  }
}

std::vector<WeightBinder::Candidate> WeightBinder::candidates(
    std::string_view prefix, int32_t layer, const Role& role,
    std::span<const Role> siblings) const {
  std::vector<Candidate> result;
  const std::string wanted = full_name(prefix, role.name);
  for (Names::Place& place : names_.places(wanted, layer)) {
    std::vector<Role> held;  // a fused tensor's roles
    for (std::string_view name : place.roles) {
      const auto sibling = std::find_if(siblings.begin(), siblings.end(), [&](const Role& other) {
        return full_name(prefix, other.name) == name;
      });
      if (sibling != siblings.end()) held.push_back(*sibling);
    }
    if (held.size() < place.roles.size()) continue;  // this sub-layer lacks a part of it
    Candidate candidate{.tensor = std::move(place.tensor)};
    candidate.lies = lie(role, held, place.layout);
    candidate.shape = shape_of(candidate.lies, place.layout);
    const bool split = is_split(candidate.tensor);
    if (split && role.kind == Role::Kind::vector) candidate.shape = {role.cols / role.parts};
    if (!split && role.count > 1) candidate.shape.insert(candidate.shape.begin(), role.count);
    result.push_back(std::move(candidate));
  }
  CHECK(!result.empty()) << "no name for the role " << wanted;
  return result;
}

// Its tensor, the first of a stack; null where there is none.
const StoredTensor* WeightBinder::stored(const Candidate& candidate) const {
  const std::string name = expanded(candidate.tensor, 1).front();
  const StoredTensor* tensor = checkpoint_.find(name + ".weight");
  return tensor != nullptr ? tensor : checkpoint_.find(name);
}

// One that fits, else one that is there (to complain about), else the usual one.
const WeightBinder::Candidate& WeightBinder::choose(
    const std::vector<Candidate>& candidates) const {
  auto chosen = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
    const StoredTensor* tensor = stored(candidate);
    return tensor != nullptr && fits(*tensor, candidate.shape);
  });
  if (chosen == candidates.end()) {
    chosen = std::find_if(candidates.begin(), candidates.end(),
                          [&](const Candidate& candidate) { return stored(candidate) != nullptr; });
  }
  return chosen == candidates.end() ? candidates.front() : *chosen;
}

StoredRole WeightBinder::locate(const Role& role, const std::vector<Candidate>& candidates) {
  const Candidate& chosen = choose(candidates);
  StoredRole result = chosen.lies;
  const bool is_vector = role.kind == Role::Kind::vector;
  for (const std::string& name : expanded(chosen.tensor, is_vector ? role.parts : role.count)) {
    const bool bare = checkpoint_.find(name) != nullptr;
    result.tensors.push_back(use(bare ? name : name + ".weight", chosen.shape, result.transposed));
    if (!role.bias) continue;
    std::vector<int64_t> shape = chosen.shape;
    if (!is_vector) {
      shape.assign(1, result.matrix_rows);
      if (chosen.shape.size() == 3) shape.insert(shape.begin(), role.count);
    }
    result.biases.push_back(use(name + (bare ? "_bias" : ".bias"), shape, false));
  }
  return result;
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
    HostWeight host = request.stored.load(options.precision);
    done += static_cast<uint64_t>(host.format->bytes(host.cols) * host.count * host.rows);
    *request.target = backend.load(std::move(host));
    if (options.progress) options.progress(done, total);
  }
}

int64_t WeightBinder::num_parameters() const {
  int64_t count = 0;
  for (const Request& request : requests_) {
    const StoredRole& stored = request.stored;
    if (!stored.tensors.empty()) count += stored.rows() * stored.role.cols;
    if (!stored.biases.empty()) count += stored.rows();
  }
  return count;
}

uint64_t WeightBinder::bytes() const {
  int64_t total = 0;
  for (const Request& request : requests_) {
    const StoredRole& stored = request.stored;
    total += stored.format()->bytes(stored.role.cols) * stored.rows();
  }
  return static_cast<uint64_t>(total);
}

}  // namespace matador
