#!/usr/bin/env python3
"""Checks that rooms include only rooms below them, and libraries only where they belong."""

import pathlib
import re
import sys

# room: the rooms directly below it.
BELOW = {
    "core": [], "quant": ["core"], "backends": ["quant"], "weights": ["quant"],
    "nn": ["backends"], "models": ["nn", "weights"], "text": ["core"],
    "dialects": ["core"], "engine": ["models", "text"], "store": ["core"],
    "api": ["engine", "dialects", "store"],
    "server": ["api"], "app": ["server"],
}
# library: the rooms that may know it.
LIBRARIES = {"boost/": ["server"], "CLI/": ["app"], "prometheus/": ["server"]}


def reach(room):
    return {room}.union(*(reach(below) for below in BELOW[room]))


def errors(root):
    for path in sorted([*root.glob("src/**/*.h"), *root.glob("src/**/*.cc"), *root.glob("app/*")]):
        room = path.relative_to(root).parts[0 if path.parent.name == "app" else 1]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = re.match(r'\s*#\s*include\s*[<"](([^/>"]*/?)[^>"]*)', line)
            if not include or room not in BELOW:
                continue
            target, folder = include[1], include[2]
            if folder.rstrip("/") in BELOW and folder.rstrip("/") not in reach(room):
                yield f"{path.relative_to(root)}:{number}: {room} may not include {target}"
            if room not in LIBRARIES.get(folder, [room]):
                yield f"{path.relative_to(root)}:{number}: {target} is for {LIBRARIES[folder]}"


found = list(errors(pathlib.Path(__file__).resolve().parents[1]))
sys.exit("\n".join(found) or 0)
