"""Greedy continuations agree with llama.cpp's on the same files.

tests/data/llamacpp/*.json, made by tools/make_llamacpp_goldens.py, hold llama.cpp's token ids and
largest logits for 20 prompts and 64 steps each. Both engines round: llama.cpp and our kernels both
quantise activations to 8 bits, in different ways, so two tokens whose logits are nearer than that
rounding may change places. Everywhere else the chosen tokens must be equal. Run with -s to read
where they differ and by how much.
"""

import json
import math

import pytest

from conftest import ROOT

# By how much one logit of the two engines may differ from rounding alone, as measured over all
# positions below (README tells the figures); logits spread over about 40.
ROUNDING = {"smollm2": 0.6, "gemma3-270m": 0.6}
# The quadratic mean of those differences; a wrong kernel shifts this first.
RMS = {"smollm2": 0.15, "gemma3-270m": 0.15}
# Of 1280 steps, how many may choose another token within the rounding.
EXCHANGED = 40


def join(tokens):
    return ",".join(map(str, tokens))


def our_logits(matador, model, case, *flags):
    """Our 50 largest logits, as {token: logit}, before each token of the golden continuation."""
    fed = case["prompt"] + case["tokens"][:-1]
    process = matador("logits", model, "--tokens", join(fed), "--top", 50, *flags)
    assert process.returncode == 0, process.stderr
    rows = json.loads(process.stdout)["top_logits"]
    return [dict(row) for row in rows[len(case["prompt"]) - 1:]]


def differences(ours, case):
    """Ours less llama.cpp's, for each of its five largest logits that is among our 50."""
    for mine, theirs in zip(ours, case["top_logits"], strict=True):
        for token, logit in theirs:
            if token in mine:
                yield mine[token] - logit


def exchanges(ours, case):
    """(step, our token, llama.cpp's, the gap between them in its logits) where the two differ."""
    for step, (mine, theirs) in enumerate(zip(ours, case["top_logits"], strict=True)):
        chosen = max(mine, key=mine.get)
        if chosen != theirs[0][0]:
            gap = theirs[0][1] - dict(theirs).get(chosen, -math.inf)
            yield step, chosen, theirs[0][0], gap


def rms(values):
    return math.sqrt(sum(value * value for value in values) / len(values))


@pytest.fixture(params=["smollm2", "gemma3-270m"])
def golden(request):
    """(name, path of the model, cases)"""
    model = request.getfixturevalue({"smollm2": "smollm2", "gemma3-270m": "gemma3"}[request.param])
    text = (ROOT / f"tests/data/llamacpp/{request.param}.json").read_text()
    cases = json.loads(text)["cases"]
    assert len(cases) == 20 and all(len(case["tokens"]) == 64 for case in cases)
    return request.param, model, cases


def test_each_step_chooses_llamacpps_token_but_for_rounding(matador, golden):
    name, model, cases = golden
    apart, exchanged = [], 0
    for index, case in enumerate(cases):
        ours = our_logits(matador, model, case)
        apart += differences(ours, case)
        for step, chosen, theirs, gap in exchanges(ours, case):
            exchanged += 1
            print(f"{name}: prompt {index}, step {step}: {chosen} for {theirs}, {gap:.4f} apart")
            assert gap < 2 * ROUNDING[name], f"prompt {index}, step {step}: {gap} is no rounding"
    print(f"{name}: logits differ by {rms(apart):.4f} rms, {max(map(abs, apart)):.4f} at most; "
          f"{exchanged} of {64 * len(cases)} steps choose another token")
    assert len(apart) > 0.95 * 5 * 64 * len(cases)
    assert max(map(abs, apart)) < ROUNDING[name]
    assert rms(apart) < RMS[name]
    assert exchanged < EXCHANGED


def test_generation_follows_llamacpp_to_the_first_such_step(matador, golden):
    _, model, cases = golden
    for index, case in enumerate(cases):
        first = next(iter(exchanges(our_logits(matador, model, case), case)), None)
        expected = case["tokens"] if first is None else case["tokens"][:first[0]] + [first[1]]
        process = matador("generate", model, "--tokens", join(case["prompt"]), "--max-tokens",
                          len(expected), "--ignore-eos")
        assert json.loads(process.stdout)["tokens"] == expected, f"prompt {index}"


def test_float32_is_as_near_to_llamacpp(matador, golden):
    name, model, cases = golden
    apart = []
    for case in cases[:4]:
        apart += differences(our_logits(matador, model, case, "--dtype", "float32"), case)
    print(f"{name}: in float32, logits differ by {rms(apart):.4f} rms, "
          f"{max(map(abs, apart)):.4f} at most")
    assert max(map(abs, apart)) < ROUNDING[name]
