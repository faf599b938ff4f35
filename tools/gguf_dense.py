"""How llama.cpp's converters write the dense families beside Llama's kin; see make_tiny_gguf.py.

Names come from the gguf package's own table of Hugging Face's; here are the tensors that change on
the way, and the metadata.
"""

import gguf
import torch


def permute(tensor, heads):
    """From halves to neighbours."""
    return tensor.reshape(heads, 2, -1, *tensor.shape[1:]).swapaxes(1, 2).reshape(tensor.shape)


def heads_of(config):
    heads = config.get("num_attention_heads") or config.get("n_head") or config.get("n_heads")
    kv_heads = config.get("num_key_value_heads") or config.get("num_kv_heads")
    if config.get("multi_query") or config["model_type"] == "gpt_bigcode":
        kv_heads = 1
    if config.get("multi_query_attention"):
        kv_heads = config["multi_query_group_num"]
    return heads, kv_heads or heads


def ungroup(tensor, config):
    """Rows of each kv head's queries, key and value become all queries, all keys, all values."""
    heads, kv_heads = heads_of(config)
    group = heads // kv_heads
    parts = tensor.unflatten(0, (kv_heads, group + 2, -1))
    return [parts[:, :group].flatten(0, 2), parts[:, -2].flatten(0, 1), parts[:, -1].flatten(0, 1)]


def fused(name, tensor, config):
    rows = torch.cat(ungroup(tensor, config)) if "query_key_value" in name else tensor
    return {name: rows}


def permuted(name, tensor, config):
    heads, kv_heads = heads_of(config)
    if "q_proj" in name:
        return {name: permute(tensor, heads)}
    return {name: permute(tensor, kv_heads) if "k_proj" in name else tensor}


def transposed(name, tensor, config):
    matrices = ("c_attn.weight", "c_fc.weight", "c_fc2.weight", "c_proj.weight")
    return {name: tensor.T.contiguous() if name.endswith(matrices) else tensor}


def plus_one(name, tensor, config):
    return {name: tensor + 1 if name.endswith("norm.weight") else tensor}


def internlm2(name, tensor, config):
    if "wqkv" not in name:
        return {name: tensor}
    heads, kv_heads = heads_of(config)
    q, k, v = ungroup(tensor, config)
    stem = name.replace("attention.wqkv.weight", "self_attn.{}_proj.weight")
    return {
        stem.format("q"): permute(q, heads),
        stem.format("k"): permute(k, kv_heads),
        stem.format("v"): v,
    }


def jais(name, tensor, config):
    if name == "transformer.wte.weight":
        factor = config["mup_output_alpha"] * config["mup_width_scale"]
        return {name: tensor * config["mup_embeddings_scale"], "lm_head.weight": tensor * factor}
    return transposed(name, tensor, config)


def chatglm(name, tensor, config):
    return {name.removeprefix("transformer."): tensor} if "inv_freq" not in name else {}


# folder: (GGUF's architecture, how a tensor changes)
DENSE = {
    "gpt2": ("gpt2", transposed),
    "gpt-bigcode": ("starcoder", fused),
    "gpt-neox": ("gptneox", fused),
    "gpt-neox-sequential": ("gptneox", fused),
    "bloom": ("bloom", fused),
    "mpt": ("mpt", fused),
    "falcon-7b": ("falcon", fused),
    "falcon-40b": ("falcon", fused),
    "phi": ("phi2", fused),
    "stablelm": ("stablelm", fused),
    "cohere": ("command-r", fused),
    "olmo": ("olmo", permuted),
    "olmo2": ("olmo2", fused),
    "nemotron": ("nemotron", plus_one),
    "granite": ("granite", permuted),
    "glm4": ("glm4", fused),
    "exaone4-full": ("exaone4", fused),
    "seed-oss": ("seed_oss", fused),
    "ernie4-5": ("ernie4_5", fused),
    "orion": ("orion", fused),
    "xverse": ("xverse", permuted),
    "internlm2": ("internlm2", internlm2),
    "qwen": ("qwen", fused),
    "chatglm": ("chatglm", chatglm),
    "minicpm": ("minicpm", permuted),
    "jais": ("jais", jais),
}

def first_of(config, *keys):
    return next((config[key] for key in keys if config.get(key) is not None), None)


def add_sizes(writer, config, arch):
    hidden = first_of(config, "hidden_size", "n_embd", "n_embed", "d_model")
    heads, kv_heads = heads_of(config)
    head_dim = first_of(config, "head_dim", "kv_channels") or hidden // heads
    inner = first_of(config, "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size")
    length = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len")
    writer.add_context_length(first_of(config, *length) or 2048)
    writer.add_embedding_length(hidden)
    writer.add_block_count(first_of(config, "num_hidden_layers", "n_layer", "n_layers", "num_layers"))
    writer.add_feed_forward_length(inner or 4 * hidden)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_vocab_size(first_of(config, "vocab_size", "padded_vocab_size"))
    part = first_of(config, "partial_rotary_factor", "rotary_pct") or DEFAULT_PART.get(arch, 1)
    writer.add_rope_dimension_count(int(part * head_dim))
    base = first_of(config, "rope_theta", "rotary_emb_base") or DEFAULT_BASE.get(arch, 10000.0)
    writer.add_rope_freq_base(base * config.get("rope_ratio", 1))


DEFAULT_PART = {"phi2": 0.5, "stablelm": 0.25, "nemotron": 0.5, "glm4": 0.5, "chatglm": 0.5}
DEFAULT_BASE = {"command-r": 500000.0, "ernie4_5": 500000.0}
LAYER_NORM = {"orion", "nemotron", "command-r", "phi2", "stablelm", "olmo"}


def add_norm_eps(writer, config, arch):
    spellings = ("rms_norm_eps", "layer_norm_epsilon", "layernorm_epsilon", "layer_norm_eps")
    eps = first_of(config, *spellings, "norm_eps", "norm_epsilon") or 1e-5
    old = {"gpt2", "starcoder", "gptneox", "bloom", "mpt", "falcon", "jais"}
    if arch in LAYER_NORM | old:
        writer.add_layer_norm_eps(eps)
    else:
        writer.add_layer_norm_rms_eps(1.5625e-7 if arch == "glm4" else eps)


def add_own(writer, config, arch):
    if arch == "gptneox":
        writer.add_parallel_residual(config.get("use_parallel_residual", True))
    if arch == "mpt":
        writer.add_clamp_kqv(config["attn_config"]["clip_qkv"])
        writer.add_max_alibi_bias(8.0)
    if arch == "jais":
        writer.add_max_alibi_bias(8.0)
    if arch == "olmo":
        writer.add_clamp_kqv(config["clip_qkv"])
    if arch == "command-r":
        writer.add_logit_scale(config.get("logit_scale", 0.0625))
    if arch == "granite":
        writer.add_logit_scale(config["logits_scaling"])
        writer.add_residual_scale(config["residual_multiplier"])
        writer.add_embedding_scale(config["embedding_multiplier"])
        writer.add_attention_scale(config["attention_multiplier"])
    if arch == "minicpm":
        writer.add_logit_scale(config["hidden_size"] / config["dim_model_base"])
        writer.add_residual_scale(config["scale_depth"] / config["num_hidden_layers"] ** 0.5)
        writer.add_embedding_scale(config["scale_emb"])


def add_dense_config(writer, config, arch):
    add_sizes(writer, config, arch)
    add_norm_eps(writer, config, arch)
    add_own(writer, config, arch)


def dense_tensors(weights, config, arch, change):
    """(GGUF's name, tensor) of all weights."""
    kind = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == arch)
    layers = first_of(config, "num_hidden_layers", "n_layer", "n_layers", "num_layers")
    names = gguf.get_tensor_name_map(kind, layers)
    for name, tensor in weights.items():
        for changed, value in change(name, tensor, config).items():
            stem, suffix = changed.rsplit(".", 1)
            yield f"{names.get_name(stem)}.{suffix}", value
