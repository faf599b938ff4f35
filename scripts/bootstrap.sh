#!/usr/bin/env bash
# Installs what building and testing Matador needs on Debian 12 (or a Debian of its age): packages,
# Rust, and Python tools in ./.venv. Does only what is missing, so it may run before every build.
#
#   scripts/bootstrap.sh          what `make build` and `make test` need
#   scripts/bootstrap.sh tools    also the clang tools of `make lint`, `make format`, `make fuzz`
set -euo pipefail
cd "$(dirname "$0")/.."

readonly min_rust=87  # 1.87: what llguidance asks for
readonly build_packages=(
  ca-certificates ccache cmake curl g++ git libboost1.81-dev libcli11-dev libgmock-dev libgtest-dev
  libsqlite3-dev make ninja-build nlohmann-json3-dev prometheus-cpp-dev python3 python3-venv
  zlib1g-dev
)
readonly tool_packages=(clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev)

say() { echo "bootstrap: $*" >&2; }
die() { say "$*"; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "not root and no sudo; please run as root: $*"
  fi
}

install_packages() {
  command -v dpkg-query >/dev/null || {
    say "not a Debian system; please have these or their like: $*"
    return
  }
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing Debian packages: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update >&2
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y --no-install-recommends install "${missing[@]}" >&2
}

# Whether cargo and rustc exist and are not older than min_rust.
rust_is_current() {
  local version
  version=$(rustc --version 2>/dev/null) && cargo --version >/dev/null 2>&1 || return 1
  version=${version#rustc 1.}
  [ "${version%%.*}" -ge "$min_rust" ]
}

# The stable toolchain by rustup, for this user, without touching the shell's profile.
install_rustup() {
  command -v rustup >/dev/null && { rustup toolchain install stable --profile minimal >&2; return; }
  local folder target
  target=$(uname -m)-unknown-linux-gnu
  folder=$(mktemp -d)
  local url=https://static.rust-lang.org/rustup/dist/$target/rustup-init
  curl -fsSL --retry 2 --connect-timeout 15 -o "$folder/rustup-init" "$url" &&
    curl -fsSL --retry 2 --connect-timeout 15 -o "$folder/sum" "$url.sha256" &&
    (cd "$folder" && echo "$(cut -d' ' -f1 sum)  rustup-init" | sha256sum --quiet -c) &&
    chmod +x "$folder/rustup-init" &&
    "$folder/rustup-init" -y --profile minimal --no-modify-path >&2
  local status=$?
  rm -rf "$folder"
  return $status
}

# Debian 12 carries a current Rust for its browsers.
install_debian_rust() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update >&2
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y --no-install-recommends install cargo-web rustc-web >&2
}

install_rust() {
  export PATH="$PATH:$HOME/.cargo/bin"
  rust_is_current && return
  say "installing the stable Rust toolchain by rustup"
  if install_rustup && PATH="$HOME/.cargo/bin:$PATH" rust_is_current; then return; fi
  say "rustup cannot be had here; installing Debian's rustc-web and cargo-web"
  install_debian_rust && rust_is_current && return
  die "no Rust of 1.$min_rust or newer; see https://rustup.rs"
}

install_python_tools() {
  local wanted
  wanted=$(sha256sum <tests/python/requirements.txt)
  [ "$(cat .venv/.installed 2>/dev/null)" = "$wanted" ] && return
  say "installing the Python test tools into .venv"
  rm -rf .venv
  python3 -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check \
    -r tests/python/requirements.txt >&2
  echo "$wanted" >.venv/.installed
}

install_packages "${build_packages[@]}"
[ "${1:-}" = tools ] && install_packages "${tool_packages[@]}"
install_rust
install_python_tools
