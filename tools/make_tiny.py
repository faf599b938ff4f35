#!/usr/bin/env python3
"""Makes tests/data/models: tiny random checkpoints and what Hugging Face transformers says of them.

    python tools/make_tiny.py [NAME...]

Each folder gets config.json, model.safetensors, and golden.json with, for each prompt, its tokens,
the greedy continuation, and where in golden.f32 its logits lie (little-endian float32, one row of
vocab_size a position). Computed in float32 from the stored weights, each call afresh: transformers
keeps state of dynamic rope between calls.
"""

import json
import pathlib
import re
import sys

import safetensors.torch
import torch
import transformers

from transformers.core_model_loading import revert_weight_conversion

from tiny_dense import RENAMED
from tiny_moe import MOE
from tiny_variants import VARIANTS

DATA = pathlib.Path(__file__).parent.parent / "tests" / "data" / "models"
PROMPT_LENGTHS = [1, 7, 33, 48]
CONTINUATION = 16
# A greedy choice nearer to its rival than this part of the spread would test rounding.
MARGIN = 2e-3


def is_norm(name):
    return any(part in name for part in ("norm", "ln_"))


def norm_base(model_type):
    return 0.0 if "gemma" in model_type or model_type == "nemotron" else 1.0


def is_table(name):
    return any(part in name for part in ("embed", "wte", "wpe")) and "embed_out" not in name


def randomize(model, generator):
    """Weights of a size that gives every operation a say; norms and biases away from defaults."""
    biases = [b for b in model.named_buffers() if b[0].endswith("correction_bias")]
    for name, parameter in list(model.named_parameters()) + biases:
        noise = torch.randn(parameter.shape, generator=generator)
        if is_norm(name) and name.endswith("weight"):
            parameter.data = norm_base(model.config.model_type) + 0.3 * noise
        elif parameter.dim() == 1:
            parameter.data = 0.3 * noise
        elif is_table(name):
            parameter.data = noise * (0.3 if "gemma" in model.config.model_type else 1.0)
        else:
            parameter.data = noise * 1.6 / parameter.shape[1] ** 0.5


def save_weights(folder, config, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config)
    randomize(model, generator)
    tied = {"lm_head.weight"} if config.tie_word_embeddings else set()
    tensors = {
        name: tensor.to(getattr(torch, dtype)).contiguous()
        for name, tensor in model.state_dict().items()
        if name not in tied
    }
    if folder.name in MOE and not folder.name.endswith("-fused"):
        tensors = revert_weight_conversion(model, tensors)
        tensors = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
    for name, tensor in list(tensors.items()):
        if folder.name in RENAMED:
            old, new = RENAMED[folder.name]
            tensors[re.sub(old, new, name)] = tensors.pop(name)
    if folder.name == "llama":  # as old exports have it; must be ignored
        for layer in range(config.num_hidden_layers):
            name = f"model.layers.{layer}.self_attn.rotary_emb.inv_freq"
            tensors[name] = torch.ones(config.head_dim // 2)
    safetensors.torch.save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def load(folder):
    # transformers' eager Falcon adds ALiBi twice: in the mask, and again to the scores.
    attention = "sdpa" if folder.name == "falcon-rw" else "eager"
    return transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation=attention
    ).eval()


def logits_of(folder, tokens):
    with torch.no_grad():
        return load(folder)(torch.tensor([tokens]), use_cache=False).logits[0]


def margin(row):
    best = torch.topk(row, 2).values
    return float((best[0] - best[1]) / (row.max() - row.min()))


def continue_greedily(folder, tokens):
    """None where a choice is too close."""
    result = list(tokens)
    for _ in range(CONTINUATION):
        row = logits_of(folder, result)[-1]
        if margin(row) < MARGIN:
            return None
        result.append(int(row.argmax()))
    return result[len(tokens) :]


def make_prompt(folder, length, vocab_size):
    for seed in range(1000):
        generator = torch.Generator().manual_seed(1000 * length + seed)
        tokens = torch.randint(vocab_size, (length,), generator=generator).tolist()
        greedy = continue_greedily(folder, tokens)
        if greedy is not None:
            return tokens, greedy
    raise RuntimeError(f"{folder}: no prompt of {length} tokens has clear choices")


def make(name):
    dtype, fields = VARIANTS[name]
    folder = DATA / name
    folder.mkdir(parents=True, exist_ok=True)
    fields = fields | {"torch_dtype": dtype, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    (folder / "config.json").write_text(json.dumps(fields, indent=1) + "\n")
    config = transformers.AutoConfig.from_pretrained(folder)
    save_weights(folder, config, dtype, seed=sum(map(ord, name)))
    golden, rows, spreads = [], [], []
    for length in PROMPT_LENGTHS:
        tokens, greedy = make_prompt(folder, length, config.vocab_size)
        logits = logits_of(folder, tokens)
        golden.append({"tokens": tokens, "greedy": greedy, "first_row": sum(len(r) for r in rows)})
        rows.append(logits)
        spreads.append(float(logits.max() - logits.min()))
    all_rows = torch.cat(rows).numpy().astype("<f4")
    (folder / "golden.f32").write_bytes(all_rows.tobytes())
    (folder / "golden.json").write_text(
        json.dumps({"vocab_size": config.vocab_size, "prompts": golden}) + "\n"
    )
    size = (folder / "model.safetensors").stat().st_size // 1024
    print(f"{name}: {size} KiB, spread {min(spreads):.2f} to {max(spreads):.2f}", flush=True)


def main():
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    for name in sys.argv[1:] or VARIANTS:
        make(name)


if __name__ == "__main__":
    main()
