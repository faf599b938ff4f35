#include "models/decoder.h"

#include <utility>

namespace matador {
namespace {

Tensor normalise(Ops& ops, const Tensor& x, const Norm& norm, const Weight& weight) {
  return norm ? ops.norm(x, norm, weight) : x;
}

}  // namespace

Tensor Decoder::forward(Ops& ops, const Batch& batch, const Cache& cache) const {
  ResidualStream x(ops, ops.embed(embed_, batch, spec_.embedding_factor));
  for (const BoundResidual& bound : residuals_) {
    Tensor sum;
    for (const BoundPath& path : bound.paths) {
      const Tensor y = run(path, ops, x, batch, cache);
      sum = sum ? ops.add(sum, y, 1) : y;
    }
    const Residual& residual = *bound.residual;
    x.add(sum, residual.scale);
    if (residual.after) x.set(x.read(residual.after, bound.after_norm));
    x.release_others();
  }
  const Tensor wanted = ops.take(x.value(), batch.logit_tokens);
  const Tensor normed = normalise(ops, wanted, spec_.final_norm, final_norm_);
  return ops.scale_logits(ops.linear(normed, head_), spec_.logit_factor, spec_.logit_softcap);
}

Tensor Decoder::run(const BoundPath& bound, Ops& ops, ResidualStream& x, const Batch& batch,
                    const Cache& cache) const {
  const KvLayer* kv = bound.kv < 0 ? nullptr : &cache.layers[static_cast<size_t>(bound.kv)];
  const Slot slot{bound.weights, kv};
  const Tensor h = x.read(bound.path->in, bound.in_norm);
  const Tensor y =
      std::visit([&](const auto& op) { return apply(op, ops, h, slot, batch); }, bound.path->op);
  return normalise(ops, y, bound.path->out, bound.out_norm);
}

Decoder::Decoder(const Architecture& architecture, DecoderSpec spec) : spec_(std::move(spec)) {
  info_.architecture = architecture.name;
  info_.model_type = architecture.model_type;
  info_.vocab_size = spec_.vocab_size;
  info_.hidden_size = spec_.hidden_size;
  info_.num_layers = static_cast<int32_t>(spec_.layers.size());
  info_.max_position = spec_.max_position;
  int32_t next_kv = 0;
  for (const Layer& layer : spec_.layers) {
    for (const Residual& residual : layer) {
      BoundResidual bound{.residual = &residual};
      for (const Path& path : residual.paths) {
        const auto* attention = std::get_if<Attention>(&path.op);
        bound.paths.push_back({.path = &path, .kv = attention ? next_kv++ : -1});
        if (attention && attention->rope.depends_on_length() && !length_dependent_) {
          length_dependent_ = attention;
        }
      }
      residuals_.push_back(std::move(bound));
    }
  }
  info_.state_depends_on_length = length_dependent_ != nullptr;
}

void Decoder::bind(Binder& binder) {
  const Role embed{"embed", Role::Kind::table, spec_.vocab_size, spec_.hidden_size};
  binder.bind("", 0, {&embed, 1}, {&embed_, 1});
  auto bound = residuals_.begin();
  for (size_t i = 0; i < spec_.layers.size(); ++i) {
    const auto layer = static_cast<int32_t>(i);
    for (size_t j = 0; j < spec_.layers[i].size(); ++j, ++bound) {
      for (BoundPath& path : bound->paths) bind_path(binder, layer, path);
      const std::string name(bound->paths.front().path->name);
      bind_norm(binder, layer, bound->residual->after, name + ".after_norm", bound->after_norm);
    }
  }
  bind_norm(binder, 0, spec_.final_norm, "final_norm", final_norm_);
  if (spec_.tied_head) return binder.ignore("head");
  const Role head{"head", Role::Kind::matrix, spec_.vocab_size, spec_.hidden_size, spec_.head_bias};
  binder.bind("", 0, {&head, 1}, {&head_, 1});
}

void Decoder::bind_path(Binder& binder, int32_t layer, BoundPath& bound) const {
  const Path& path = *bound.path;
  const std::string name(path.name);
  bind_norm(binder, layer, path.in, name + ".in_norm", bound.in_norm);
  const std::vector<Role> wanted = std::visit([](const auto& op) { return roles(op); }, path.op);
  bound.weights.resize(wanted.size());
  binder.bind(name, layer, wanted, bound.weights);
  bind_norm(binder, layer, path.out, name + ".out_norm", bound.out_norm);
}

void Decoder::bind_norm(Binder& binder, int32_t layer, const Norm& norm, const std::string& role,
                        Weight& target) const {
  if (!norm) return;
  const Role wanted{role, Role::Kind::vector, 1, spec_.hidden_size};
  binder.bind("", layer, {&wanted, 1}, {&target, 1});
}

void Decoder::finish(const Binder& binder) {
  if (spec_.tied_head) head_ = embed_;
  info_.num_parameters = binder.num_parameters();
  info_.weight_bytes = binder.bytes();
}

std::vector<KvLayer> Decoder::kv_layers(KvType type, int32_t block_size) const {
  std::vector<KvLayer> layers;
  for (const BoundResidual& residual : residuals_) {
    for (const BoundPath& bound : residual.paths) {
      const auto* attention = std::get_if<Attention>(&bound.path->op);
      if (attention != nullptr) layers.push_back(kv_layer(*attention, type, block_size));
    }
  }
  return layers;
}

int32_t Decoder::length_class(int32_t rope_length) const {
  return length_dependent_ ? length_dependent_->rope.length_class(rope_length) : 0;
}

std::string Decoder::describe() const { return info_.architecture + "\n" + print(spec_); }

}  // namespace matador
