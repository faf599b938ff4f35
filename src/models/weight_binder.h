// WeightBinder: finds the tensor of every role of a model, checks them all, and only then loads.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "models/binder.h"
#include "models/model.h"
#include "models/stored_role.h"
#include "weights/checkpoint.h"
#include "weights/names.h"

namespace matador {

class WeightBinder final : public Binder {
 public:
  // Both must live until load().
  WeightBinder(const Checkpoint& checkpoint, const Names& names);

  void bind(std::string_view prefix, int32_t layer, std::span<const Role> roles,
            std::span<Weight> targets) override;
  void ignore(std::string_view role) override;
  void ignore_layer(int32_t layer) override;

  // Everything that does not fit, at once: tensors that are missing, have another shape than the
  // description asks for, or that nothing asked for.
  Status check(std::string_view architecture) const;
  // Only after a successful check().
  void load(Backend& backend, const LoadOptions& options) const;

  int64_t num_parameters() const override;
  uint64_t bytes() const override;

 private:
  struct Request {
    StoredRole stored;
    Weight* target = nullptr;
  };
  // A place a role may be: its tensor's name, shape, and how it lies there.
  struct Candidate {
    std::string tensor;  // "{}" in it: one of several
    std::vector<int64_t> shape = {};
    StoredRole lies = {};
  };

  std::vector<Candidate> candidates(std::string_view prefix, int32_t layer, const Role& role,
                                    std::span<const Role> siblings) const;
  const Candidate& choose(const std::vector<Candidate>& candidates) const;
  const StoredTensor* stored(const Candidate& candidate) const;
  StoredRole locate(const Role& role, const std::vector<Candidate>& candidates);
  const StoredTensor* use(const std::string& name, const std::vector<int64_t>& shape,
                          bool transposed);

  const Checkpoint& checkpoint_;
  const Names& names_;
  std::vector<Request> requests_;
  std::set<std::string, std::less<>> used_;
  std::vector<std::string> missing_;
  std::vector<std::string> misshapen_;
};

}  // namespace matador
