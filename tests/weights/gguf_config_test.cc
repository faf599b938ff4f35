#include "weights/gguf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "byte_writer.h"

namespace matador {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint32_t kF32 = 0;

// What every model has, under the keys of `architecture`.
GgufWriter model(const std::string& architecture) {
  GgufWriter writer;
  writer.add("general.architecture", architecture);
  writer.add(architecture + ".embedding_length", 64U);
  writer.add(architecture + ".block_count", 4U);
  writer.add(architecture + ".feed_forward_length", 128U);
  writer.add(architecture + ".attention.head_count", 4U);
  writer.add(architecture + ".attention.head_count_kv", 2U);
  writer.add(architecture + ".context_length", 2048U);
  writer.tensor("token_embd.weight", {64, 100}, kF32, 0);
  writer.data_bytes = 64 * 100 * 4;
  return writer;
}

// A further tensor of zeros behind the others; returns its offset.
void add_zeros(GgufWriter& writer, const std::string& name, uint64_t count) {
  writer.tensor(name, {count}, kF32, writer.data_bytes);
  writer.data_bytes += (count * 4 + 31) / 32 * 32;
}

Config config_of(const GgufWriter& writer) { return gguf_config(*writer.parse().value()).value(); }

TEST(GgufConfig, TranslatesLlama) {
  GgufWriter writer = model("llama");
  writer.add("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  writer.add("llama.rope.freq_base", 500000.0F);
  writer.add("llama.rope.dimension_count", 16U);
  writer.add("tokenizer.ggml.eos_token_id", 7U);
  EXPECT_EQ(config_of(writer).dump(),
            R"({"architectures":["LlamaForCausalLM"],"eos_token_id":7,"head_dim":16,)"
            R"("hidden_size":64,"intermediate_size":128,"max_position_embeddings":2048,)"
            R"("model_type":"llama","num_attention_heads":4,"num_hidden_layers":4,)"
            R"("num_key_value_heads":2,"partial_rotary_factor":1.0,)"
            R"("rms_norm_eps":9.999999747378752e-06,)"
            R"("rope_interleaved":true,"rope_theta":500000.0,"tie_word_embeddings":true,)"
            R"("vocab_size":100})");
}

TEST(GgufConfig, KnowsTheArchitecturesOfThisBuild) {
  struct Expected {
    const char* gguf;
    const char* model_type;
    const char* architecture;
    bool interleaved;
    bool offset;
  };
  for (const Expected& e : {Expected{"llama", "llama", "LlamaForCausalLM", true, false},
                            {"qwen2", "qwen2", "Qwen2ForCausalLM", false, false},
                            {"qwen3", "qwen3", "Qwen3ForCausalLM", false, false},
                            {"gemma", "gemma", "GemmaForCausalLM", false, true},
                            {"gemma2", "gemma2", "Gemma2ForCausalLM", false, true},
                            {"gemma3", "gemma3_text", "Gemma3ForCausalLM", false, true},
                            {"phi3", "phi3", "Phi3ForCausalLM", false, false},
                            {"smollm3", "smollm3", "SmolLM3ForCausalLM", true, false}}) {
    const Config config = config_of(model(e.gguf));
    EXPECT_EQ(config.text("model_type"), e.model_type);
    EXPECT_THAT(*config.texts("architectures"), ElementsAre(e.architecture));
    EXPECT_EQ(config.boolean("rope_interleaved").value_or(false), e.interleaved) << e.gguf;
    EXPECT_EQ(config.boolean("norm_weights_include_offset").value_or(false), e.offset) << e.gguf;
  }
}

TEST(GgufConfig, PassesAnUnknownArchitectureThrough) {
  const Config config = config_of(model("mamba9"));
  EXPECT_EQ(config.text("model_type"), "mamba9");
  EXPECT_FALSE(config.has("architectures"));
  EXPECT_EQ(config.integer("hidden_size"), 64);
}

TEST(GgufConfig, WantsAnArchitecture) {
  const auto config = gguf_config(*GgufWriter().parse().value());
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(config.error().message, HasSubstr("test.gguf: metadata key general.architecture"));
}

TEST(GgufConfig, TiesEmbeddingsWhereThereIsNoOutputTensor) {
  GgufWriter writer = model("qwen2");
  EXPECT_EQ(config_of(writer).boolean("tie_word_embeddings"), true);
  add_zeros(writer, "output.weight", 8);
  EXPECT_EQ(config_of(writer).boolean("tie_word_embeddings"), false);
}

TEST(GgufConfig, FindsBiasesByTheirTensors) {
  GgufWriter writer = model("llama");
  EXPECT_FALSE(config_of(writer).has("attention_bias"));
  add_zeros(writer, "blk.0.attn_q.bias", 8);
  add_zeros(writer, "blk.0.ffn_up.bias", 8);
  EXPECT_EQ(config_of(writer).boolean("attention_bias"), true);
  EXPECT_EQ(config_of(writer).boolean("mlp_bias"), true);
}

TEST(GgufConfig, ReadsValuesGivenForEachLayer) {
  GgufWriter writer;
  writer.add("general.architecture", "llama");
  const auto add_list = [&](const char* key, std::vector<uint32_t> values) {
    ByteWriter& out = writer.entry(key, GgufType::array).number(GgufType::u32);
    out.number(uint64_t{values.size()});
    for (const uint32_t value : values) out.number(value);
  };
  add_list("llama.attention.head_count_kv", {4, 4});
  add_list("llama.feed_forward_length", {128, 256});
  const Config config = config_of(writer);
  EXPECT_EQ(config.integer("num_key_value_heads"), 4);
  EXPECT_THAT(*config.integers("intermediate_size"), ElementsAre(128, 256));
}

TEST(GgufConfig, ReadsGemmasWindowsAndCaps) {
  GgufWriter writer = model("gemma2");
  writer.add("gemma2.attention.key_length", 32U);
  writer.add("gemma2.attention.sliding_window", 512U);
  writer.add("gemma2.attn_logit_softcapping", 50.0F);
  writer.add("gemma2.final_logit_softcapping", 30.0F);
  const Config config = config_of(writer);
  EXPECT_EQ(config.integer("head_dim"), 32);
  EXPECT_EQ(config.integer("query_pre_attn_scalar"), 32);
  EXPECT_EQ(config.integer("sliding_window"), 512);
  EXPECT_EQ(config.number("attn_logit_softcapping"), 50);
  EXPECT_EQ(config.number("final_logit_softcapping"), 30);
  EXPECT_FALSE(config.has("layer_types"));
}

TEST(GgufConfig, ScalesTheLargestGemmasByTheirWidth) {
  GgufWriter writer;
  writer.add("general.architecture", "gemma3");
  writer.add("gemma3.block_count", 62U);
  writer.add("gemma3.embedding_length", 5376U);
  writer.add("gemma3.attention.head_count", 32U);
  writer.add("gemma3.attention.key_length", 128U);
  EXPECT_EQ(config_of(writer).integer("query_pre_attn_scalar"), 168);
}

TEST(GgufConfig, TurnsAPatternOfWindowsIntoLayerTypes) {
  GgufWriter writer = model("gemma3");
  EXPECT_THAT(*config_of(writer).texts("layer_types"), Each("full_attention"));
  writer.add("gemma3.attention.sliding_window", 512U);
  EXPECT_FALSE(config_of(writer).has("layer_types"));
  writer.add("gemma3.rope.freq_base_swa", 10000.0F);
  EXPECT_EQ(config_of(writer).number("rope_local_base_freq"), 10000);
  GgufWriter by_period = writer;
  by_period.add("gemma3.attention.sliding_window_pattern", 2U);
  const std::vector<std::string> types = {"sliding_attention", "full_attention",
                                          "sliding_attention", "full_attention"};
  EXPECT_EQ(config_of(by_period).texts("layer_types"), types);
  writer.entry("gemma3.attention.sliding_window_pattern", GgufType::array)
      .number(GgufType::boolean)
      .number(uint64_t{4})
      .raw(std::string_view("\1\0\1\0", 4));
  EXPECT_EQ(config_of(writer).texts("layer_types"), types);
}

TEST(GgufConfig, ZeroMeansNoWindow) {
  GgufWriter writer = model("phi3");
  writer.add("phi3.attention.sliding_window", 0U);
  EXPECT_FALSE(config_of(writer).has("sliding_window"));
}

TEST(GgufConfig, ReadsPartialRotation) {
  GgufWriter writer = model("phi3");
  writer.add("phi3.rope.dimension_count", 12U);
  EXPECT_EQ(config_of(writer).number("partial_rotary_factor"), 0.75);
}

TEST(GgufConfig, ReadsLinearAndYarnScaling) {
  GgufWriter linear = model("qwen2");
  linear.add("qwen2.rope.scaling.factor", 4.0F);
  EXPECT_EQ(config_of(linear).dump("rope_scaling"), R"({"factor":4.0,"rope_type":"linear"})");
  GgufWriter none = linear;
  none.add("qwen2.rope.scaling.type", "none");
  EXPECT_FALSE(config_of(none).has("rope_scaling"));

  GgufWriter yarn = linear;
  yarn.add("qwen2.rope.scaling.type", "yarn");
  yarn.add("qwen2.rope.scaling.original_context_length", 1024U);
  yarn.add("qwen2.rope.scaling.yarn_beta_fast", 16.0F);
  EXPECT_EQ(config_of(yarn).dump("rope_scaling"),
            R"({"beta_fast":16.0,"factor":4.0,"rope_type":"yarn"})");
  EXPECT_EQ(config_of(yarn).integer("original_max_position_embeddings"), 1024);
  yarn.add("qwen2.rope.scaling.attn_factor", 2.0F);
  EXPECT_NEAR(*config_of(yarn).number("rope_scaling.attention_factor"),
              2 * (0.1 * std::log(4.0) + 1), 1e-12);
}

TEST(GgufConfig, ReadsFrequencyFactorsFromTensors) {
  GgufWriter llama3 = model("llama");
  add_zeros(llama3, "rope_freqs.weight", 8);
  EXPECT_EQ(config_of(llama3).numbers("rope_freq_factors")->size(), 8U);

  GgufWriter longrope = model("phi3");
  add_zeros(longrope, "rope_factors_long.weight", 8);
  add_zeros(longrope, "rope_factors_short.weight", 8);
  longrope.add("phi3.rope.scaling.attn_factor", 1.25F);
  const Config config = config_of(longrope);
  EXPECT_EQ(config.text("rope_scaling.rope_type"), "longrope");
  EXPECT_EQ(config.numbers("rope_scaling.long_factor")->size(), 8U);
  EXPECT_EQ(config.numbers("rope_scaling.short_factor")->size(), 8U);
  EXPECT_EQ(config.number("rope_scaling.attention_factor"), 1.25);
}

TEST(GgufConfig, ReadsSamplingDefaults) {
  GgufWriter writer = model("qwen3");
  EXPECT_EQ(gguf_generation_config(*writer.parse().value()).dump(), "{}");
  writer.add("general.sampling.temp", 0.5F);
  writer.add("general.sampling.top_k", 20U);
  EXPECT_EQ(gguf_generation_config(*writer.parse().value()).dump(),
            R"({"temperature":0.5,"top_k":20})");
}

}  // namespace
}  // namespace matador
