"""The tiny checkpoints of tests/data/models: for each its config.json, as found on the hub.

Widths are small, but every feature that changes the result is on: windows shorter than the
prompts, original contexts shorter than the prompts, both spellings of keys.
"""

from tiny_dense import DENSE
from tiny_moe import MOE

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "vocab_size": 128,
}


def config(architecture, model_type, **fields):
    """A config.json; a field of None is written as null."""
    return {"architectures": [architecture], "model_type": model_type} | SIZES | fields


def llama(**fields):
    usual = {
        "hidden_act": "silu",
        "head_dim": 16,
        "max_position_embeddings": 128,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
    }
    return config("LlamaForCausalLM", "llama", **(usual | fields))


def qwen(version, **fields):
    usual = {
        "hidden_act": "silu",
        "max_position_embeddings": 128,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "use_sliding_window": False,
        "sliding_window": 8,
        "max_window_layers": 1,
        "tie_word_embeddings": version == 3,
    }
    return config(f"Qwen{version}ForCausalLM", f"qwen{version}", **(usual | fields))


def gemma(version, model_type=None, **fields):
    usual = {
        "head_dim": 16,
        "max_position_embeddings": 128,
        "rms_norm_eps": 1e-6,
    }
    return config(
        f"Gemma{version}ForCausalLM", model_type or f"gemma{version}", **(usual | fields)
    )


GEMMA2 = {
    "num_hidden_layers": 4,
    "hidden_activation": "gelu_pytorch_tanh",
    "query_pre_attn_scalar": 16,
    "sliding_window": 8,
    "attn_logit_softcapping": 5.0,
    "final_logit_softcapping": 6.0,
    "rope_theta": 10000.0,
}
GEMMA3 = {
    "hidden_activation": "gelu_pytorch_tanh",
    "query_pre_attn_scalar": 16,
    "sliding_window": 8,
    "attn_logit_softcapping": None,
    "final_logit_softcapping": None,
}


def phi3(**fields):
    usual = {
        "hidden_act": "silu",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "max_position_embeddings": 128,
        "original_max_position_embeddings": 128,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "rope_scaling": None,
        "sliding_window": None,
        "tie_word_embeddings": False,
    }
    return config("Phi3ForCausalLM", "phi3", **(usual | fields))


def smollm3(**fields):
    usual = {
        "hidden_act": "silu",
        "num_hidden_layers": 4,
        "max_position_embeddings": 128,
        "rms_norm_eps": 1e-6,
        "rope_theta": 5000000.0,
        "attention_bias": False,
        "mlp_bias": False,
        "use_sliding_window": False,
        "sliding_window": None,
    }
    return config("SmolLM3ForCausalLM", "smollm3", **(usual | fields))


SHORT_FACTORS = [1.0, 1.1, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0]
LONG_FACTORS = [1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0]

# name: (dtype the tensors are stored in, config.json)
VARIANTS = {
    "llama": ("float32", llama()),
    "llama-tied": ("bfloat16", llama(tie_word_embeddings=True)),
    "llama-bias": (
        "float16",
        llama(attention_bias=True, mlp_bias=True, hidden_act="gelu", num_key_value_heads=4),
    ),
    # What a config may leave out, and the new place of rope_theta.
    "llama-minimal": (
        "bfloat16",
        {
            k: v
            for k, v in llama(
                num_attention_heads=2, rope_parameters={"rope_type": "default", "rope_theta": 500.0}
            ).items()
            if k not in ("head_dim", "num_key_value_heads", "rope_theta", "tie_word_embeddings")
        },
    ),
    "llama-linear": (
        "bfloat16",
        llama(rope_scaling={"type": "linear", "factor": 4.0}),
    ),
    "llama-dynamic": (
        "bfloat16",
        llama(max_position_embeddings=32, rope_scaling={"type": "dynamic", "factor": 2.0}),
    ),
    "llama-llama3": (
        "bfloat16",
        llama(
            rope_theta=500.0,
            rope_scaling={
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 32,
            },
        ),
    ),
    "llama-yarn": (
        "bfloat16",
        llama(
            rope_scaling={
                "type": "yarn",
                "factor": 4.0,
                "original_max_position_embeddings": 32,
            },
        ),
    ),
    "llama-yarn-options": (
        "bfloat16",
        llama(
            rope_parameters={
                "rope_type": "yarn",
                "rope_theta": 10000.0,
                "factor": 4.0,
                "original_max_position_embeddings": 32,
                "attention_factor": 1.3,
                "beta_fast": 4.0,
                "beta_slow": 0.5,
                "truncate": False,
            },
            rope_theta=None,
        ),
    ),
    "llama-yarn-mscale": (
        "bfloat16",
        llama(
            rope_scaling={
                "rope_type": "yarn",
                "factor": 8.0,
                "original_max_position_embeddings": 16,
                "beta_fast": 2.0,
                "mscale": 2.0,
                "mscale_all_dim": 0.5,
            },
        ),
    ),
    "llama-longrope": (
        "bfloat16",
        llama(
            rope_scaling={
                "rope_type": "longrope",
                "factor": 4.0,
                "original_max_position_embeddings": 32,
                "short_factor": SHORT_FACTORS,
                "long_factor": LONG_FACTORS,
            },
        ),
    ),
    "mistral": (
        "bfloat16",
        config(
            "MistralForCausalLM",
            "mistral",
            hidden_act="silu",
            max_position_embeddings=128,
            rms_norm_eps=1e-5,
            rope_theta=10000.0,
            sliding_window=8,
            tie_word_embeddings=False,
        ),
    ),
    "mistral-full": (
        "bfloat16",
        config(
            "MistralForCausalLM",
            "mistral",
            hidden_act="silu",
            head_dim=24,
            max_position_embeddings=128,
            num_key_value_heads=1,
            rms_norm_eps=1e-5,
            rope_theta=1000000.0,
            sliding_window=None,
            tie_word_embeddings=False,
        ),
    ),
    "qwen2": ("bfloat16", qwen(2)),
    "qwen2-window": ("bfloat16", qwen(2, use_sliding_window=True)),
    "qwen3": ("bfloat16", qwen(3, head_dim=16)),
    "qwen3-window": (
        "bfloat16",
        qwen(
            3,
            head_dim=24,
            attention_bias=True,
            use_sliding_window=True,
            layer_types=["full_attention", "sliding_attention", "full_attention"],
        ),
    ),
    "gemma": ("bfloat16", gemma("", hidden_act="gelu", num_key_value_heads=1, rope_theta=10000.0)),
    "gemma2": ("bfloat16", gemma(2, **GEMMA2)),
    "gemma2-uncapped": (
        "float32",
        gemma(
            2,
            **GEMMA2
            | {
                "attn_logit_softcapping": None,
                "final_logit_softcapping": None,
                "query_pre_attn_scalar": 24,
                "num_hidden_layers": 2,
                "layer_types": ["full_attention", "sliding_attention"],
            },
        ),
    ),
    "gemma3": (
        "bfloat16",
        gemma(
            3,
            "gemma3_text",
            **GEMMA3,
            num_hidden_layers=7,
            rope_theta=1000000.0,
            rope_local_base_freq=10000.0,
            rope_scaling={"rope_type": "linear", "factor": 8.0},
        ),
    ),
    "gemma3-pattern": (
        "bfloat16",
        gemma(
            3,
            "gemma3_text",
            **GEMMA3 | {"query_pre_attn_scalar": 24, "final_logit_softcapping": 6.0},
            num_hidden_layers=4,
            sliding_window_pattern=3,
            rope_theta=50000.0,
            rope_local_base_freq=500.0,
        ),
    ),
    "gemma3-nested": (
        "bfloat16",
        gemma(
            3,
            "gemma3_text",
            **GEMMA3,
            num_hidden_layers=4,
            layer_types=["sliding_attention", "full_attention"] * 2,
            rope_parameters={
                "full_attention": {"rope_type": "default", "rope_theta": 50000.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 500.0},
            },
        ),
    ),
    "phi3": ("bfloat16", phi3(sliding_window=8)),
    "phi3-partial": ("bfloat16", phi3(partial_rotary_factor=0.75)),
    "phi3-longrope": (
        "bfloat16",
        phi3(
            original_max_position_embeddings=32,
            rope_scaling={
                "type": "longrope",
                "short_factor": SHORT_FACTORS,
                "long_factor": LONG_FACTORS,
            },
        ),
    ),
    "smollm3": ("bfloat16", smollm3()),
    "smollm3-layers": ("bfloat16", smollm3(no_rope_layers=[1, 0, 0, 1])),
    "smollm3-window": (
        "bfloat16",
        smollm3(use_sliding_window=True, sliding_window=8, no_rope_layer_interval=2),
    ),
} | DENSE | MOE
