#!/usr/bin/env bash
# Builds the fuzz targets and runs each for SECONDS, two at a time, from its seeds in
# tests/fuzz/seeds. New inputs are kept in build/fuzz/corpus, findings in build/fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly seconds=${1:?usage: scripts/fuzz.sh SECONDS}

fuzz_one() {
  local target=$1 name
  name=$(basename "$target" _fuzz)
  mkdir -p "build/fuzz/corpus/$name" "tests/fuzz/seeds/$name" build/fuzz/findings
  if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$name-" \
    "build/fuzz/corpus/$name" "tests/fuzz/seeds/$name" >"build/fuzz/$name.log" 2>&1; then
    echo "fuzz: $name: clean, $(sed -n 's/stat::number_of_executed_units: *//p' \
      "build/fuzz/$name.log") inputs in $seconds s"
  else
    tail -n 40 "build/fuzz/$name.log"
    echo "fuzz: $name: FAILED; the input is in build/fuzz/findings"
    return 1
  fi
}
export -f fuzz_one
export seconds

cmake --build --preset fuzz --target fuzz
targets=$(find build/fuzz -name '*_fuzz' -type f -perm -u+x | sort)
[ -n "$targets" ] || { echo "fuzz: no target was built"; exit 1; }
xargs -P 2 -I {} bash -c 'fuzz_one {}' <<<"$targets"
