#!/usr/bin/env python3
"""Writes tiny checkpoints of tests/data/models as GGUF too, with llama.cpp's conventions.

    python tools/make_tiny_gguf.py [NAME...]        (after make_tiny.py)

Llama's q and k rows are permuted to rotate neighbours, Gemma's norm weights have their 1 added,
scaled frequencies become divisor tensors. A float32 twin of every file is run by llama.cpp
(llama-cpp-python) and must give the golden logits of transformers; so the files are what llama.cpp
takes them for, not only what we do.
"""

import json
import math
import pathlib
import sys
import tempfile

import gguf
import llama_cpp
import numpy as np
import safetensors.torch
import torch

from gguf_dense import DENSE, add_dense_config, dense_tensors
from gguf_moe import MOE, add_moe_config, moe_tensors
from make_tiny import DATA

KINDS = {
    torch.bfloat16: gguf.GGMLQuantizationType.BF16,
    torch.float16: gguf.GGMLQuantizationType.F16,
}
TOLERANCE = 1e-3  # of the logits' spread

# name: GGUF architecture
FILES = {
    "llama": "llama",
    "llama-tied": "llama",
    "llama-linear": "llama",
    "llama-llama3": "llama",
    "llama-yarn": "llama",
    "mistral-full": "llama",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "gemma": "gemma",
    "gemma2": "gemma2",
    "gemma3": "gemma3",
    "phi3-partial": "phi3",
    "phi3-longrope": "phi3",
    "smollm3": "smollm3",
}
PERMUTED = {"llama", "smollm3"}

TENSORS = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.qkv_proj": "attn_qkv",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.gate_up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
SANDWICH = {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}


def head_dim_of(config):
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def gguf_name(name, arch):
    stem, suffix = name.rsplit(".", 1)
    table = TENSORS | (SANDWICH if arch in ("gemma2", "gemma3") else {})
    if not stem.startswith("model.layers."):
        return f"{table[stem]}.{suffix}"
    layer, leaf = stem.removeprefix("model.layers.").split(".", 1)
    return f"blk.{layer}.{table[leaf]}.{suffix}"


def interleave(tensor, heads):
    """From halves to neighbours: row i of the first half is followed by row i of the second."""
    return tensor.reshape(heads, 2, -1, *tensor.shape[1:]).swapaxes(1, 2).reshape(tensor.shape)


def convert(name, tensor, arch, config):
    if arch in PERMUTED and "q_proj" in name:
        return interleave(tensor, config["num_attention_heads"])
    if arch in PERMUTED and "k_proj" in name:
        return interleave(tensor, config["num_key_value_heads"])
    if arch.startswith("gemma") and "norm" in name:
        return tensor + 1
    return tensor


def llama3_divisors(config, scaling):
    dim = head_dim_of(config)
    frequencies = config["rope_theta"] ** -(np.arange(0, dim, 2) / dim)
    turns = scaling["original_max_position_embeddings"] * frequencies / (2 * math.pi)
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    keep = np.clip((turns - low) / (high - low), 0, 1)
    return (1 / ((1 - keep) / scaling["factor"] + keep)).astype(np.float32)


def add_scaling(writer, config):
    scaling = config.get("rope_scaling") or {}
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
        writer.add_rope_scaling_factor(scaling["factor"])
    if kind == "yarn":
        writer.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])
    if kind == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(config, scaling))
    if kind == "longrope":
        original = config["original_max_position_embeddings"]
        factor = config["max_position_embeddings"] / original
        writer.add_rope_scaling_orig_ctx_len(original)
        writer.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(factor) / math.log(original)))
        for length in ("long", "short"):
            factors = np.array(scaling[f"{length}_factor"], np.float32)
            writer.add_tensor(f"rope_factors_{length}.weight", factors)


def add_config(writer, config):
    head_dim = head_dim_of(config)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_rope_dimension_count(int(head_dim * config.get("partial_rotary_factor", 1)))
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    if config["model_type"] in ("gemma2", "gemma3_text"):
        writer.add_sliding_window(config["sliding_window"])
    for cap in ("attn_logit_softcapping", "final_logit_softcapping"):
        if config.get(cap):
            getattr(writer, f"add_{cap}")(config[cap])


def add_vocabulary(writer, size):
    """Three control tokens, then bytes."""
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(size - 3)]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * size)
    writer.add_token_types(kinds + [gguf.TokenType.BYTE] * (size - 3))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def add_weight(writer, name, tensor, dtype):
    if tensor.dim() == 1 or dtype == torch.float32:
        return writer.add_tensor(name, tensor.float().numpy())
    data = tensor.to(dtype).view(torch.uint8).numpy()
    kind = KINDS[dtype]
    writer.add_tensor(name, data, raw_shape=data.shape, raw_dtype=kind)


def write(path, folder, arch, dtype):
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(path, arch)
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    weights = {n: w.float() for n, w in weights.items() if not n.endswith("inv_freq")}
    if folder.name in DENSE:
        add_dense_config(writer, config, arch)
        tensors = dense_tensors(weights, config, *DENSE[folder.name])
    elif folder.name in MOE:
        add_moe_config(writer, config, arch)
        tensors = moe_tensors(weights, config, *MOE[folder.name])
    else:
        add_config(writer, config)
        add_scaling(writer, config)
        tensors = ((gguf_name(n, arch), convert(n, w, arch, config)) for n, w in weights.items())
    add_vocabulary(writer, config.get("vocab_size") or config["padded_vocab_size"])
    for name, tensor in tensors:
        add_weight(writer, name, tensor, dtype)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def llama_cpp_logits(path, tokens):
    model = llama_cpp.Llama(
        str(path),
        n_ctx=256,  # llama.cpp's least
        n_threads=1,
        logits_all=True,
        flash_attn=False,
        type_k=llama_cpp.GGML_TYPE_F32,
        type_v=llama_cpp.GGML_TYPE_F32,
        verbose=False,
    )
    model.eval(tokens)
    return np.array(model.scores[: len(tokens)])


def check_with_llama_cpp(folder, arch):
    """The largest difference from the goldens, as a part of the spread."""
    golden = json.loads((folder / "golden.json").read_text())
    config = json.loads((folder / "config.json").read_text())
    longrope = "long_factor" in (config.get("rope_scaling") or {})
    rows = np.fromfile(folder / "golden.f32", "<f4").reshape(-1, golden["vocab_size"])
    worst = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "float32.gguf"
        write(path, folder, arch, torch.float32)
        for prompt in golden["prompts"]:
            tokens, first = prompt["tokens"], prompt["first_row"]
            expected = rows[first : first + len(tokens)]
            if longrope and len(tokens) <= config["original_max_position_embeddings"]:
                continue  # llama.cpp chooses the long factors by the size of its context
            found = llama_cpp_logits(path, tokens)
            worst = max(worst, float(np.abs(found - expected).max() / np.ptp(expected)))
    return worst


def main():
    architectures = FILES | {name: arch for name, (arch, _) in (DENSE | MOE).items()}
    for name in sys.argv[1:] or architectures:
        folder, arch = DATA / name, architectures[name]
        stored = json.loads((folder / "config.json").read_text())["torch_dtype"]
        write(folder / "model.gguf", folder, arch, getattr(torch, stored))
        worst = check_with_llama_cpp(folder, arch)
        print(f"{name}: llama.cpp differs by {worst:.1e} of the spread", flush=True)
        if not worst <= TOLERANCE:
            sys.exit(f"{name}: llama.cpp does not agree")


if __name__ == "__main__":
    main()
