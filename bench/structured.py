#!/usr/bin/env python3
"""What token masks cost a decode step: streams with a JSON schema against streams without.

    bench/structured.py MODEL [--streams 8] [--tokens 128] [--rounds 5]

Both write the same number of tokens; the rounds alternate and the medians are compared.
"""

import argparse
import concurrent.futures
import pathlib
import statistics
import subprocess
import time

import httpx

BINARY = pathlib.Path(__file__).resolve().parents[1] / "build/release/matador"
# Never complete within the tokens that are asked for.
SCHEMA = {"type": "array", "minItems": 10000, "items": {
    "type": "object", "additionalProperties": False, "required": ["name", "age", "tags"],
    "properties": {"name": {"type": "string", "maxLength": 40}, "age": {"type": "integer"},
                   "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}}}}}


def milliseconds_a_step(url, options, constraint):
    body = {"prompt": "A list of people:", "max_tokens": options.tokens, "ignore_eos": True,
            "temperature": 1} | constraint

    def stream(seed):
        answer = httpx.post(url + "/v1/completions", json=body | {"seed": seed}, timeout=600)
        assert answer.json()["usage"]["completion_tokens"] == options.tokens, answer.text

    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(options.streams) as pool:
        list(pool.map(stream, range(options.streams)))
    return (time.perf_counter() - start) / options.tokens * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    for name, default in (("streams", 8), ("tokens", 128), ("rounds", 5)):
        parser.add_argument("--" + name, type=int, default=default)
    options = parser.parse_args()
    server = subprocess.Popen([BINARY, "serve", options.model, "--port", "0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = "http://" + server.stdout.readline().split("http://")[1].split("/")[0].strip()
        kinds = {"free": {}, "masked": {"guided_json": SCHEMA}}
        steps = {kind: [] for kind in kinds}
        for _ in range(options.rounds + 1):
            for kind, constraint in kinds.items():
                steps[kind].append(milliseconds_a_step(url, options, constraint))
        free, masked = (statistics.median(times[1:]) for times in steps.values())
        print(f"free {free:.2f} ms a step, masked {masked:.2f} ms: {masked / free - 1:+.1%}")
    finally:
        server.kill()


if __name__ == "__main__":
    main()
