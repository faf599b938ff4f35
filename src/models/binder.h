// Binder: where a model's roles get their weights from: a checkpoint, or chance.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nn/role.h"

namespace matador {

class Binder {
 public:
  virtual ~Binder() = default;
  // Asks for the weights of `roles`, called "prefix.role" ("role" where the prefix is empty).
  // `targets` must stay where they are until they are loaded.
  virtual void bind(std::string_view prefix, int32_t layer, std::span<const Role> roles,
                    std::span<Weight> targets) = 0;
  // This role may be there although the model has no use for it.
  virtual void ignore(std::string_view role) = 0;
  // Likewise all of a layer beyond the model's own: one that drafts tokens.
  virtual void ignore_layer(int32_t layer) = 0;

  // Of all that was asked for.
  virtual int64_t num_parameters() const = 0;
  virtual uint64_t bytes() const = 0;
};

}  // namespace matador
