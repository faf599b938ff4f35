#include "models/random_model.h"

#include <utility>
#include <vector>

#include "models/binder.h"
#include "models/decoder.h"
#include "models/registry.h"

namespace matador {
namespace {

class RandomBinder final : public Binder {
 public:
  void bind(std::string_view, int32_t, std::span<const Role> roles,
            std::span<Weight> targets) override {
    CHECK(roles.size() == targets.size());
    for (size_t i = 0; i < roles.size(); ++i) requests_.push_back({roles[i], &targets[i]});
  }
  void ignore(std::string_view) override {}
  void ignore_layer(int32_t) override {}

  int64_t num_parameters() const override {
    int64_t count = 0;
    for (const auto& [role, target] : requests_) {
      count += rows_of(role) * (role.cols + (role.bias ? 1 : 0));
    }
    return count;
  }
  uint64_t bytes() const override {
    uint64_t total = 0;
    for (const auto& [role, target] : requests_) total += bytes_of(role);
    return total;
  }

  void load(Backend& backend, const LoadOptions& options) const {
    const uint64_t total = bytes();
    uint64_t done = 0, seed = 0;
    for (const auto& [role, target] : requests_) {
      *target = make(role, ++seed, backend, options.precision);
      done += bytes_of(role);
      if (options.progress) options.progress(done, total);
    }
  }

 private:
  struct Request {
    Role role;
    Weight* target = nullptr;
  };

  static const Format* format_of(const Role& role) {
    return find_format(role.kind == Role::Kind::vector ? "f32" : "bf16");
  }
  static int64_t rows_of(const Role& role) { return role.count * role.rows; }
  static uint64_t bytes_of(const Role& role) {
    return static_cast<uint64_t>(format_of(role)->bytes(role.cols) * rows_of(role));
  }
  static Weight make(const Role& role, uint64_t seed, Backend& backend, Precision precision) {
    HostWeight host;
    host.format = format_of(role);
    host.count = role.count;
    host.rows = role.rows;
    host.cols = role.cols;
    host.precision = precision;
    host.is_table = role.kind == Role::Kind::table;
    const bool is_vector = role.kind == Role::Kind::vector;
    if (role.bias) host.bias.assign(static_cast<size_t>(is_vector ? role.cols : rows_of(role)), 0);
    if (!is_vector) return backend.make_random(std::move(host), seed);
    auto ones = std::make_shared<std::vector<float>>(static_cast<size_t>(role.cols), 1.0F);
    host.data = reinterpret_cast<const std::byte*>(ones->data());
    host.owner = std::move(ones);
    return backend.load(std::move(host));
  }

  std::vector<Request> requests_;
};

}  // namespace

Result<std::unique_ptr<Model>> make_random_model(const Config& config, Backend& backend,
                                                 const LoadOptions& options) {
  Result<const Architecture*> architecture = find_architecture(config);
  if (!architecture) return architecture.error();
  ConfigReader reader(config);
  DecoderSpec spec = (*architecture)->describe(reader);
  if (Status status = reader.status(); !status) return status.error();
  auto decoder = std::make_unique<Decoder>(**architecture, std::move(spec));
  RandomBinder binder;
  decoder->bind(binder);
  binder.load(backend, options);
  decoder->finish(binder);
  return std::unique_ptr<Model>(std::move(decoder));
}

}  // namespace matador
