#!/usr/bin/env bash
# Installs the build into a fresh prefix, moves that prefix elsewhere, and uses it from there as two kinds
# of project would: through CMake's find_package and through pkg-config.
# Usage: installed.sh BUILD_DIR C_COMPILER
set -euo pipefail

build=$1 cc=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
prefix=$work/moved

cmake -S "$here/installed" -B "$work/project" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/project" >/dev/null
"$work/project/found_c99"
"$work/project/found_cxx17"

pc=$(dirname "$(find "$prefix" -name tle.pc)")
export PKG_CONFIG_PATH=$pc
read -r -a flags <<<"$(pkg-config --cflags --libs tle)"
"$cc" -std=c99 "$here/c99.c" -o "$work/by_pkg_config" "${flags[@]}" \
    "-Wl,-rpath,$(pkg-config --variable=libdir tle)"
"$work/by_pkg_config"

# The libraries name no file of the build tree, and the driver is not linked.
for library in "$prefix"/lib*/libtle*.so* "$prefix"/lib*/*/libtle*.so*; do
    [ -f "$library" ] || continue
    if readelf -d "$library" | grep -E 'libcuda|RPATH|RUNPATH.*\[/'; then
        echo "$library: links the driver or names an absolute path" >&2
        exit 1
    fi
done
