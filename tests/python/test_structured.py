"""Structured output: what is asked for is what comes, streamed or not.

The schemas are tests/data/schemas/*.json. By default each is tried with one seed; with
MATADOR_STRUCTURED=full, with five, streamed and not.
"""

import concurrent.futures
import json
import os

import httpx
import jsonschema
import openai
import pytest

from conftest import ROOT
from test_openai import NAME, Serve, server  # noqa: F401  (the fixture of a running server)

FULL = os.environ.get("MATADOR_STRUCTURED") == "full"
SCHEMAS = [(f"{path.stem}/{name}", schema)
           for path in sorted((ROOT / "tests/data/schemas").glob("*.json"))
           for name, schema in json.loads(path.read_text()).items()]
CHECKS = jsonschema.Draft202012Validator.FORMAT_CHECKER


def ask(server, stream=False, text="Give me an example.", **more):  # noqa: F811
    body = {"model": NAME, "messages": [{"role": "user", "content": text}], "max_tokens": 160,
            "stream": stream} | more
    return httpx.post(server.root + "/v1/chat/completions", json=body, timeout=300)


def answer(server, stream=False, **more):  # noqa: F811
    """The text and the finish reason."""
    response = ask(server, stream, **more)
    assert response.status_code == 200, response.text
    if not stream:
        choice = response.json()["choices"][0]
        return choice["message"]["content"], choice["finish_reason"]
    events = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
    assert events.pop() == "[DONE]"
    choices = [json.loads(event)["choices"][0] for event in events]
    deltas = [choice["delta"].get("content") or "" for choice in choices]
    assert not any("\ufffd" in delta for delta in deltas)
    return "".join(deltas), choices[-1]["finish_reason"]


def schema_format(schema):
    return {"type": "json_schema", "json_schema": {"name": "example", "schema": schema}}


@pytest.mark.parametrize("name, schema", SCHEMAS, ids=[name for name, _ in SCHEMAS])
def test_answers_are_valid(server, name, schema):  # noqa: F811
    validator = jsonschema.Draft202012Validator(schema, format_checker=CHECKS)
    runs = [(seed, stream) for seed in range(5 if FULL else 1)
            for stream in ((False, True) if FULL else (len(name) % 2 == 0,))]

    def run(seed, stream):
        return answer(server, stream, temperature=1.0, seed=seed,
                      response_format=schema_format(schema))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda run_of: run(*run_of), runs))
    by_seed = {}
    for (seed, _), (text, reason) in zip(runs, answers):
        assert reason == "stop", text
        validator.validate(json.loads(text))
        assert by_seed.setdefault(seed, text) == text, "streaming changed the text"


def test_there_are_sixty_schemas():
    assert len(SCHEMAS) >= 60


def test_unicode_is_streamed_whole_and_its_bytes_are_the_tokens(server):  # noqa: F811
    value = "👩‍👩‍👧 日本語 çà"
    schema = {"const": value}
    text, _ = answer(server, stream=True, response_format=schema_format(schema))
    assert json.loads(text) == value
    choice = ask(server, response_format=schema_format(schema), logprobs=True,
                 top_logprobs=2).json()["choices"][0]
    scores = choice["logprobs"]["content"]
    joined = bytes(byte for score in scores for byte in score["bytes"])
    assert joined.decode() == choice["message"]["content"] == text


def test_max_tokens_cuts_with_length(server):  # noqa: F811
    text, reason = answer(server, max_tokens=2, guided_json={"type": "array", "minItems": 9})
    assert reason == "length" and text.startswith("[")


def test_every_spelling_of_vllm(server):  # noqa: F811
    for spelled in ({"guided_choice": ["yes", "no"]},
                    {"structured_outputs": {"choice": ["yes", "no"]}},
                    {"guided_regex": "yes|no"}, {"structured_outputs": {"regex": "yes|no"}},
                    {"guided_grammar": 'root ::= "yes" | "no"'},
                    {"structured_outputs": {"grammar": 'start: "yes" | "no"'}}):
        text, reason = answer(server, **spelled)
        assert text in ("yes", "no") and reason == "stop", spelled
        response = httpx.post(server.root + "/v1/completions", timeout=300,
                              json={"model": NAME, "prompt": "Yes or no?"} | spelled)
        assert response.json()["choices"][0]["text"] in ("yes", "no"), spelled
    text, _ = answer(server, guided_json='{"type": "integer", "minimum": 7, "maximum": 7}')
    assert text == "7"
    tag = {"format": {"type": "tag", "begin": "<a>", "content": {
        "type": "json_schema", "json_schema": {"const": 1}}, "end": "</a>"}}
    assert answer(server, structured_outputs={"structural_tag": tag})[0] == "<a>1</a>"


def test_other_parameters_keep_their_meaning(server):  # noqa: F811
    shape = schema_format({"enum": ["alpha", "beta", "gamma", "delta"]})
    body = ask(server, n=4, temperature=1.5, seed=1, response_format=shape, frequency_penalty=1,
               min_tokens=2, ignore_eos=True).json()
    texts = [json.loads(choice["message"]["content"]) for choice in body["choices"]]
    assert set(texts) <= {"alpha", "beta", "gamma", "delta"} and len(set(texts)) > 1
    assert {choice["finish_reason"] for choice in body["choices"]} == {"stop"}
    text, reason = answer(server, response_format=shape, stop=["a"])
    assert "a" not in text and reason == "stop"


@pytest.mark.parametrize("field", [
    "not", "if", "uniqueItems", "contains", "minContains", "propertyNames", "dependentRequired",
    "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems", "nullable",
    "$dynamicRef", "contentSchema", "minlength", "x-guidance"])
def test_a_keyword_that_cannot_be_enforced_is_refused_by_name(server, field):  # noqa: F811
    response = ask(server, response_format=schema_format({"items": {field: {}}}))
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["param"] == "response_format.json_schema.schema"
    assert f"'{field}'" in error["message"]


def test_two_constraints_are_refused_naming_both(server):  # noqa: F811
    response = ask(server, guided_regex="a", guided_choice=["a"])
    assert response.status_code == 400
    assert "guided_regex" in response.text and "guided_choice" in response.text


def test_a_heavy_schema_does_not_hold_up_others(server):  # noqa: F811
    heavy = {"type": "array", "items": {"enum": [f"{'x' * (i % 50)}{i}" for i in range(20000)]}}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        slow = pool.submit(ask, server, guided_json=heavy, max_tokens=2)
        for _ in range(3):
            assert answer(server, max_tokens=4)[1] in ("length", "stop")
        assert slow.result().status_code in (200, 400)


def test_pydantic_models_through_the_openai_package(server):  # noqa: F811
    schema = dict(SCHEMAS)["containers/pydantic"]
    reply = server.client.chat.completions.create(
        model=NAME, messages=[{"role": "user", "content": "An order."}], seed=3, max_tokens=200,
        response_format={"type": "json_schema", "json_schema": {
            "name": "order", "description": "An order", "strict": True, "schema": schema}})
    jsonschema.validate(json.loads(reply.choices[0].message.content), schema)
    with pytest.raises(openai.BadRequestError) as error:
        server.client.chat.completions.create(
            model=NAME, messages=[{"role": "user", "content": "hi"}],
            response_format={"type": "json_schema", "json_schema": {"name": "x y", "schema": {}}})
    assert error.value.param == "response_format.json_schema.name"
