#!/usr/bin/env python3
"""Renders every template of tests/data/text/templates with transformers and writes goldens.json.

Usage: TZ=UTC tools/make_template_goldens.py

A golden is {"template", "case", "input": {...}, "expected"} or, where the template refuses the case,
"raised" with its own words or "fails" (any other error). The clock stands at NOW.
"""
import datetime
import json
import pathlib
from unittest import mock

import jinja2
from transformers.utils import chat_template_utils

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests/data/text/templates"
NOW = 1796083200  # 2026-12-01 00:00:00 UTC
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
# These read content as a list of parts; the others get its text, joined without a gap.
TAKES_PARTS = {
    "gemma3": {"system", "user", "assistant"}, "mistral_parts": {"system", "user", "assistant"},
    "glm4": {"system", "user", "assistant", "tool"}, "parts_only": {"system", "user", "assistant", "tool"},
}
ONLY_PARTS = {"parts_only"}


def say(role, content, **more):
    return {"role": role, "content": content, **more}


def text_part(text):
    return {"type": "text", "text": text}


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather", "description": "Weather of a place, in °C & words.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "Where"},
                "days": {"type": "array", "items": {"type": "integer"}},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "options": {"type": "object", "properties": {"wind": {"type": "boolean"}}},
            },
            "required": ["place"],
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "now", "description": "The time.",
                                          "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "abcdefghi", "type": "function", "function": {
    "name": "get_weather", "arguments": {"place": "Zürich", "days": [1, 2], "options": {"wind": True}}}}
USER, SYSTEM = say("user", "What is 2 + 2?"), say("system", "  Be brief.  ")
TURNS = [USER, say("assistant", " Four. "), say("user", "And doubled?\n")]
TOOL_TURNS = [say("user", "How is Zürich?"), say("assistant", "", tool_calls=[CALL]),
              say("tool", '{"temperature": 7.5}', name="get_weather", tool_call_id="abcdefghi"),
              say("assistant", "7.5 °C."), say("user", "Thanks! And <|im_end|> you?")]

CASES = {
    "one": {"messages": [USER]},
    "one_closed": {"messages": [USER], "add_generation_prompt": False},
    "system": {"messages": [SYSTEM, USER]},
    "turns": {"messages": TURNS},
    "system_turns_closed": {"messages": [SYSTEM] + TURNS, "add_generation_prompt": False},
    "answered": {"messages": TURNS[:2], "add_generation_prompt": False},
    "unicode": {"messages": [say("user", "naïve 😀 \"quotes\" <b>&amp;</b> \\n {{ x }} {% y %}\t'it's'")]},
    "wrong_order": {"messages": [say("assistant", "Hi"), USER]},
    "two_users": {"messages": [USER, USER]},
    "odd_role": {"messages": [USER, say("critic", "Hm.")]},
    "long": {"messages": [say("user" if i % 2 == 0 else "assistant", f"line {i}") for i in range(9)]},
    "continued": {"messages": [USER, say("assistant", "The answer is ")], "continue_final_message": True},
    "continued_turns": {"messages": TURNS[:1] + [say("assistant", "Fo")], "continue_final_message": True},
    "parts": {"messages": [say("user", [text_part("First."), text_part(" Second. ")])]},
    "parts_turns": {"messages": [say("system", [text_part("Short.")]), say("user", [text_part("Hi")]),
                                 say("assistant", [text_part("Hello")]), say("user", "plain")]},
    "continued_parts": {"messages": [USER, say("assistant", [text_part("It is")])], "continue_final_message": True},
    "tools": {"messages": [USER], "tools": [WEATHER, CLOCK]},
    "tools_system": {"messages": [SYSTEM, USER], "tools": [WEATHER]},
    "tool_turns": {"messages": TOOL_TURNS, "tools": [WEATHER]},
    "tool_result_last": {"messages": TOOL_TURNS[:3], "tools": [WEATHER, CLOCK]},
    "two_calls": {"messages": [TOOL_TURNS[0], say("assistant", "Looking.", tool_calls=[CALL, CALL]),
                               TOOL_TURNS[2], TOOL_TURNS[2]]},
    "null_content": {"messages": [TOOL_TURNS[0], say("assistant", None, tool_calls=[CALL]), TOOL_TURNS[2]]},
    "thinking": {"messages": [USER, say("assistant", "<think>\nEasy.\n</think>\n\nFour."), say("user", "More")]},
    "thinking_last": {"messages": [USER, say("assistant", "<think>\nEasy.\n</think>\n\nFour.")],
                      "add_generation_prompt": False},
    "reasoning": {"messages": [USER, say("assistant", "Four.", reasoning_content="Easy."), say("user", "More")]},
    "reasoning_alias": {"messages": [USER, say("assistant", "Four.", reasoning="Easy.")], "add_generation_prompt": False},
    "no_thinking": {"messages": [USER], "kwargs": {"enable_thinking": False}},
    "documents": {"messages": [USER], "documents": [{"title": "A", "text": "Alpha."}, {"title": "B", "text": "Beta é."}]},
    "kwargs": {"messages": [SYSTEM, USER], "kwargs": {"date_string": "1 Jan 2020", "reasoning_effort": "high",
                                                      "controls": {"length": "short"}, "bos_token": "<BOS>",
                                                      "tools_in_user_message": False}, "tools": [CLOCK]},
}


class FixedTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(NOW, tz)


def adapted(messages, template):
    """Content in the form that the template takes, as an engine has to find out."""
    takes = TAKES_PARTS.get(template, set())
    result = []
    for message in messages:
        message = {key: value for key, value in message.items() if value is not None}
        content = message.get("content")
        if isinstance(content, list) and message["role"] not in takes:
            message["content"] = "".join(part["text"] for part in content)
        if isinstance(content, str) and template in ONLY_PARTS and message["role"] in takes:
            message["content"] = [text_part(content)]
        result.append(message)
    return result


def render(source, template, case):
    variables = {**TOKENS, **case.get("kwargs", {})}
    continued = case.get("continue_final_message", False)
    rendered, _ = chat_template_utils.render_jinja_template(
        conversations=[adapted(case["messages"], template)], tools=case.get("tools"),
        documents=case.get("documents"), chat_template=source, continue_final_message=continued,
        add_generation_prompt=case.get("add_generation_prompt", not continued), **variables)
    return rendered[0]


def main():
    goldens = []
    for path in sorted(FOLDER.glob("*.jinja")):
        for name, case in CASES.items():
            golden = {"template": path.stem, "case": name}
            try:
                golden["expected"] = render(path.read_text(), path.stem, case)
            except jinja2.exceptions.UndefinedError:
                golden["fails"] = True
            except jinja2.exceptions.TemplateError as error:
                golden["raised"] = str(error)
            except Exception:  # whatever Python says of a template that does not fit the case
                golden["fails"] = True
            goldens.append(golden)
    text = json.dumps({"now": NOW, "tokens": TOKENS, "cases": CASES, "goldens": goldens},
                      ensure_ascii=False, indent=0)
    (FOLDER / "goldens.json").write_text(text + "\n")
    print(len(goldens), "goldens,", sum("expected" in golden for golden in goldens), "rendered,",
          sum("raised" in golden for golden in goldens), "raised")


if __name__ == "__main__":
    with mock.patch.object(chat_template_utils, "datetime", FixedTime):
        main()
