#!/usr/bin/env bash
# Installs llama-cpp-python into build/bench-venv (once) and measures Matador against it.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly venv=build/bench-venv
if ! [ -f $venv/.installed ]; then
  echo "bench: building llama.cpp from its Python package; this takes minutes" >&2
  python3 -m venv $venv
  $venv/bin/python -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt
  touch $venv/.installed
fi
exec $venv/bin/python bench/peers.py "$@"
