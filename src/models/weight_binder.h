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

  // Everything that does not fit, at once: tensors that are missing, have another shape than the
  // description asks for, or that nothing asked for.
  Status check(std::string_view architecture) const;
  // Only after a successful check().
  void load(Backend& backend, const LoadOptions& options) const;

  int64_t num_parameters() const override;
  uint64_t bytes() const override;

 private:
  // Which rows of a tensor are a role's: runs of `run` rows, `stride` apart.
  struct RowMap {
    int64_t first = 0;
    int64_t run = 0;
    int64_t stride = 0;

    int64_t operator()(int64_t row) const { return first + row / run * stride + row % run; }
  };
  struct Request {
    Role role;
    const StoredTensor* weight = nullptr;         // null for a role that is not stored
    std::vector<const StoredTensor*> parts = {};  // of a vector that lies in several, in order
    const StoredTensor* bias = nullptr;
    RowMap map = {};
    bool transposed = false;
    Weight* target = nullptr;
  };
  // A place a role may be, of `rows` rows in all.
  struct Candidate {
    std::string tensor;
    int64_t rows = 0;
    RowMap map = {};
    bool transposed = false;

    std::vector<int64_t> shape(const Role& role) const;
    bool is_split() const { return tensor.find("{}") != std::string::npos; }
    // The tensor, or the tensor of a part.
    std::string name(int32_t part = 0) const;
  };

  std::vector<Candidate> candidates(std::string_view prefix, int32_t layer, const Role& role,
                                    std::span<const Role> siblings) const;
  Request locate(const Role& role, const std::vector<Candidate>& candidates);
  void use_parts(const Candidate& candidate, Request& request);
  const Candidate& choose(const Role& role, const std::vector<Candidate>& candidates) const;
  const StoredTensor* use(const std::string& name, const std::vector<int64_t>& shape,
                          bool transposed);
  static const Format* format_of(const Request& request);
  static HostWeight host_weight(const Request& request, const LoadOptions& options);
  static std::vector<float> vector_of(const Request& request);
  static void set_matrix(const Request& request, HostWeight& host);

  const Checkpoint& checkpoint_;
  const Names& names_;
  std::vector<Request> requests_;
  std::set<std::string, std::less<>> used_;
  std::vector<std::string> missing_;
  std::vector<std::string> misshapen_;
};

}  // namespace matador
