#!/usr/bin/env python3
"""Writes tests/data/llamacpp/NAME.json: what llama.cpp continues 20 prompts with, greedily.

    pip install -r bench/requirements.txt
    tools/make_llamacpp_goldens.py smollm2 ~/.local/share/matador/models/smollm2.gguf

Of each prompt its token ids, and of each of 64 steps the token chosen and the five largest logits.
"""

import argparse
import ctypes
import json
import pathlib

import llama_cpp
import numpy

STEPS = 64
TOP = 5

LONG = " ".join(
    f"On day {day} the ship sailed {7 * day % 50 + 3} miles to the {wind} and the crew saw {sight}."
    for day, wind, sight in zip(
        range(1, 41), ["north", "east", "south", "west"] * 10,
        ["a whale", "two gulls", "no land", "a storm", "an island"] * 8))

PROMPTS = [
    "The capital of France is",
    "Once upon a time, in a small village by the sea,",
    "def fibonacci(n):\n    ",
    "The three laws of thermodynamics state that",
    "Q: What is 17 + 25?\nA:",
    "To make a good cup of coffee, you first",
    "La tour Eiffel est située à",
    "Der schnelle braune Fuchs springt",
    "List of prime numbers: 2, 3, 5, 7, 11,",
    "SELECT name, age FROM users WHERE",
    "<html>\n<head>\n  <title>",
    "In 1969, Neil Armstrong",
    "The mitochondria is",
    "Dear Sir or Madam,\n\nI am writing to",
    "#include <stdio.h>\n\nint main(void) {\n",
    "Water boils at 100 degrees Celsius because",
    "El perro corre por",
    "1. Apples\n2. Bananas\n3.",
    "Translate to French: Good morning, my friend. ->",
    LONG + " On day 41 the",
]


def last_logits(llm):
    pointer = llama_cpp.llama_get_logits_ith(llm.ctx, -1)
    row = ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float * llm.n_vocab())).contents
    return numpy.array(row, dtype=numpy.float32)


def continuation(llm, prompt):
    tokens = llm.tokenize(prompt.encode(), add_bos=True, special=True)
    llm.reset()
    llm.eval(tokens)
    steps = []
    for _ in range(STEPS):
        logits = last_logits(llm)
        best = numpy.argsort(-logits, kind="stable")[:TOP]
        steps.append([[int(i), round(float(logits[i]), 4)] for i in best])
        llm.eval([int(best[0])])
    return {"prompt": tokens, "tokens": [step[0][0] for step in steps], "top_logits": steps}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("model", type=pathlib.Path)
    arguments = parser.parse_args()
    llm = llama_cpp.Llama(str(arguments.model), n_ctx=2048, n_threads=2, verbose=False)
    cases = [continuation(llm, prompt) for prompt in PROMPTS]
    golden = {"model": arguments.model.name, "llama_cpp_python": llama_cpp.__version__,
              "cases": cases}
    folder = pathlib.Path(__file__).parents[1] / "tests/data/llamacpp"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{arguments.name}.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
