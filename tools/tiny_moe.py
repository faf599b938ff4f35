"""Tiny checkpoints of mixtures of experts and of latent attention; see tiny_variants.py.

Experts are saved under the hub's names, one tensor an expert, except in the "-fused" variants,
which have the stacked tensors that transformers 5 keeps in memory.
"""

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "vocab_size": 64,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
}


def config(architecture, model_type, **fields):
    return {"architectures": [architecture], "model_type": model_type} | SIZES | fields


def mixtral(**fields):
    usual = {"intermediate_size": 24, "num_local_experts": 5, "num_experts_per_tok": 2}
    return config("MixtralForCausalLM", "mixtral", **(usual | fields))


def qwen2_moe(**fields):
    usual = {
        "num_hidden_layers": 3,
        "num_experts": 6,
        "num_experts_per_tok": 3,
        "moe_intermediate_size": 20,
        "shared_expert_intermediate_size": 24,
        "use_sliding_window": False,
        "sliding_window": 8,
        "max_window_layers": 1,
    }
    return config("Qwen2MoeForCausalLM", "qwen2_moe", **(usual | fields))


def qwen3_moe(**fields):
    usual = {
        "head_dim": 12,
        "num_experts": 6,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 20,
        "norm_topk_prob": True,
    }
    return config("Qwen3MoeForCausalLM", "qwen3_moe", **(usual | fields))


def olmoe(**fields):
    usual = {"intermediate_size": 24, "num_experts": 6, "num_experts_per_tok": 3}
    return config("OlmoeForCausalLM", "olmoe", **(usual | fields))


def granite_moe(architecture="GraniteMoeForCausalLM", model_type="granitemoe", **fields):
    usual = {
        "intermediate_size": 24,
        "num_local_experts": 5,
        "num_experts_per_tok": 2,
        "embedding_multiplier": 3.0,
        "attention_multiplier": 0.2,
        "residual_multiplier": 0.6,
        "logits_scaling": 2.0,
    }
    return config(architecture, model_type, **(usual | fields))


def latent(architecture, model_type, **fields):
    usual = {
        "num_key_value_heads": 4,
        "kv_lora_rank": 16,
        "q_lora_rank": None,
        "qk_nope_head_dim": 12,
        "qk_rope_head_dim": 8,
        "v_head_dim": 10,
    }
    return config(architecture, model_type, **(usual | fields))


def deepseek(version, **fields):
    usual = {
        "num_hidden_layers": 3,
        "first_k_dense_replace": 1,
        "moe_intermediate_size": 16,
        "n_routed_experts": 8,
        "n_shared_experts": 2,
        "num_experts_per_tok": 3,
        "routed_scaling_factor": 1.5,
        "norm_topk_prob": version == 3,
        "moe_layer_freq": 1,
    }
    return latent(f"DeepseekV{version}ForCausalLM", f"deepseek_v{version}", **(usual | fields))


YARN = {
    "type": "yarn",
    "factor": 4.0,
    "original_max_position_embeddings": 16,
    "beta_fast": 32,
    "beta_slow": 1,
    "mscale": 0.707,
    "mscale_all_dim": 0.5,
}
GROUPS = {"n_group": 4, "topk_group": 2}

MOE = {
    "mixtral": ("bfloat16", mixtral(sliding_window=None)),
    "mixtral-fused": ("float32", mixtral(sliding_window=8, num_experts_per_tok=3)),
    "qwen2moe": ("bfloat16", qwen2_moe(mlp_only_layers=[1], norm_topk_prob=False)),
    "qwen2moe-sparse": (
        "bfloat16",
        qwen2_moe(decoder_sparse_step=2, norm_topk_prob=True, use_sliding_window=True),
    ),
    "qwen3moe": ("bfloat16", qwen3_moe()),
    "qwen3moe-fused": (
        "bfloat16",
        qwen3_moe(norm_topk_prob=False, mlp_only_layers=[0], attention_bias=True),
    ),
    "olmoe": ("bfloat16", olmoe(norm_topk_prob=False)),
    "olmoe-clipped": ("bfloat16", olmoe(norm_topk_prob=True, clip_qkv=0.5)),
    "phimoe": (
        "bfloat16",
        config(
            "PhiMoEForCausalLM",
            "phimoe",
            intermediate_size=24,
            num_local_experts=5,
            num_experts_per_tok=2,
            router_jitter_noise=0.2,
            attention_bias=True,
            lm_head_bias=True,
            sliding_window=8,
        ),
    ),
    "granitemoe": ("bfloat16", granite_moe()),
    "granitemoe-shared": (
        "bfloat16",
        granite_moe(
            "GraniteMoeSharedForCausalLM", "granitemoeshared", shared_intermediate_size=20
        ),
    ),
    "glm4moe": (
        "bfloat16",
        config(
            "Glm4MoeForCausalLM",
            "glm4_moe",
            head_dim=16,
            partial_rotary_factor=0.5,
            attention_bias=True,
            use_qk_norm=True,
            first_k_dense_replace=1,
            moe_intermediate_size=16,
            n_routed_experts=6,
            n_shared_experts=1,
            num_experts_per_tok=2,
            routed_scaling_factor=1.5,
            norm_topk_prob=True,
            n_group=1,
            topk_group=1,
        ),
    ),
    "deepseek2-lite": (
        "bfloat16",
        deepseek(2, topk_method="greedy", n_group=None, topk_group=None),
    ),
    "deepseek2": (
        "bfloat16",
        deepseek(
            2, topk_method="group_limited_greedy", q_lora_rank=24, rope_scaling=YARN, **GROUPS
        ),
    ),
    "deepseek3": ("bfloat16", deepseek(3, q_lora_rank=24, **GROUPS)),
    "deepseek3-yarn": (
        "bfloat16",
        deepseek(3, rope_scaling=YARN, rope_interleave=False, attention_bias=True, **GROUPS),
    ),
    "minicpm3": (
        "bfloat16",
        latent(
            "MiniCPM3ForCausalLM",
            "minicpm3",
            q_lora_rank=24,
            scale_emb=3,
            scale_depth=1.4,
            dim_model_base=16,
        ),
    ),
}
