// What a checkpoint cannot have: each refusal names the key or the tensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/reference/reference.h"
#include "models/model.h"
#include "weights/checkpoint.h"

namespace matador {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::unique_ptr<Checkpoint> open(const std::string& name) {
  auto checkpoint = open_checkpoint(std::string(MATADOR_TEST_DATA) + "/models/" + name);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  return std::move(*checkpoint);
}

// A tiny checkpoint with something changed.
class Changed final : public Checkpoint {
 public:
  explicit Changed(const std::string& name)
      : original_(open(name)),
        config_(original_->config()),
        tensors_(original_->tensors().begin(), original_->tensors().end()) {}

  NameStyle name_style() const override { return original_->name_style(); }
  const Config& config() const override { return config_; }
  const Config& generation_config() const override { return original_->generation_config(); }
  std::span<const StoredTensor> tensors() const override { return tensors_; }
  const std::string& path() const override { return original_->path(); }

  template <class T>
  Changed&& with(std::string_view key, const T& value) && {
    config_.set(key, value);
    return std::move(*this);
  }
  Changed&& with_scaling(const std::string& json) && {
    return std::move(*this).with("rope_scaling", Config::parse(json, "test").value());
  }
  StoredTensor& tensor(std::string_view name) {
    return *std::find_if(tensors_.begin(), tensors_.end(),
                         [&](const StoredTensor& tensor) { return tensor.name == name; });
  }
  void remove(std::string_view name) {
    std::erase_if(tensors_, [&](const StoredTensor& tensor) { return tensor.name == name; });
  }
  void sort() {
    std::sort(tensors_.begin(), tensors_.end(),
              [](const StoredTensor& a, const StoredTensor& b) { return a.name < b.name; });
  }

 private:
  std::unique_ptr<Checkpoint> original_;
  Config config_;
  std::vector<StoredTensor> tensors_;
};

// The error's message, or "loaded".
std::string load(const Checkpoint& checkpoint) {
  const auto backend = make_reference_backend();
  const auto model = load_model(checkpoint, *backend, {});
  return model.ok() ? "loaded" : model.error().message;
}

TEST(Loading, AcceptsTheCheckpointsThatTheOtherTestsChange) {
  for (const char* name : {"llama", "qwen2", "gemma", "gemma2", "phi3", "smollm3"}) {
    EXPECT_EQ(load(Changed(name)), "loaded") << name;
  }
}

TEST(Loading, AnUnknownArchitectureNamesTheNearestKnown) {
  const auto changed =
      Changed("llama").with("architectures", std::vector<std::string>{"Qwen9ForCausalLM"});
  EXPECT_THAT(load(changed), AllOf(HasSubstr("architectures is \"Qwen9ForCausalLM\""),
                                   HasSubstr("Qwen2ForCausalLM, Qwen3ForCausalLM")));
}

TEST(Loading, TheModelTypeDecidesWhereNoArchitectureIsNamed) {
  EXPECT_EQ(load(Changed("llama").with("architectures", std::vector<std::string>())), "loaded");
  EXPECT_THAT(load(Changed("llama")
                       .with("architectures", std::vector<std::string>())
                       .with("model_type", std::string("lama"))),
              AllOf(HasSubstr("model_type is \"lama\""), HasSubstr("known are llama")));
}

TEST(Loading, AnUnknownActivationIsRefused) {
  EXPECT_THAT(load(Changed("llama").with("hidden_act", std::string("xielu"))),
              HasSubstr("hidden_act is \"xielu\", expected silu, gelu"));
}

TEST(Loading, AnUnknownRopeTypeIsRefusedInBothSpellings) {
  EXPECT_THAT(load(Changed("llama").with_scaling(R"({"type": "ntk", "factor": 2})")),
              HasSubstr("rope_scaling.type is \"ntk\", expected default, linear"));
  EXPECT_THAT(load(Changed("llama").with_scaling(R"({"rope_type": "ntk", "factor": 2})")),
              HasSubstr("rope_scaling.rope_type is \"ntk\""));
}

TEST(Loading, ARopeScalingWithoutItsParametersIsRefused) {
  EXPECT_THAT(load(Changed("llama").with_scaling(R"({"type": "linear"})")),
              HasSubstr("rope_scaling.factor is missing, expected a number"));
  EXPECT_THAT(load(Changed("llama").with_scaling(R"({"type": "linear", "factor": 0})")),
              HasSubstr("rope_scaling.factor is 0, expected a number above zero"));
  EXPECT_THAT(load(Changed("llama").with_scaling(
                  R"({"type": "longrope", "factor": 2, "short_factor": [1], "long_factor": [1]})")),
              AllOf(HasSubstr("rope_scaling.short_factor is [1], expected 8 positive numbers"),
                    HasSubstr("rope_scaling.long_factor is [1]")));
}

TEST(Loading, ARotationOfAnOddOrImpossiblePartOfAHeadIsRefused) {
  for (double part : {1.5, 0.2, 0.01, -1.0}) {
    EXPECT_THAT(load(Changed("llama").with("partial_rotary_factor", part)),
                HasSubstr("partial_rotary_factor is "))
        << part;
  }
}

TEST(Loading, BidirectionalAttentionIsRefused) {
  EXPECT_THAT(load(Changed("gemma").with("use_bidirectional_attention", true)),
              HasSubstr("use_bidirectional_attention is true, expected false"));
}

TEST(Loading, AnUnknownLayerTypeIsRefused) {
  EXPECT_THAT(
      load(Changed("qwen2").with("layer_types", std::vector<std::string>(3, "chunked_attention"))),
      HasSubstr("expected only sliding_attention and full_attention"));
  EXPECT_THAT(
      load(Changed("qwen2").with("layer_types", std::vector<std::string>(2, "full_attention"))),
      HasSubstr("expected one type for each of num_hidden_layers"));
}

TEST(Loading, AQuantisedCheckpointIsRefused) {
  EXPECT_THAT(load(Changed("llama").with("quantization_config",
                                         Config::parse(R"({"quant_method": "awq"})", "").value())),
              HasSubstr("quantization_config is {\"quant_method\":\"awq\"}"));
}

TEST(Loading, ValuesOfTheWrongKindAreReportedTogether) {
  EXPECT_THAT(load(Changed("llama")
                       .with("num_hidden_layers", int64_t{-1})
                       .with("rms_norm_eps", std::string("small"))
                       .with("num_key_value_heads", int64_t{3})
                       .with("attention_bias", int64_t{1})),
              AllOf(HasSubstr("num_hidden_layers is -1, expected a positive integer"),
                    HasSubstr("rms_norm_eps is \"small\", expected a number"),
                    HasSubstr("num_key_value_heads is 3, expected a divisor"),
                    HasSubstr("attention_bias is 1, expected true or false")));
}

TEST(Loading, AnImpossibleNumberOfLayersIsRefused) {
  EXPECT_THAT(load(Changed("llama").with("num_hidden_layers", int64_t{2000000000})),
              HasSubstr("num_hidden_layers is 2000000000, expected at most"));
}

TEST(Loading, MissingMisshapenAndUnreadTensorsAreReportedAtOnce) {
  Changed changed("llama");
  changed.remove("model.norm.weight");
  changed.remove("model.layers.2.mlp.up_proj.weight");
  std::swap(changed.tensor("lm_head.weight").shape[0], changed.tensor("lm_head.weight").shape[1]);
  changed.tensor("model.layers.0.self_attn.k_proj.weight").name = "model.layers.0.attn.k.weight";
  changed.sort();
  EXPECT_THAT(load(changed),
              AllOf(HasSubstr("3 missing"), HasSubstr("model.norm.weight [32]"),
                    HasSubstr("model.layers.2.mlp.up_proj.weight [64, 32]"),
                    HasSubstr("model.layers.0.self_attn.k_proj.weight [32, 32]"),
                    HasSubstr("lm_head.weight is f32 [32, 128], expected [128, 32]"),
                    HasSubstr("1 that the model has no use for: model.layers.0.attn.k.weight")));
}

TEST(Loading, ABiasThatTheConfigDoesNotMentionIsRefused) {
  EXPECT_THAT(load(Changed("llama-bias").with("mlp_bias", false)),
              AllOf(HasSubstr("9 that the model has no use for"),
                    HasSubstr("model.layers.0.mlp.down_proj.bias")));
}

TEST(Loading, AFusedTensorOfTheWrongSizeIsReportedOnce) {
  Changed changed("phi3");
  changed.tensor("model.layers.0.self_attn.qkv_proj.weight").shape[0] -= 1;
  EXPECT_THAT(load(changed), HasSubstr("1 of another shape than the config asks for: "
                                       "model.layers.0.self_attn.qkv_proj.weight"));
}

TEST(Loading, AKeyIsNamedAsTheConfigSpellsIt) {
  EXPECT_THAT(load(Changed("gpt2").with("n_embd", int64_t{-1})),
              HasSubstr("n_embd is -1, expected a positive integer"));
  EXPECT_THAT(load(Changed("falcon-7b").with("num_hidden_layers", std::string("two"))),
              HasSubstr("num_hidden_layers is \"two\""));
  EXPECT_THAT(load(Changed("gptj").with("rotary_dim", int64_t{9})),
              HasSubstr("rotary_dim is 9, expected an even number up to head_dim 8"));
}

TEST(Loading, ATransposedTensorOfTheWrongShapeIsNamed) {
  Changed changed("gpt2");
  std::vector<int64_t>& shape = changed.tensor("h.1.attn.c_attn.weight").shape;
  std::swap(shape[0], shape[1]);
  EXPECT_THAT(load(changed), HasSubstr("h.1.attn.c_attn.weight is f16 [96, 32], "
                                       "expected [32, 96]"));
}

TEST(Loading, AMissingTensorIsNamedAsTheFirstSpellingHasIt) {
  Changed changed("opt");
  changed.remove("model.decoder.embed_positions.weight");
  EXPECT_THAT(load(changed), HasSubstr("1 missing: model.decoder.embed_positions.weight [66, 32]"));
}

TEST(Loading, PartsOfABlockThatThisBuildHasNotAreRefused) {
  EXPECT_THAT(load(Changed("gpt2").with("add_cross_attention", true)),
              HasSubstr("add_cross_attention is true, expected false"));
  EXPECT_THAT(load(Changed("mpt").with("logit_scale", std::string("inv_sqrt_d_model"))),
              HasSubstr("logit_scale is \"inv_sqrt_d_model\", expected none"));
}

TEST(Loading, ASearchedBlockThatThisBuildHasNotIsRefused) {
  const Config blocks =
      Config::parse(R"({"0": {"attention": {"replace_with_linear": true}, "ffn": {"no_op": true}},
                        "1": {"attention": {"n_heads_in_group": 3}, "ffn": {"no_op": true}},
                        "2": {"attention": {"no_op": true}, "ffn": {"ffn_mult": -1}}})",
                    "test")
          .value();
  EXPECT_THAT(
      load(Changed("nemotron-nas").with("block_configs", blocks)),
      AllOf(HasSubstr("block_configs.0.attention.replace_with_linear is true, expected false"),
            HasSubstr("block_configs.1.attention.n_heads_in_group is 3, expected divisors"),
            HasSubstr("block_configs.2.ffn.ffn_mult is -1, expected a number above zero")));
}

TEST(Loading, KvHeadsOfEachLayerMustFitTheLayersAndTheHeads) {
  constexpr std::string_view kKey = "num_key_value_heads_per_layer";
  EXPECT_THAT(load(Changed("deci").with(kKey, std::vector<int64_t>{4})),
              HasSubstr("num_key_value_heads_per_layer is [4], expected a positive integer for"));
  EXPECT_THAT(load(Changed("deci").with(kKey, std::vector<int64_t>{4, 3})),
              HasSubstr("num_key_value_heads_per_layer is [4,3], expected divisors"));
}

TEST(Loading, ValuesThatOnlyRemoteCodeKnowsAreRefused) {
  EXPECT_THAT(load(Changed("chatglm").with("rmsnorm", false)), HasSubstr("rmsnorm is false"));
  EXPECT_THAT(load(Changed("jais").with("position_embedding_type", std::string("learned"))),
              HasSubstr("position_embedding_type is \"learned\", expected alibi"));
  EXPECT_THAT(
      load(Changed("internlm").with("rotary", Config::parse(R"({"type": "ntk"})", "").value())),
      HasSubstr("rotary.type is \"ntk\", expected origin or dynamic"));
  EXPECT_THAT(load(Changed("stablelm-12b").with("num_attention_heads", int64_t{8})),
              HasSubstr("self_attn.q_layernorm.norms.7.weight"));
}

TEST(Loading, LayersThatOnlyDraftAreLeftAlone) {
  const auto shortened = [] { return Changed("deepseek3").with("num_hidden_layers", int64_t{2}); };
  EXPECT_THAT(load(shortened()), HasSubstr("no use for: model.layers.2."));
  EXPECT_EQ(load(shortened().with("num_nextn_predict_layers", int64_t{1})), "loaded");
}

TEST(Loading, AMissingExpertIsNamed) {
  Changed checkpoint("deepseek3");
  checkpoint.remove("model.layers.1.mlp.experts.3.up_proj.weight");
  EXPECT_THAT(load(checkpoint), HasSubstr("model.layers.1.mlp.experts.3.up_proj.weight [16, 32]"));
}

TEST(Loading, ChoicesOfExpertsThatCannotBeAreRefused) {
  EXPECT_THAT(load(Changed("deepseek3").with("n_group", int64_t{3})), HasSubstr("n_group is 3"));
  EXPECT_THAT(load(Changed("deepseek3").with("topk_group", int64_t{5})),
              HasSubstr("topk_group is 5"));
  EXPECT_THAT(load(Changed("mixtral").with("num_experts_per_tok", int64_t{6})),
              HasSubstr("num_experts_per_tok is 6"));
  EXPECT_THAT(load(Changed("deepseek2").with("topk_method", std::string("best"))),
              HasSubstr("topk_method is \"best\""));
}

TEST(Loading, ATiedHeadMayBeStoredAsWell) {
  EXPECT_EQ(load(Changed("llama").with("tie_word_embeddings", true)), "loaded");
  EXPECT_THAT(load(Changed("llama-tied").with("tie_word_embeddings", false)),
              HasSubstr("1 missing: lm_head.weight [128, 32]"));
}

TEST(Loading, ProgressReachesTheWhole) {
  const auto checkpoint = open("llama");
  const auto backend = make_reference_backend();
  uint64_t done = 0;
  uint64_t total = 0;
  LoadOptions options;
  options.progress = [&](uint64_t now, uint64_t all) {
    EXPECT_GT(now, done);
    done = now;
    total = all;
  };
  const auto model = load_model(*checkpoint, *backend, options);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(done, total);
  EXPECT_EQ(total, (*model)->info().weight_bytes);
  EXPECT_EQ(total, static_cast<uint64_t>((*model)->info().num_parameters) * sizeof(float));
}

}  // namespace
}  // namespace matador
