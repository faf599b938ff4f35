// ResidualStream: the hidden state x that sub-layers read and add to. The last term waits until x
// is read, so that the addition and the norm that follows it are one operation.
#pragma once

#include "backends/backend.h"

namespace matador {

class ResidualStream {
 public:
  ResidualStream(Ops& ops, const Tensor& x) : ops_(ops), x_(x) {}

  // norm(x); x itself where there is no norm.
  Tensor read(const Norm& norm, const Weight& weight) {
    if (!norm) return value();
    if (!term_) return ops_.norm(x_, norm, weight);
    auto [normed, sum] = ops_.add_norm(x_, term_, norm, weight);
    set(sum);
    return normed;
  }

  Tensor value() {
    if (term_) set(ops_.add(x_, term_, 1));
    return x_;
  }

  // x + scale * term.
  void add(const Tensor& term, float scale) {
    const Tensor x = value();
    if (scale == 1) {
      term_ = term;
    } else {
      set(ops_.add(x, term, scale));
    }
  }

  void set(const Tensor& x) {
    x_ = x;
    term_ = {};
  }

  // Frees what the sub-layers so far have left behind.
  void release_others() {
    const Tensor live[] = {x_, term_};
    ops_.release_except({live, size_t{term_ ? 2U : 1U}});
  }

 private:
  Ops& ops_;
  Tensor x_;
  Tensor term_;  // empty: x is complete
};

}  // namespace matador
