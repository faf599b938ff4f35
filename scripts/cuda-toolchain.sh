#!/usr/bin/env bash
# Assembles a CUDA compile toolchain from NVIDIA's wheels on PyPI, for machines without one (no GPU
# is needed to compile). Does nothing where it is already there.
#
#   scripts/cuda-toolchain.sh [FOLDER]     default: .cache/cuda; prints the folder
set -euo pipefail
cd "$(dirname "$0")/.."

readonly folder=${1:-.cache/cuda}
readonly wheels=(
  nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88
  nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
)

# Debian's own python3 has no pip; the tests' environment has.
python=.venv/bin/python
[ -x $python ] || python=python3

wanted="${wheels[*]}"
if [ "$(cat "$folder/.wheels" 2>/dev/null)" != "$wanted" ]; then
  echo "cuda-toolchain: fetching ${wheels[*]}" >&2
  rm -rf "$folder"
  mkdir -p "$folder"
  $python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    --dest "$folder/wheels" "${wheels[@]}" >&2
  for wheel in "$folder"/wheels/*.whl; do
    $python -m zipfile -e "$wheel" "$folder/wheels"
  done
  mv "$folder"/wheels/nvidia/cu13/* "$folder"
  rm -rf "$folder/wheels"
  ln -s lib "$folder/lib64"
  chmod +x "$folder"/bin/* "$folder"/nvvm/bin/*
  echo "$wanted" >"$folder/.wheels"
fi
cd "$folder" && pwd
