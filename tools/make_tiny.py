#!/usr/bin/env python3
"""Makes tests/data/models: tiny random checkpoints and what Hugging Face transformers says of them.

Where transformers has no class for an architecture, tests/reference/families.py speaks for it, held
to a class that computes the same from renamed weights where there is one.

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

from reference import reference_of, source_of
from tiny_dense import RENAMED
from tiny_moe import MOE
from tiny_variants import VARIANTS

DATA = pathlib.Path(__file__).parent.parent / "tests" / "data" / "models"
PROMPT_LENGTHS = [1, 7, 33, 48]
CONTINUATION = 16
# Ropes that change while an answer grows, from a prompt within the original 32 positions.
GROWING = ["llama-dynamic", "phi3-longrope"]
GROWING_LENGTH = 28
# A greedy choice nearer to its rival than this part of the spread would test rounding.
MARGIN = 2e-3


def is_norm(name):
    return any(part in name for part in ("norm", "ln_"))


def norm_base(model_type):
    return 0.0 if "gemma" in model_type or model_type == "nemotron" else 1.0


def is_table(name):
    return any(part in name for part in ("embed", "wte", "wpe")) and "embed_out" not in name


def random_values(name, shape, model_type, generator):
    """Of a size that gives every operation a say; norms and biases away from defaults."""
    noise = torch.randn(shape, generator=generator)
    if is_norm(name) and name.endswith("weight"):
        return norm_base(model_type) + 0.3 * noise
    if len(shape) == 1:
        return 0.3 * noise
    if is_table(name):
        return noise * (0.3 if "gemma" in model_type else 1.0)
    return noise * 1.6 / shape[1] ** 0.5


def random_weights(config, generator, as_on_hub):
    """`as_on_hub`: under the names of the published files, where transformers has others."""
    model = transformers.AutoModelForCausalLM.from_config(config)
    biases = [b for b in model.named_buffers() if b[0].endswith("correction_bias")]
    for name, parameter in list(model.named_parameters()) + biases:
        parameter.data = random_values(name, parameter.shape, config.model_type, generator)
    tied = {"lm_head.weight"} if config.tie_word_embeddings else set()
    tensors = {name: tensor for name, tensor in model.state_dict().items() if name not in tied}
    return revert_weight_conversion(model, tensors) if as_on_hub else tensors


def save_weights(folder, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    if reference := reference_of(folder):
        model_type = reference.config["model_type"]
        tensors = {
            name: random_values(name, shape, model_type, generator)
            for name, shape in reference.shapes().items()
        }
    else:
        config = transformers.AutoConfig.from_pretrained(folder)
        as_on_hub = folder.name in MOE and not folder.name.endswith("-fused")
        tensors = random_weights(config, generator, as_on_hub)
    tensors = {
        name: tensor.to(getattr(torch, dtype)).contiguous().clone()
        for name, tensor in tensors.items()
    }
    for name, tensor in list(tensors.items()):
        if folder.name in RENAMED:
            old, new = RENAMED[folder.name]
            tensors[re.sub(old, new, name)] = tensors.pop(name)
    if folder.name == "llama":  # as old exports have it; must be ignored
        for layer in range(3):
            tensors[f"model.layers.{layer}.self_attn.rotary_emb.inv_freq"] = torch.ones(8)
    safetensors.torch.save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def load(folder):
    # transformers' eager Falcon adds ALiBi twice: in the mask, and again to the scores.
    attention = "sdpa" if folder.name == "falcon-rw" else "eager"
    return transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation=attention
    ).eval()


def logits_of(folder, tokens):
    if reference := reference_of(folder):
        weights = safetensors.torch.load_file(folder / "model.safetensors")
        weights = {name: tensor.float() for name, tensor in weights.items()}
        return reference.logits(weights, tokens)
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


def make_growing(folder, vocab_size):
    """growing.json: a prompt that transformers' own generate(), with its cache, takes further."""
    for seed in range(1000):
        generator = torch.Generator().manual_seed(1000 * GROWING_LENGTH + seed)
        tokens = torch.randint(vocab_size, (GROWING_LENGTH,), generator=generator).tolist()
        result = load(folder).generate(
            torch.tensor([tokens]),
            max_new_tokens=CONTINUATION,
            do_sample=False,
            eos_token_id=None,
            output_scores=True,
            return_dict_in_generate=True,
        )
        if min(margin(row[0]) for row in result.scores) < MARGIN:
            continue
        greedy = result.sequences[0, GROWING_LENGTH:].tolist()
        golden = {"tokens": tokens, "greedy": greedy}
        (folder / "growing.json").write_text(json.dumps(golden) + "\n")
        return
    raise RuntimeError(f"{folder}: no growing prompt has clear choices")


def make(name):
    dtype, fields = VARIANTS[name]
    folder = DATA / name
    folder.mkdir(parents=True, exist_ok=True)
    fields = fields | {"torch_dtype": dtype, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    (folder / "config.json").write_text(json.dumps(fields, indent=1) + "\n")
    save_weights(folder, dtype, seed=sum(map(ord, name)))
    vocab_size = fields.get("vocab_size") or fields["padded_vocab_size"]
    golden, rows, spreads = [], [], []
    for length in PROMPT_LENGTHS:
        tokens, greedy = make_prompt(folder, length, vocab_size)
        logits = logits_of(folder, tokens)
        golden.append({"tokens": tokens, "greedy": greedy, "first_row": sum(len(r) for r in rows)})
        rows.append(logits)
        spreads.append(float(logits.max() - logits.min()))
    all_rows = torch.cat(rows).numpy().astype("<f4")
    source = source_of(folder, golden, all_rows)
    (folder / "golden.f32").write_bytes(all_rows.tobytes())
    (folder / "golden.json").write_text(
        json.dumps({"vocab_size": vocab_size, "source": source, "prompts": golden}) + "\n"
    )
    if name in GROWING:
        make_growing(folder, config.vocab_size)
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
