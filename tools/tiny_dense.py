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
        usual("NemotronForCausalLM", "nemotron", rope_theta=10000.0),
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
    "ernie4-5": ("bfloat16", usual("Ernie4_5ForCausalLM", "ernie4_5", head_dim=16)),
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
        usual("SeedOssForCausalLM", "seed_oss", head_dim=16),
    ),
    "mpt": ("bfloat16", mpt(attn_config={"alibi": True, "clip_qkv": 1.0})),
    "mpt-6-heads": (
        "bfloat16",
        mpt(d_model=48, n_heads=6, attn_config={"alibi": True, "softmax_scale": 0.3}),
    ),
}



def remote(model_type, architecture, **fields):
    """Llama's keys, for code that is on the hub and not in transformers."""
    usual_keys = {"hidden_act": "silu", "rms_norm_eps": 1e-5}
    keys = usual(architecture, model_type, **(usual_keys | fields))
    return {key: value for key, value in keys.items() if value is not None}


def decided(attention, ffn):
    """A block of Nemotron-NAS: the queries of a kv head, the width's multiplier, or None."""
    return {
        "attention": {"no_op": attention is None, "n_heads_in_group": attention},
        "ffn": {"no_op": ffn is None, "ffn_mult": ffn},
    }


# Architectures of which transformers has no class.
DENSE |= {
    "aquila": ("float16", remote("aquila", "AquilaModel")),
    "xverse": ("bfloat16", remote("xverse", "XverseForCausalLM", num_key_value_heads=None)),
    "orion": ("bfloat16", remote("orion", "OrionForCausalLM", rope_theta=500.0)),
    "internlm": ("bfloat16", remote("internlm", "InternLMForCausalLM", num_key_value_heads=None, bias=True)),
    "internlm2": ("bfloat16", remote("internlm2", "InternLM2ForCausalLM", bias=False, rope_theta=500.0)),
    "internlm3": (
        "bfloat16",
        remote("internlm3", "InternLM3ForCausalLM", head_dim=16, bias=False, qkv_bias=True),
    ),
    "baichuan-7b": (
        "bfloat16",
        remote("baichuan", "BaiChuanForCausalLM", num_key_value_heads=None),
    ),
    "baichuan-13b": (
        "bfloat16",
        remote(
            "baichuan",
            "BaichuanForCausalLM",
            hidden_size=48,
            num_attention_heads=6,
            num_key_value_heads=None,
            max_position_embeddings=None,
            model_max_length=128,
        ),
    ),
    "baichuan2": (
        "bfloat16",
        remote("baichuan", "BaichuanForCausalLM", num_key_value_heads=None, z_loss_weight=0),
    ),
    "minicpm": (
        "bfloat16",
        remote("minicpm", "MiniCPMForCausalLM", scale_emb=3, scale_depth=1.4, dim_model_base=16),
    ),
    "qwen": (
        "bfloat16",
        config(
            "QWenLMHeadModel",
            "qwen",
            hidden_size=32,
            intermediate_size=96,
            num_attention_heads=4,
            num_hidden_layers=2,
            kv_channels=8,
            layer_norm_epsilon=1e-5,
            rotary_emb_base=500.0,
            rotary_pct=1.0,
            seq_length=128,
            max_position_embeddings=256,
            no_bias=True,
            use_dynamic_ntk=True,
            use_logn_attn=True,
            tie_word_embeddings=False,
        ),
    ),
    "chatglm": (
        "float16",
        {
            "architectures": ["ChatGLMModel"],
            "model_type": "chatglm",
            "padded_vocab_size": 64,
            "hidden_size": 32,
            "ffn_hidden_size": 48,
            "kv_channels": 8,
            "num_layers": 2,
            "num_attention_heads": 4,
            "multi_query_attention": True,
            "multi_query_group_num": 2,
            "add_qkv_bias": True,
            "add_bias_linear": False,
            "layernorm_epsilon": 1e-5,
            "post_layer_norm": True,
            "rmsnorm": True,
            "original_rope": True,
            "rope_ratio": 50,
            "seq_length": 128,
        },
    ),
    "deci": (
        "bfloat16",
        remote(
            "deci",
            "DeciLMForCausalLM",
            num_key_value_heads=None,
            num_key_value_heads_per_layer=[4, 1],
        ),
    ),
    "nemotron-nas": (
        "bfloat16",
        remote(
            "nemotron-nas",
            "DeciLMForCausalLM",
            num_hidden_layers=3,
            num_key_value_heads=None,
            intermediate_size=None,
            block_configs=[decided(2, 0.5), decided(None, 1.0), decided(4, None)],
        ),
    ),
    "jais": (
        "bfloat16",
        gpt2(
            "JAISLMHeadModel",
            "jais",
            n_embd=48,
            n_head=6,
            n_inner=40,
            activation_function="swiglu",
            layer_norm_epsilon=1e-5,
            position_embedding_type="alibi",
            mup_embeddings_scale=4.0,
            mup_output_alpha=2.0,
            mup_width_scale=0.25,
            mup_scale_qk_dot_by_d=True,
            tie_word_embeddings=True,
        ),
    ),
}

# Names that are found on the hub beside those of transformers.
RENAMED = {
    "gpt2": (r"^transformer\.", ""),
    "gpt-neox": (r"^lm_head", "embed_out"),
    "bloom": (r"^transformer\.", ""),
    "opt-plain": (r"^model\.", ""),
}
