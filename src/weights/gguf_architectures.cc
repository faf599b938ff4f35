#include "weights/gguf_architectures.h"

namespace matador {
namespace {

constexpr GgufArchitecture kArchitectures[] = {
    {"llama", "llama", "LlamaForCausalLM", true},
    {"qwen2", "qwen2", "Qwen2ForCausalLM"},
    {"qwen3", "qwen3", "Qwen3ForCausalLM"},
    {"qwen3moe", "qwen3_moe", "Qwen3MoeForCausalLM", false, false, 0,
     R"({"norm_topk_prob": true})"},
    {"granitemoe", "granitemoe", "GraniteMoeForCausalLM", true},
    {"gemma", "gemma", "GemmaForCausalLM", false, true},
    {"gemma2", "gemma2", "Gemma2ForCausalLM", false, true, 46},
    {"gemma3", "gemma3_text", "Gemma3ForCausalLM", false, true, 62},
    {"phi3", "phi3", "Phi3ForCausalLM"},
    {"smollm3", "smollm3", "SmolLM3ForCausalLM", true},
    {"gpt2", "gpt2", "GPT2LMHeadModel"},
    {"starcoder", "gpt_bigcode", "GPTBigCodeForCausalLM"},
    {"gptneox", "gpt_neox", "GPTNeoXForCausalLM"},
    {"bloom", "bloom", "BloomForCausalLM"},
    {"mpt", "mpt", "MptForCausalLM"},
    {"falcon", "falcon", "FalconForCausalLM"},
    {"phi2", "phi", "PhiForCausalLM"},
    {"stablelm", "stablelm", "StableLmForCausalLM"},
    {"command-r", "cohere", "CohereForCausalLM"},
    {"olmo", "olmo", "OlmoForCausalLM", true},
    {"olmo2", "olmo2", "Olmo2ForCausalLM"},
    {"nemotron", "nemotron", "NemotronForCausalLM", false, true},
    {"granite", "granite", "GraniteForCausalLM", true},
    {"glm4", "glm4", "Glm4ForCausalLM"},
    {"exaone4", "exaone4", "Exaone4ForCausalLM"},
    {"seed_oss", "seed_oss", "SeedOssForCausalLM"},
    {"ernie4_5", "ernie4_5", "Ernie4_5ForCausalLM"},
    {"orion", "orion", "OrionForCausalLM"},
    {"xverse", "xverse", "XverseForCausalLM", true},
    {"internlm2", "internlm2", "InternLM2ForCausalLM", true},
    {"qwen", "qwen", "QWenLMHeadModel"},
    {"chatglm", "chatglm", "ChatGLMModel", false, false, 0, R"({"add_qkv_bias": true})"},
    {"minicpm", "minicpm", "MiniCPMForCausalLM", true},
    {"jais", "jais", "JAISLMHeadModel", false, false, 0,
     R"({"position_embedding_type": "alibi", "activation_function": "swiglu",
         "scale_qk_dot_by_d": true})"},
};

constexpr GgufOwnKey kOwnKeys[] = {
    {"mpt", "attention.clamp_kqv", "attn_config.clip_qkv"},
    {"mpt", "attention.max_alibi_bias", "attn_config.alibi_bias_max"},
    {"olmo", "attention.clamp_kqv", "clip_qkv"},
    {"command-r", "logit_scale", "logit_scale"},
    {"granite", "logit_scale", "logits_scaling"},
    {"granite", "residual_scale", "residual_multiplier"},
    {"granite", "embedding_scale", "embedding_multiplier"},
    {"granite", "attention.scale", "attention_multiplier"},
    {"granitemoe", "logit_scale", "logits_scaling"},
    {"granitemoe", "residual_scale", "residual_multiplier"},
    {"granitemoe", "embedding_scale", "embedding_multiplier"},
    {"granitemoe", "attention.scale", "attention_multiplier"},
    {"minicpm", "embedding_scale", "scale_emb"},
    {"minicpm", "residual_scale", "residual_multiplier"},
    {"minicpm", "logit_scale", "logits_scaling"},
    {"gptneox", "use_parallel_residual", "use_parallel_residual"},
};

constexpr GgufTensorFlag kTensorFlags[] = {
    {"falcon", "blk.0.attn_norm_2.weight", "new_decoder_architecture"},
    {"stablelm", "blk.0.attn_q.bias", "use_qkv_bias"},
    {"stablelm", "blk.0.attn_q_norm.weight", "qk_layernorm"},
    {"stablelm", "blk.0.ffn_norm.weight", "use_parallel_residual", false},
    {"command-r", "blk.0.attn_q_norm.weight", "use_qk_norm"},
    {"ernie4_5", "blk.0.attn_q.bias", "use_bias"},
    {"internlm2", "blk.0.attn_q.bias", "bias"},
    {"glm4", "blk.0.attn_q.bias", "attention_bias"},
    {"seed_oss", "blk.0.attn_q.bias", "attention_bias"},
    {"seed_oss", "blk.0.attn_output.bias", "attention_out_bias"},
};

}  // namespace

GgufArchitecture find_gguf_architecture(std::string_view name) {
  for (const GgufArchitecture& architecture : kArchitectures) {
    if (architecture.gguf == name) return architecture;
  }
  return {};
}

std::span<const GgufOwnKey> gguf_own_keys() { return kOwnKeys; }
std::span<const GgufTensorFlag> gguf_tensor_flags() { return kTensorFlags; }

}  // namespace matador
