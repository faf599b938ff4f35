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
    "minimax-m2": (
        "bfloat16",
        config(
            "MiniMaxM2ForCausalLM",
            "minimax_m2",
            intermediate_size=16,
            head_dim=16,
            rotary_dim=8,
            rope_parameters={
                "rope_type": "default",
                "rope_theta": 10000.0,
                "partial_rotary_factor": 0.5,
            },
            num_local_experts=6,
            num_experts_per_tok=2,
            use_qk_norm=True,
            qk_norm_type="per_layer",
            scoring_func="sigmoid",
        ),
    ),
    "ernie4_5-moe": (
        "bfloat16",
        config(
            "Ernie4_5_MoeForCausalLM",
            "ernie4_5_moe",
            num_hidden_layers=3,
            moe_num_experts=6,
            moe_k=2,
            moe_intermediate_size=16,
            moe_num_shared_experts=2,
            moe_layer_start_index=1,
            moe_layer_end_index=1,
            moe_layer_interval=1,
            tie_word_embeddings=True,
        ),
    ),
    "hunyuan-moe": (
        "bfloat16",
        config(
            "HunYuanMoEV1ForCausalLM",
            "hunyuan_v1_moe",
            head_dim=16,
            intermediate_size=20,
            num_experts=5,
            moe_topk=2,
            rope_scaling={"type": "dynamic", "alpha": 50.0, "factor": 1.0},
        ),
    ),
    "dbrx": (
        "bfloat16",
        {
            "architectures": ["DbrxForCausalLM"],
            "model_type": "dbrx",
            "d_model": 32,
            "n_heads": 4,
            "n_layers": 2,
            "max_seq_len": 128,
            "vocab_size": 64,
            "tie_word_embeddings": False,
            "attn_config": {"kv_n_heads": 2, "clip_qkv": 0.8, "rope_theta": 10000.0},
            "ffn_config": {
                "ffn_act_fn": {"name": "silu"},
                "ffn_hidden_size": 24,
                "moe_num_experts": 5,
                "moe_top_k": 2,
                "moe_normalize_expert_weights": 1.0,
            },
        },
    ),
    "gptoss": (
        "bfloat16",
        config(
            "GptOssForCausalLM",
            "gpt_oss",
            head_dim=16,
            intermediate_size=20,
            num_local_experts=5,
            num_experts_per_tok=2,
            sliding_window=8,
            attention_bias=True,
            swiglu_limit=1.0,
            layer_types=["sliding_attention", "full_attention"],
            rope_scaling={
                "rope_type": "yarn",
                "factor": 4.0,
                "beta_fast": 32.0,
                "beta_slow": 1.0,
                "truncate": False,
                "original_max_position_embeddings": 16,
            },
        ),
    ),
    "llama4": (
        "bfloat16",
        config(
            "Llama4ForCausalLM",
            "llama4_text",
            head_dim=12,
            num_hidden_layers=4,
            intermediate_size=20,
            intermediate_size_mlp=40,
            num_local_experts=4,
            num_experts_per_tok=1,
            interleave_moe_layer_step=2,
            attention_chunk_size=8,
            no_rope_layer_interval=4,
            use_qk_norm=True,
            attn_temperature_tuning=True,
            floor_scale=4,
            attn_scale=0.3,
        ),
    ),
    "llama4-plain": (
        "bfloat16",
        config(
            "Llama4ForCausalLM",
            "llama4_text",
            head_dim=12,
            intermediate_size=20,
            intermediate_size_mlp=40,
            num_local_experts=4,
            num_experts_per_tok=2,
            interleave_moe_layer_step=1,
            attention_chunk_size=16,
            no_rope_layers=[0, 1],
            use_qk_norm=False,
            attn_temperature_tuning=False,
        ),
    ),
}
