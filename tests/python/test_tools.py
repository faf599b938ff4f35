"""Tools and reasoning through the official OpenAI client against a real `matador serve`."""

import json

import httpx
import openai
import pytest

from test_openai import NAME, Serve

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "enum": ["Paris", "Tokyo"]}},
        "required": ["city"], "additionalProperties": False}}}
ADD = {"type": "function", "function": {
    "name": "add", "parameters": {"type": "object", "properties": {
        "a": {"type": "integer", "minimum": 0, "maximum": 9},
        "b": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["a", "b"], "additionalProperties": False}}}
TOOLS = [WEATHER, ADD]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Serve(tmp_path_factory.mktemp("serve") / "log")
    yield running
    running.stop()


@pytest.fixture
def client(server):
    return server.client


def ask(client, text="What is the weather in Paris?", **more):
    arguments = {"model": NAME, "messages": [{"role": "user", "content": text}],
                 "temperature": 0, "max_tokens": 64, "tools": TOOLS} | more
    return client.chat.completions.create(**arguments)


def gather(chunks):
    """A stream's content, calls as (name, arguments) and finish reason."""
    content, calls, ids, reason = "", [], [], None
    for chunk in chunks:
        for choice in chunk.choices:
            content += choice.delta.content or ""
            reason = choice.finish_reason or reason
            for call in choice.delta.tool_calls or []:
                if call.index == len(calls):
                    assert call.id and call.type == "function" and call.function.name
                    ids.append(call.id)
                    calls.append([call.function.name, ""])
                else:
                    assert call.index == len(calls) - 1
                    assert call.id is None and call.function.name is None
                calls[call.index][1] += call.function.arguments or ""
    assert len(set(ids)) == len(ids)
    return content, [tuple(call) for call in calls], reason


def calls_of(answer):
    return [(call.function.name, call.function.arguments)
            for call in answer.choices[0].message.tool_calls or []]


def prompt_of(server, **body):
    ids = httpx.post(server.root + "/tokenize", json=body).json()["tokens"]
    return httpx.post(server.root + "/detokenize", json={"tokens": ids}).json()["prompt"]


def test_an_answer_streams_as_it_is(client):
    whole = ask(client)
    content, calls, reason = gather(ask(client, stream=True))
    assert content == (whole.choices[0].message.content or "")
    assert calls == calls_of(whole)
    assert reason == whole.choices[0].finish_reason


def test_tools_are_text_in_a_prompt_whose_template_does_not_know_them(server):
    user = {"role": "user", "content": "hi"}
    call = {"id": "c1", "type": "function",
            "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    prompt = prompt_of(server, tools=TOOLS, messages=[
        user, {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"}])
    assert '"name":"get_weather"' in prompt and '"name":"add"' in prompt
    assert '{"name": "get_weather", "arguments": {"city":"Paris"}}' in prompt
    assert "<tool_response>\nsunny\n</tool_response>" in prompt
    assert "add" not in prompt_of(server, tools=TOOLS, tool_choice="none", messages=[user])


def test_tools_may_be_left_to_the_caller(tmp_path):
    running = Serve(tmp_path / "log", "--no-tools-in-template")
    try:
        body = {"messages": [{"role": "user", "content": "hi"}]}
        assert prompt_of(running, tools=TOOLS, **body) == prompt_of(running, **body)
    finally:
        running.stop()


def test_an_unknown_parser_is_refused(matador, smollm2):
    refused = matador("serve", smollm2, "--port", "0", "--tool-call-parser", "nothing")
    assert refused.returncode != 0
    assert "hermes" in refused.stderr


@pytest.mark.parametrize("field, more", [
    ("tools[0].function.name", {"tools": [{"type": "function", "function": {"name": "a b"}}]}),
    ("tool_choice.function.name",
     {"tool_choice": {"type": "function", "function": {"name": "launch"}}}),
    ("reasoning_effort", {"reasoning_effort": "high"}),
    ("thinking_token_budget", {"extra_body": {"thinking_token_budget": 5}}),
])
def test_what_cannot_be_done_is_refused_by_name(client, field, more):
    with pytest.raises(openai.BadRequestError) as refused:
        ask(client, **more)
    assert refused.value.param == field


def check_calls(calls):
    """Each call is one of TOOLS' and its arguments match the schema."""
    assert calls
    for name, arguments in calls:
        arguments = json.loads(arguments)
        if name == "get_weather":
            assert set(arguments) == {"city"} and arguments["city"] in ("Paris", "Tokyo")
        else:
            assert name == "add" and set(arguments) == {"a", "b"}
            assert all(isinstance(x, int) and 0 <= x <= 9 for x in arguments.values())


@pytest.mark.parametrize("more", [
    {"temperature": 0},
    {"temperature": 1.2, "seed": 5},
    {"temperature": 1.2, "seed": 6, "parallel_tool_calls": False},
])
def test_required_calls_match_their_schemas_and_stream_as_they_are(client, more):
    more = {"tool_choice": "required", "max_tokens": 200} | more
    whole = ask(client, **more)
    calls = calls_of(whole)
    if whole.choices[0].finish_reason == "length":  # calls without end, the last one cut
        calls = calls[:-1]
    else:
        assert whole.choices[0].finish_reason == "tool_calls"
    check_calls(calls)
    if more.get("parallel_tool_calls") is False:
        assert len(calls) == 1
    content, streamed, reason = gather(ask(client, stream=True, **more))
    assert (streamed, reason) == (calls_of(whole), whole.choices[0].finish_reason)
    assert not content and whole.choices[0].message.content is None


def test_a_named_call_is_one_call_of_that_function(client):
    choice = {"type": "function", "function": {"name": "add"}}
    whole = ask(client, tool_choice=choice)
    check_calls(calls_of(whole))
    assert [name for name, _ in calls_of(whole)] == ["add"]
    assert whole.choices[0].finish_reason == "stop"
    assert gather(ask(client, tool_choice=choice, stream=True))[1:] == (calls_of(whole), "stop")


def test_allowed_tools_are_the_only_ones_called(client):
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "add"}}]}
    whole = ask(client, tool_choice={"type": "allowed_tools", "allowed_tools": allowed},
                parallel_tool_calls=False)
    assert [name for name, _ in calls_of(whole)] == ["add"]


def test_what_a_schema_cannot_be_held_to_is_refused(client):
    tool = {"type": "function", "function": {"name": "f", "parameters": {
        "type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}}}
    with pytest.raises(openai.BadRequestError) as refused:
        ask(client, tools=[tool])
    assert "uniqueItems" in str(refused.value)
