"""How llama.cpp's converters write mixtures of experts; see make_tiny_gguf.py.

An expert's matrices become slices of stacked ones; metadata beside that of the dense families.
"""

import re

import torch

from gguf_dense import add_dense_config, dense_tensors, fused, permuted

# folder: (GGUF's architecture, how a tensor changes)
MOE = {
    "qwen3moe": ("qwen3moe", fused),
    "granitemoe": ("granitemoe", permuted),
}


def stacked(weights):
    """The hub's tensors, an expert's in one with those of the others."""
    result = {}
    for name, tensor in weights.items():
        found = re.fullmatch(r"(.*\.experts)\.(\d+)\.(.*)", name)
        if found:
            stack = result.setdefault(f"{found[1]}.{found[3]}", {})
            stack[int(found[2])] = tensor
        elif name.endswith("block_sparse_moe.input_linear.weight"):
            gate, up = tensor.chunk(2, dim=1)
            result[name.replace("input_linear", "experts.w1")] = gate
            result[name.replace("input_linear", "experts.w3")] = up
        else:
            result[name] = tensor
    for name, tensor in result.items():
        if isinstance(tensor, dict):
            result[name] = torch.stack([tensor[i] for i in sorted(tensor)])
    return result


def add_moe_config(writer, config, arch):
    add_dense_config(writer, config, arch)
    writer.add_expert_count(config.get("num_experts") or config["num_local_experts"])
    writer.add_expert_used_count(config["num_experts_per_tok"])
    if "moe_intermediate_size" in config:
        writer.add_expert_feed_forward_length(config["moe_intermediate_size"])
    if arch == "granitemoe":
        writer.add_logit_scale(config["logits_scaling"])
        writer.add_residual_scale(config["residual_multiplier"])
        writer.add_embedding_scale(config["embedding_multiplier"])
        writer.add_attention_scale(config["attention_multiplier"])


def moe_tensors(weights, config, arch, change):
    return dense_tensors(stacked(weights), config, arch, change)
