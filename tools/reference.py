"""What speaks for an architecture of which transformers has no class: tests/reference/families.py."""

import json
import pathlib
import sys
import tempfile

import safetensors.torch
import torch
import transformers

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "reference"))
from families import FAMILIES  # noqa: E402

TOLERANCE = 1e-5  # of the logits' spread


def reference_of(folder):
    """None where transformers has the class itself."""
    config = json.loads((folder / "config.json").read_text())
    family = FAMILIES.get(config["model_type"])
    return family(config) if family else None


def source_of(folder, golden, rows):
    """Who speaks for the logits, in words. Fails where a class of transformers computes something
    else from the renamed weights of a reference."""
    reference = reference_of(folder)
    if not reference:
        return "transformers"
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    native = reference.native({name: w.float() for name, w in weights.items()})
    if not native:
        return "`tests/reference`"
    config, tensors = native
    with tempfile.TemporaryDirectory() as scratch:
        (pathlib.Path(scratch) / "config.json").write_text(json.dumps(config))
        tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
        safetensors.torch.save_file(tensors, scratch + "/model.safetensors", {"format": "pt"})
        model = transformers.AutoModelForCausalLM.from_pretrained(
            scratch, dtype=torch.float32, attn_implementation="eager"
        ).eval()
    for prompt in golden:
        tokens, first = prompt["tokens"], prompt["first_row"]
        expected = torch.from_numpy(rows[first : first + len(tokens)].copy())
        with torch.no_grad():
            found = model(torch.tensor([tokens]), use_cache=False).logits[0]
        worst = float((found - expected).abs().max() / (expected.max() - expected.min()))
        if not worst <= TOLERANCE:
            sys.exit(f"{folder.name}: {config['model_type']} differs by {worst:.1e} of the spread")
    return f"`tests/reference`, {config['model_type']} of transformers"
