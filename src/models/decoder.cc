#include "models/decoder.h"

#include <utility>

namespace matador {
namespace {

Tensor normalise(Ops& ops, const Tensor& x, const Norm& norm, const Weight& weight) {
  return norm ? ops.norm(x, norm, weight) : x;
}

}  // namespace

Tensor Decoder::forward(Ops& ops, const Batch& batch, const Cache& cache) const {
  ResidualStream x(ops, embed(ops, batch));
  for (const BoundResidual& bound : residuals_) {
    const Residual& residual = *bound.residual;
    Tensor shared;
    if (residual.in) shared = x.read(residual.in, bound.in_norm);
    if (residual.adds_to_normed) x.set(shared);
    Tensor sum;
    for (const BoundPath& path : bound.paths) {
      const Tensor h = residual.in ? shared : x.read(path.path->in, path.in_norm);
      const Tensor y = run(path, ops, h, batch, cache);
      sum = sum ? ops.add(sum, y, 1) : y;
    }
    x.add(sum, residual.scale);
    if (residual.after) x.set(x.read(residual.after, bound.after_norm));
    x.release_others();
  }
  return logits(ops, ops.take(x.value(), batch.logit_tokens));
}

Tensor Decoder::embed(Ops& ops, const Batch& batch) const {
  Tensor x = ops.embed(embed_, batch, spec_.embedding_factor);
  if (project_in_) x = ops.linear(x, project_in_);
  if (positions_) x = ops.add(x, ops.embed_positions(positions_, batch, spec_.positions.offset), 1);
  return normalise(ops, x, spec_.embedding_norm, embedding_norm_);
}

Tensor Decoder::run(const BoundPath& bound, Ops& ops, const Tensor& x, const Batch& batch,
                    const Cache& cache) const {
  const KvLayer* kv = bound.kv < 0 ? nullptr : &cache.layers[static_cast<size_t>(bound.kv)];
  const Slot slot{bound.weights, kv};
  const Tensor y =
      std::visit([&](const auto& op) { return apply(op, ops, x, slot, batch); }, bound.path->op);
  return normalise(ops, y, bound.path->out, bound.out_norm);
}

Tensor Decoder::logits(Ops& ops, const Tensor& x) const {
  Tensor h = normalise(ops, x, spec_.final_norm, final_norm_);
  if (project_out_) h = ops.linear(h, project_out_);
  return ops.scale_logits(ops.linear(h, head_), spec_.logit_factor, spec_.logit_softcap);
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
        const Rope* rope = rope_of(path.op);
        const bool has_state = paged_state(path.op, KvType::f32, 1).has_value();
        bound.paths.push_back({.path = &path, .kv = has_state ? next_kv++ : -1});
        if (rope && rope->depends_on_length() && !length_dependent_) length_dependent_ = rope;
      }
      residuals_.push_back(std::move(bound));
    }
  }
  info_.state_depends_on_length = length_dependent_ != nullptr;
  info_.recomputes_when_length_class_grows =
      length_dependent_ && length_dependent_->scaling == Rope::Scaling::longrope;
}

void Decoder::bind(Binder& binder) {
  bind_ends(binder);
  for (int32_t i = 0; i < spec_.draft_layers; ++i) binder.ignore_layer(info_.num_layers + i);
  auto bound = residuals_.begin();
  for (size_t i = 0; i < spec_.layers.size(); ++i) {
    const auto layer = static_cast<int32_t>(i);
    for (size_t j = 0; j < spec_.layers[i].size(); ++j, ++bound) {
      const std::string name(bound->paths.front().path->name);
      bind_norm(binder, layer, bound->residual->in, name + ".in_norm", bound->in_norm);
      for (BoundPath& path : bound->paths) bind_path(binder, layer, path);
      bind_norm(binder, layer, bound->residual->after, name + ".after_norm", bound->after_norm);
    }
  }
}

void Decoder::bind_ends(Binder& binder) {
  const auto bind_one = [&](const Role& role, Weight& target) {
    binder.bind("", 0, {&role, 1}, {&target, 1});
  };
  const int32_t hidden = spec_.hidden_size;
  const int32_t width = spec_.embedding_size > 0 ? spec_.embedding_size : hidden;
  bind_one({"embed", Role::Kind::table, spec_.vocab_size, width}, embed_);
  if (width != hidden) {
    bind_one({"project_in", Role::Kind::matrix, hidden, width}, project_in_);
    bind_one({"project_out", Role::Kind::matrix, width, hidden}, project_out_);
  }
  if (spec_.positions.rows > 0) {
    bind_one({"positions", Role::Kind::table, spec_.positions.rows, hidden}, positions_);
  }
  bind_norm(binder, 0, spec_.embedding_norm, "embedding_norm", embedding_norm_);
  bind_norm(binder, 0, spec_.final_norm, "final_norm", final_norm_);
  if (spec_.tied_head) return binder.ignore("head");
  Role head{"head", Role::Kind::matrix, spec_.vocab_size, width, spec_.head_bias};
  head.unit_rows = spec_.unit_head;
  bind_one(head, head_);
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
  const Role wanted = norm_role(role, norm, spec_.hidden_size);
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
      const std::optional<KvLayer> kv = paged_state(bound.path->op, type, block_size);
      if (kv) layers.push_back(*kv);
    }
  }
  return layers;
}

int32_t Decoder::length_class(int32_t rope_length) const {
  return length_dependent_ ? length_dependent_->length_class(rope_length) : 0;
}

std::string Decoder::describe() const { return info_.architecture + "\n" + print(spec_); }

}  // namespace matador
