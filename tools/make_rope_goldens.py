#!/usr/bin/env python3
"""Makes tests/data/rope.json: rotary frequencies as transformers computes them from configs of the
sizes that real models have, at which a tiny model cannot tell one formula from another.

    python tools/make_rope_goldens.py
"""

import json
import math
import pathlib

import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

OUT = pathlib.Path(__file__).parent.parent / "tests" / "data" / "rope.json"

# name: (fields of config.json, lengths)
CASES = {
    "Llama 3": ({"rope_theta": 500000.0}, [1]),
    "Llama 3.1": (
        {
            "rope_theta": 500000.0,
            "max_position_embeddings": 131072,
            "rope_scaling": {
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
                "rope_type": "llama3",
            },
        },
        [1],
    ),
    "linear": ({"rope_scaling": {"type": "linear", "factor": 4}}, [1]),
    "dynamic": (
        {"max_position_embeddings": 2048, "rope_scaling": {"type": "dynamic", "factor": 2.0}},
        [1, 2048, 2049, 6000],
    ),
    "Qwen 2.5 with yarn": (
        {
            "rope_theta": 1000000.0,
            "max_position_embeddings": 32768,
            "rope_scaling": {
                "factor": 4.0,
                "original_max_position_embeddings": 32768,
                "type": "yarn",
            },
        },
        [1],
    ),
    "yarn, all options": (
        {
            "max_position_embeddings": 163840,
            "rope_scaling": {
                "type": "yarn",
                "factor": 40,
                "original_max_position_embeddings": 4096,
                "beta_fast": 24,
                "beta_slow": 2,
                "mscale": 0.9,
                "mscale_all_dim": 0.7,
                "truncate": False,
            },
        },
        [1],
    ),
    "yarn, without a factor to scale by": (
        {
            "max_position_embeddings": 8192,
            "rope_scaling": {
                "rope_type": "yarn",
                "factor": 1.0,
                "original_max_position_embeddings": 8192,
            },
        },
        [1],
    ),
    "longrope": (
        {
            "head_dim": 96,
            "max_position_embeddings": 131072,
            "rope_scaling": {
                "rope_type": "longrope",
                "original_max_position_embeddings": 4096,
                "short_factor": [1 + i / 50 for i in range(48)],
                "long_factor": [1 + i * i / 40 for i in range(48)],
                "factor": 32.0,
            },
        },
        [1, 4096, 4097],
    ),
}


def frequencies(config, length):
    parameters = config.rope_parameters
    if parameters["rope_type"] == "default":
        dim = config.head_dim
        theta = parameters["rope_theta"]
        return [theta ** (-2 * i / dim) for i in range(dim // 2)], 1.0
    inv_freq, factor = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, "cpu", seq_len=length)
    return inv_freq.tolist(), factor


def main():
    cases = []
    for name, (fields, lengths) in CASES.items():
        fields = {"head_dim": 128, "max_position_embeddings": 8192} | fields
        for length in lengths:
            config = transformers.LlamaConfig(**json.loads(json.dumps(fields)))
            values, factor = frequencies(config, length)
            assert all(math.isfinite(x) for x in values)
            cases.append(
                {
                    "name": f"{name} at {length}",
                    "config": fields,
                    "length": length,
                    "frequencies": values,
                    "attention_factor": factor,
                }
            )
    OUT.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
