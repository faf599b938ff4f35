// Parameters of the operations: values that descriptions (nn/, models/) contain and backends read.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/device.h"

namespace matador {

// Normalises each row, or each run of `group` features in it (per-head norms).
struct Norm {
  enum class Kind : uint8_t { none, rms, layer };
  Kind kind = Kind::none;
  float eps = 1e-6F;
  float weight_offset = 0;  // 1 for the Gemma family: y = x_hat * (1 + w)
  int32_t group = 0;        // features a group; 0 means the whole row
  // What the checkpoint has; backends go by the weight that they are given.
  bool has_weight = true;  // false: all ones (OLMo)
  bool has_bias = false;

  explicit operator bool() const { return kind != Kind::none; }
};

enum class Act : uint8_t { silu, gelu, gelu_tanh, relu, relu_squared, quick_gelu };

// Rotary position embedding on the first `dim` features of each head.
// Sources: RoFormer (arXiv 2104.09864); scalings as in transformers' modeling_rope_utils.
struct Rope {
  enum class Scaling : uint8_t { none, linear, dynamic, yarn, llama3, longrope };
  int32_t dim = 0;
  bool interleaved = false;  // pairs (0,1),(2,3)... instead of (0,dim/2),(1,dim/2+1)...
  float theta = 10000;
  Scaling scaling = Scaling::none;
  float factor = 1;
  int32_t original_max_position = 0;    // dynamic, yarn, llama3, longrope
  float attention_factor = 1;           // multiplies cos and sin; resolved by the description
  float beta_fast = 32, beta_slow = 1;  // yarn
  bool truncate = true;                 // yarn: round the correction range
  float low_freq_factor = 1, high_freq_factor = 4;         // llama3
  std::vector<float> short_factor = {}, long_factor = {};  // longrope, [dim / 2]
  std::vector<float> freq_factors = {};  // divisors of the frequencies (GGUF), [dim / 2]

  // True where the frequencies depend on rope_lengths: cached blocks of such a model are only
  // reusable between requests of the same length class (see length_class).
  bool depends_on_length() const {
    return scaling == Scaling::dynamic || scaling == Scaling::longrope;
  }
  // Requests with equal classes have equal frequencies.
  int32_t length_class(int32_t rope_length) const;
  // The angle per position of each pair, [dim / 2].
  std::vector<float> frequencies(int32_t rope_length) const;
  bool operator==(const Rope&) const = default;
};

// softmax(softcap(scale * q k) + bias) v over the cached context. The bias is ALiBi's (arXiv
// 2108.12409): minus the distance, times a slope of the head's own.
struct Attend {
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;
  float scale = 1;
  float softcap = 0;      // 0: none; else softcap * tanh(score / softcap)
  int32_t window = 0;     // 0: none; else a token sees itself and the window - 1 before it
  float alibi_max = 0;    // 0: no bias; else the steepest exponent, 8 in most models
  float alibi_scale = 1;  // of all slopes
  int32_t chunk = 0;      // 0: none; else a token sees only its own of chunks of so many positions
  // The scores of a query at position p are multiplied by 1 + temperature * log(1 + floor((p + 1) /
  // temperature_floor)) (Llama 4, arXiv 2501.19399). 0: not.
  float temperature = 0;
  float temperature_floor = 1;
};

// The first position that the token at `position` sees.
MATADOR_DEVICE int32_t first_seen(int32_t window, int32_t chunk, int32_t position) {
  const int32_t from = window > 0 && position >= window ? position - window + 1 : 0;
  const int32_t begin = chunk > 0 ? position / chunk * chunk : 0;
  return from > begin ? from : begin;
}

// What the scores of the query at `position` are multiplied by.
MATADOR_DEVICE float score_scale(const Attend& attend, int32_t position) {
  if (attend.temperature == 0) return attend.scale;
  const float steps = floorf(static_cast<float>(position + 1) / attend.temperature_floor);
  return attend.scale * (attend.temperature * log1pf(steps) + 1);
}

// With n the largest power of two that is not above num_heads, head h has the slope
// 2^-(max (h + 1) / n); the heads beyond n take the odd steps between those of 2 n.
MATADOR_DEVICE float alibi_slope(const Attend& attend, int32_t head) {
  int32_t steps = 1;
  while (2 * steps <= attend.num_heads) steps *= 2;
  const float step =
      head < steps ? static_cast<float>(head + 1) : static_cast<float>(head - steps) + 0.5F;
  return attend.alibi_scale * exp2f(-attend.alibi_max * step / static_cast<float>(steps));
}

// How a mixture of experts chooses a token's experts from its router's logits, and what weight each
// of them gets; see routing.h.
struct Routing {
  enum class Score : uint8_t {
    softmax,      // over all experts
    sigmoid,      // of each on its own
    sparsemixer,  // PhiMoE's: a softmax over the experts near the best of those not yet chosen
  };
  int32_t num_experts = 0;
  int32_t top_k = 0;
  Score score = Score::softmax;
  bool corrected = false;  // a bias of each expert's own is added to its score, for the choice only
  // Experts are chosen among the best `top_groups` of `num_groups` equal groups. A group is as good
  // as its best expert, or as its best two together (DeepSeek V2, V3).
  int32_t num_groups = 1;
  int32_t top_groups = 1;
  bool groups_by_two = false;
  bool normalise = false;  // the weights of the chosen are divided by their sum
  float scale = 1;         // of all weights, after that
  float jitter = 0;        // sparsemixer: half the relative distance that is near
};
constexpr int32_t kMaxExpertGroups = 64;
constexpr int32_t kMaxTopK = 64;

// What an expert computes: down(act(gate x) * (up x + up_offset)), or down(act(up x)) without gate.
struct Expert {
  Act act = Act::silu;
  float limit = 0;           // 0: none; else gate is at most, and up within +-, limit
  float up_offset = 0;       // gpt-oss: 1
  bool weigh_input = false;  // the weight multiplies x, not the result (Llama 4)
};

// The state of one attention layer in the paged cache. A block holds `block_size` tokens in
// `block_bytes` bytes; how they lie inside a block is the backend's business.
enum class KvType : uint8_t { f32, f16, bf16 };
struct KvLayer {
  void* blocks = nullptr;
  int64_t block_bytes = 0;
  int32_t num_blocks = 0;
  int32_t block_size = 0;
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;
  int32_t latent = 0;  // not 0: a value is so many first features of its key (MLA)
  KvType type = KvType::f32;

  MATADOR_DEVICE constexpr int32_t value_dim() const { return latent > 0 ? latent : head_dim; }
};
constexpr int64_t bytes_of(KvType type) { return type == KvType::f32 ? 4 : 2; }

}  // namespace matador
