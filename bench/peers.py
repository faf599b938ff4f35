#!/usr/bin/env python3
"""Matador against llama.cpp: the same file, machine and threads, in turns.

    make bench
    bench/peers.sh [--threads N] [--rounds N] [MODEL.gguf ...]

Each round runs both in fresh processes, one after the other, the first of them by turns; the table
has each one's median and the median of the rounds' ratios. prefill: a prompt of 512 tokens.
decode: 128 tokens after it, one sequence.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = pathlib.Path(
    os.environ.get("MATADOR_MODELS", pathlib.Path.home() / ".local/share/matador/models"))
INPUT, OUTPUT = 512, 128


def run_matador(model, threads):
    """(prefill, decode) in tokens per second."""
    command = [ROOT / "build/release/matador", "bench", model, "--threads", threads, "--json",
               "--num-prompts", 1, "--input-len", INPUT, "--output-len", OUTPUT]
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    report = json.loads(process.stdout)
    return report["prefill_tokens_per_second"], report["decode_tokens_per_second"]


def run_llamacpp(model, threads):
    command = [sys.executable, __file__, "--llamacpp-once", str(model), "--threads", str(threads)]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(json.loads(process.stdout))


def llamacpp_once(model, threads):
    """What run_llamacpp does in its own process: a pass to warm up, then the timed one."""
    import llama_cpp
    import numpy

    llm = llama_cpp.Llama(str(model), n_ctx=2048, n_batch=INPUT, n_ubatch=INPUT,
                          n_threads=threads, n_threads_batch=threads, verbose=False)
    prompt = numpy.random.default_rng(0).integers(0, llm.n_vocab(), INPUT).tolist()

    def best():
        pointer = llama_cpp.llama_get_logits_ith(llm.ctx, -1)
        return int(numpy.ctypeslib.as_array(pointer, (llm.n_vocab(),)).argmax())

    for _ in range(2):
        llm.reset()
        start = time.perf_counter()
        llm.eval(prompt)
        token = best()
        first = time.perf_counter()
        for _ in range(OUTPUT - 1):
            llm.eval([token])
            token = best()
        end = time.perf_counter()
    return INPUT / (first - start), (OUTPUT - 1) / (end - first)


def compare(model, threads, rounds):
    ours, theirs = [], []
    for turn in range(rounds):
        pair = [(ours, run_matador), (theirs, run_llamacpp)]
        for results, run in pair if turn % 2 == 0 else reversed(pair):
            results.append(run(model, threads))
    for index, phase in enumerate(["prefill", "decode"]):
        mine = [result[index] for result in ours]
        peer = [result[index] for result in theirs]
        ratio = statistics.median(a / b for a, b in zip(mine, peer))
        print(f"{model.stem:16} {phase:8} {statistics.median(mine):10.1f} "
              f"{statistics.median(peer):10.1f} {ratio:7.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--llamacpp-once", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.llamacpp_once:
        print(json.dumps(llamacpp_once(arguments.llamacpp_once, arguments.threads)))
        return
    print(f"tokens per second, {arguments.threads} threads, median of {arguments.rounds} rounds")
    print(f"{'model':16} {'phase':8} {'matador':>10} {'llama.cpp':>10} {'ratio':>7}")
    for model in arguments.models or [MODELS / "smollm2.gguf", MODELS / "gemma3-270m.gguf"]:
        compare(model, arguments.threads, arguments.rounds)


if __name__ == "__main__":
    main()
