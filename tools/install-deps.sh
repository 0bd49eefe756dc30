#!/usr/bin/env bash
# Installs what the build and the tests need on Debian 12 with its security suite, and only what is
# missing: when nothing is, it neither prints nor touches apt. Elsewhere it lists what must be there.
set -euo pipefail

packages=(
    cmake ninja-build gcc g++ pkg-config
    llvm-22-dev llvm-22-tools clang-22 clang-format-22 libclang-rt-22-dev
    libcjson-dev libzstd-dev libbenchmark-dev libcmocka-dev
    python3 python3-numpy python3-pytest python3-pip
)

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "install-deps: root or sudo is needed to install: ${missing[*]}" >&2
        exit 1
    fi
}

installed() {
    dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed
}

install_packages() {
    missing=()
    for package in "${packages[@]}"; do
        installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    echo "Installing: ${missing[*]}"
    log=$(mktemp)
    if ! { as_root apt-get update &&
        as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        echo "install-deps: apt could not install the packages above; LLVM 22 comes from Debian 12's" \
            "security suite (bookworm-security), which must be among apt's sources" >&2
        rm -f "$log"
        exit 1
    fi
    rm -f "$log"
}

if command -v dpkg-query >/dev/null; then
    install_packages
elif ! command -v llvm-config-22 >/dev/null; then
    echo "install-deps: not a Debian system; these Debian packages or their likes must be there:" \
        "${packages[*]}" >&2
fi

"$(dirname "$0")/fetch-ptxas.sh"
