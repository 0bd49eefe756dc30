#!/usr/bin/env bash
# Builds with TLE_PACKS=external, installs, moves the prefix and runs there: the kernels come from files
# beside the library, from TLE_PACK_PATH, and from nowhere else. TLE_OPS refuses what there is not.
# Usage: external.sh SOURCE_DIR PTXAS-OR-EMPTY
set -euo pipefail

source=$1 ptxas=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DTLE_BUILD_TESTS=OFF -DTLE_BUILD_BENCH=OFF "-DTLE_PTXAS=$ptxas")

if cmake -S "$source" -B "$work/none" "${options[@]}" -DTLE_OPS=no_such_op >"$work/log" 2>&1; then
    echo "TLE_OPS=no_such_op was accepted" >&2
    exit 1
fi
grep -q "TLE_OPS names 'no_such_op'" "$work/log"

cmake -S "$source" -B "$work/build" "${options[@]}" -DTLE_PACKS=external -DTLE_OPS=topk_select \
    '-DTLE_ARCHS=sm_89;sm_90a' >/dev/null
cmake --build "$work/build" -j 2 >/dev/null
tle() { "$prefix/bin/tle" "$@"; }

prefix=$work/build # where it was built, packs are found as well
tle list >"$work/log"
grep -q topk_select__ "$work/log"
cmake --install "$work/build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
prefix=$work/moved
unset TLE_PACK_PATH TLE_LIBRARY
packs=$(dirname "$(find "$prefix" -name 'topk_select.sm_90a.emu.tlepack')")
rm -rf "$work/build"
tle check --quick --device emu

mv "$packs" "$work/elsewhere"
if tle check --quick --device emu >"$work/log" 2>&1; then
    echo "kernels were found although their files are gone" >&2
    exit 1
fi
grep -q "no pack of this operator is in TLE_PACK_PATH, in tle/packs beside the library" "$work/log"
TLE_PACK_PATH=$work/elsewhere tle check --quick --device emu
