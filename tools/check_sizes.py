#!/usr/bin/env python3
"""Prints the longest files, functions and parameter lists, and fails where one is past its limit.

Wanted: files of 400 lines, functions of 40, 5 parameters. Limits: 600, 80, 7.
"""

import pathlib
import re
import subprocess
import sys

LIMITS = {"file": 600, "function": 80, "parameters": 7}
SHOWN = 10

BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'',
                     re.DOTALL)
# What may stand between a parameter list and the body.
TAIL = re.compile(r"(?:\s*(?:const|noexcept|override|final|mutable|&{1,2}|->[^;{}()]*|:(?!:)[^;]*))*\s*")
# Name and opening parenthesis of a function; a keyword there opens some other block.
NAME = re.compile(r"([\w:~]+|operator\s*\S+?)\s*(?:<[^<>;{}]*>)?\($")
KEYWORDS = {"if", "for", "while", "switch", "catch", "match"}


def blank(text):
    """The text with comments and literals blanked, line breaks kept."""
    return BLANKED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def closing(text, start):
    """Index of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "({[") - (text[i] in ")}]")
        if depth == 0:
            return i
    return len(text) - 1


def count_parameters(inside):
    flat = inside
    while re.search(r"[<({\[][^<>(){}\[\]]*[>)}\]]", flat):
        flat = re.sub(r"[<({\[][^<>(){}\[\]]*[>)}\]]", "", flat)
    return flat.count(",") + 1 if flat.strip() else 0


def functions(text):
    """(name, line, lines, parameters) of each outermost function in C++ or Rust text."""
    text = blank(text)
    at = 0
    while (paren := text.find("(", at)) >= 0:
        at = paren + 1
        name = NAME.search(text[max(0, paren - 120):paren + 1])
        if not name or name[1] in KEYWORDS:
            continue
        end = closing(text, paren)
        body = text.find("{", end)
        between = text[end + 1:body] if body >= 0 else ";"
        if ";" in between or "}" in between or not TAIL.fullmatch(between):
            continue
        last = closing(text, body)
        line = text.count("\n", 0, text.rfind("\n", 0, paren) + 1) + 1
        yield name[1], line, text.count("\n", paren, last) + 1, count_parameters(text[paren + 1:end])
        at = last


def measure(root):
    files = subprocess.run(["git", "ls-files", "*.h", "*.cc", "*.cu", "*.cuh", "*.rs"], cwd=root, text=True,
                           capture_output=True, check=True).stdout.split()
    for file in files:
        text = (root / file).read_text()
        yield "file", text.count("\n"), file
        for name, line, lines, parameters in functions(text):
            yield "function", lines, f"{file}:{line} {name}"
            yield "parameters", parameters, f"{file}:{line} {name}"


def main():
    measures = sorted(measure(pathlib.Path(__file__).resolve().parents[1]), reverse=True)
    failed = False
    for kind, limit in LIMITS.items():
        print(f"longest: {kind} (limit {limit})")
        for size, place in [(m[1], m[2]) for m in measures if m[0] == kind][:SHOWN]:
            print(f"{size:6}  {place}{'  TOO LONG' if size > limit else ''}")
            failed |= size > limit
    sys.exit(failed)


if __name__ == "__main__":
    main()
