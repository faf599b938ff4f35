"""Tiny checkpoints of the dense families beside Llama's kin; see tiny_variants.py."""


def config(architecture, model_type, **fields):
    return {"architectures": [architecture], "model_type": model_type, "vocab_size": 64} | fields


def usual(architecture, model_type, **fields):
    """With the keys that most configs have."""
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
    }
    return config(architecture, model_type, **(sizes | fields))


def gpt2(architecture="GPT2LMHeadModel", model_type="gpt2", **fields):
    sizes = {"n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 64, "n_inner": None}
    return config(architecture, model_type, **(sizes | fields))


def neox(**fields):
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "max_position_embeddings": 128,
        "hidden_act": "gelu",
        "rotary_pct": 0.25,
        "rotary_emb_base": 10000,
        "tie_word_embeddings": False,
    }
    return config("GPTNeoXForCausalLM", "gpt_neox", **(sizes | fields))


def opt(**fields):
    sizes = {
        "hidden_size": 32,
        "ffn_dim": 48,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "max_position_embeddings": 64,
        "word_embed_proj_dim": 32,
    }
    return config("OPTForCausalLM", "opt", **(sizes | fields))


def falcon(**fields):
    sizes = {
        "hidden_size": 32,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "bias": False,
        "ffn_hidden_size": 48,
    }
    return config("FalconForCausalLM", "falcon", **(sizes | fields))


def mpt(**fields):
    sizes = {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 64}
    return config("MptForCausalLM", "mpt", **(sizes | fields))


# name: (dtype the tensors are stored in, config.json)
DENSE = {
    "gpt2": ("float16", gpt2()),
    "gpt2-options": (
        "bfloat16",
        gpt2(n_inner=48, activation_function="gelu", scale_attn_by_inverse_layer_idx=True),
    ),
    "gpt-bigcode": (
        "bfloat16",
        gpt2("GPTBigCodeForCausalLM", "gpt_bigcode", activation_function="gelu_pytorch_tanh"),
    ),
    "gpt-bigcode-heads": (
        "bfloat16",
        gpt2("GPTBigCodeForCausalLM", "gpt_bigcode", multi_query=False, n_inner=48),
    ),
    "gptj": ("bfloat16", gpt2("GPTJForCausalLM", "gptj", rotary_dim=4, tie_word_embeddings=False)),
    "gpt-neox": ("float16", neox()),
    "gpt-neox-sequential": (
        "bfloat16",
        neox(use_parallel_residual=False, rotary_pct=1.0, hidden_act="gelu_new"),
    ),
    "opt": ("float16", opt()),
    "opt-350m": (
        "bfloat16",
        opt(do_layer_norm_before=False, word_embed_proj_dim=16),
    ),
    "opt-plain": (
        "bfloat16",
        opt(enable_bias=False, layer_norm_elementwise_affine=False, activation_function="gelu"),
    ),
    "bloom": (
        "bfloat16",
        config("BloomForCausalLM", "bloom", n_embed=32, num_attention_heads=4, n_layer=2),
    ),
    "bloom-6-heads": (
        "float16",
        config(
            "BloomForCausalLM",
            "bloom",
            hidden_size=48,
            n_head=6,
            n_layer=2,
            apply_residual_connection_post_layernorm=True,
        ),
    ),
    "falcon-7b": ("bfloat16", falcon(multi_query=True, parallel_attn=True)),
    "falcon-40b": ("bfloat16", falcon(new_decoder_architecture=True, num_kv_heads=2)),
    "falcon-11b": (
        "bfloat16",
        falcon(
            new_decoder_architecture=True,
            num_kv_heads=2,
            num_ln_in_parallel_attn=1,
            tie_word_embeddings=False,
            rope_theta=500042.0,
        ),
    ),
    "falcon-rw": (
        "bfloat16",
        falcon(alibi=True, bias=True, multi_query=False, parallel_attn=False),
    ),
    "phi": ("bfloat16", usual("PhiForCausalLM", "phi", num_key_value_heads=4)),
    "phi-qk-norm": (
        "float16",
        usual("PhiForCausalLM", "phi", qk_layernorm=True, partial_rotary_factor=0.25),
    ),
    "persimmon": (
        "bfloat16",
        usual(
            "PersimmonForCausalLM",
            "persimmon",
            num_key_value_heads=None,
            hidden_act="relu2",
            rope_theta=25000.0,
        ),
    ),
    "stablelm": ("bfloat16", usual("StableLmForCausalLM", "stablelm", use_qkv_bias=True)),
    "stablelm-12b": (
        "bfloat16",
        usual(
            "StableLmForCausalLM",
            "stablelm",
            qk_layernorm=True,
            use_parallel_residual=True,
            partial_rotary_factor=0.5,
        ),
    ),
    "starcoder2": (
        "bfloat16",
        usual("Starcoder2ForCausalLM", "starcoder2", sliding_window=8, rope_theta=100000.0),
    ),
    "cohere": ("float16", usual("CohereForCausalLM", "cohere", logit_scale=0.25)),
    "cohere-qk-norm": (
        "bfloat16",
        usual("CohereForCausalLM", "cohere", use_qk_norm=True, attention_bias=True),
    ),
    "cohere2": (
        "bfloat16",
        usual(
            "Cohere2ForCausalLM",
            "cohere2",
            head_dim=12,
            sliding_window=8,
            sliding_window_pattern=2,
            rope_theta=50000.0,
        ),
    ),
    "olmo": ("bfloat16", usual("OlmoForCausalLM", "olmo", clip_qkv=1.0)),
    "olmo-unclipped": (
        "bfloat16",
        usual("OlmoForCausalLM", "olmo", clip_qkv=None, rope_theta=500000.0),
    ),
    "olmo2": ("bfloat16", usual("Olmo2ForCausalLM", "olmo2", rope_theta=500000.0)),
    "olmo3": (
        "bfloat16",
        usual(
            "Olmo3ForCausalLM",
            "olmo3",
            num_hidden_layers=4,
            sliding_window=8,
            rope_theta=500000.0,
            rope_scaling={
                "rope_type": "yarn",
                "factor": 4.0,
                "original_max_position_embeddings": 32,
                "attention_factor": 1.2,
                "beta_fast": 32.0,
                "beta_slow": 1.0,
            },
        ),
    ),
    "exaone4": (
        "bfloat16",
        usual(
            "Exaone4ForCausalLM",
            "exaone4",
            num_hidden_layers=3,
            sliding_window=8,
            sliding_window_pattern="LLG",
            layer_types=["sliding_attention", "sliding_attention", "full_attention"],
            rope_theta=1000000.0,
        ),
    ),
    "exaone4-full": (
        "bfloat16",
        usual("Exaone4ForCausalLM", "exaone4", sliding_window=None, layer_types=["full_attention"] * 2),
    ),
    "nemotron": (
        "bfloat16",
        usual("NemotronForCausalLM", "nemotron", head_dim=12, rope_theta=10000.0),
    ),
    "glm": ("bfloat16", usual("GlmForCausalLM", "glm", head_dim=16)),
    "glm4": (
        "bfloat16",
        usual("Glm4ForCausalLM", "glm4", head_dim=16, attention_bias=False, rope_theta=500.0),
    ),
    "granite": (
        "bfloat16",
        usual(
            "GraniteForCausalLM",
            "granite",
            attention_multiplier=0.5,
            embedding_multiplier=3.0,
            residual_multiplier=0.4,
            logits_scaling=2.0,
            attention_bias=True,
            tie_word_embeddings=True,
        ),
    ),
    "ernie4-5": ("bfloat16", usual("Ernie4_5ForCausalLM", "ernie4_5", head_dim=16, use_bias=True)),
    "hunyuan": (
        "bfloat16",
        usual(
            "HunYuanDenseV1ForCausalLM",
            "hunyuan_v1_dense",
            head_dim=16,
            rope_scaling={"type": "dynamic", "alpha": 50.0, "factor": 1.0},
        ),
    ),
    "seed-oss": (
        "bfloat16",
        usual("SeedOssForCausalLM", "seed_oss", head_dim=16, attention_out_bias=True),
    ),
    "mpt": ("bfloat16", mpt(attn_config={"alibi": True, "clip_qkv": 1.0})),
    "mpt-6-heads": (
        "bfloat16",
        mpt(d_model=48, n_heads=6, attn_config={"alibi": True, "softmax_scale": 0.3}),
    ),
}

# Names that are found on the hub beside those of transformers.
RENAMED = {
    "gpt2": (r"^transformer\.", ""),
    "gpt-neox": (r"^lm_head", "embed_out"),
    "bloom": (r"^transformer\.", ""),
    "opt-plain": (r"^model\.", ""),
}
