#!/usr/bin/env bash
# Packs programs of build/cuda (or $BUILD) for a machine that has a GPU but no compiler.
#
#   scripts/pack-cuda-tests.sh FOLDER [PROGRAM...]    default: the tests that use the GPU
#
# There, in a copy of this repository (the tests read its tests/data): FOLDER/run.sh runs the tests;
# `. FOLDER/run.sh unpack` only makes the programs callable by name.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly build=${BUILD:-build/cuda}
readonly folder=${1:?usage: $0 FOLDER [PROGRAM...]}
shift
programs=("$@")
[ $# -gt 0 ] || programs=(tests/backends/backends_test tests/models/models_test
                          tests/engine/engine_test)

rm -rf "$folder"
mkdir -p "$folder"
for program in "${programs[@]}"; do
  strip -o "$folder/$(basename "$program")" "$build/$program"
  # What is not part of every system's C and C++ runtime travels along.
  ldd "$build/$program" | awk '/=> \// &&
    $1 !~ /^(libc|libm|libdl|libgcc_s|libstdc\+\+|libpthread|librt)\.so/ {print $1, $3}' |
    while read -r name path; do cp -L "$path" "$folder/$name"; done
done
gzip -f "$folder"/*

cat >"$folder/run.sh" <<END
unpacked=\$(mktemp -d)
for file in "\$(dirname "\${BASH_SOURCE[0]}")"/*.gz; do
  gunzip -c "\$file" >"\$unpacked/\$(basename "\$file" .gz)"
done
chmod +x "\$unpacked"/*
export LD_LIBRARY_PATH=\$unpacked PATH=\$unpacked:\$PATH
# The tests know their data by the path they were built at.
[ -e "$PWD" ] || { mkdir -p "$(dirname "$PWD")" && ln -s "\$PWD" "$PWD"; }
if [ "\${1:-}" != unpack ]; then
  status=0
  for program in "\$unpacked"/*_test; do "\$program" --gtest_brief=1 || status=1; done
  exit \$status
fi
END
du -sh "$folder"
