#!/usr/bin/env python3
"""Writes docs/models.md from src/models/arch and tests/data/models: a row an architecture.

    python tools/make_models_doc.py [--check]

With --check it only fails where the file is not what it would write.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent.parent
DOC = ROOT / "docs" / "models.md"
HEAD = """# Models

Written by `tools/make_models_doc.py` from the descriptions in `src/models/arch` and the tiny checkpoints in `tests/data/models`.

Each row is a name that `architectures` in config.json may have. Its *checkpoints* are random weights with every feature on that changes the result. On each of them, on the reference and on the CPU backend in every instruction set, the tests hold: float32 logits at every position of prompts of 1, 7, 33 and 48 tokens within 1e-4 of their spread; the same greedy continuation; the same bits in chunks, beside others, and on a cached prefix; the printed description.

*Compared with* says whose logits those are. **transformers** is Hugging Face's own class. Where there is none, it is a plain torch program written from the published description (`tests/reference`), and, where named, also a class of transformers that computes the same from renamed weights. *GGUF* names the checkpoints that are read from a GGUF file too, each of which llama.cpp was seen to run with the same logits.

"""


def registered():
    """(name, file) of every architecture."""
    for path in sorted((ROOT / "src/models/arch").glob("*.cc")):
        names = re.findall(r"Register\s+\w+\(\s*\{\s*\"(\w+)\"", path.read_text())
        for name in dict.fromkeys(names):
            yield name, path.stem


def checkpoints():
    """By the file that describes them: (folder, source of its logits, whether it has GGUF)."""
    found = {}
    files = dict(registered())
    for folder in sorted((ROOT / "tests/data/models").iterdir()):
        if not folder.is_dir():
            continue
        config = json.loads((folder / "config.json").read_text())
        golden = json.loads((folder / "golden.json").read_text())
        entry = (folder.name, golden.get("source", "transformers"), (folder / "model.gguf").exists())
        found.setdefault(files[config["architectures"][0]], []).append(entry)
    return found


def row(name, entries):
    folders = ", ".join(folder for folder, _, _ in entries)
    sources = "; ".join(dict.fromkeys(source for _, source, _ in entries))
    gguf = ", ".join(folder for folder, _, has_gguf in entries if has_gguf)
    return f"| `{name}` | {folders} | {sources} | {gguf} |\n"


def document():
    by_file = checkpoints()
    rows = [row(name, by_file.get(file, [])) for name, file in registered()]
    header = "| architecture | checkpoints | compared with | GGUF |\n|---|---|---|---|\n"
    return HEAD + header + "".join(sorted(rows, key=str.lower))


def main():
    if "--check" not in sys.argv:
        DOC.write_text(document())
    elif DOC.read_text() != document():
        sys.exit("docs/models.md is not what tools/make_models_doc.py writes")


if __name__ == "__main__":
    main()
