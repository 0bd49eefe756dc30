#!/usr/bin/env bash
# Checks that packs do not depend on where they were built: compiles the grids again from a copy of the
# kernels in another folder, without a cache, and compares bytes.
# Usage: compare_packs.sh TLE_GRID PTXAS|"" PACK_DIR ARCH...
set -euo pipefail

tle_grid=$1 ptxas=$2 packs=$3
shift 3
source=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/another folder/packs"
cp -r "$source/kernels_tle" "$work/another folder/"
cd "$work/another folder"
for grid in kernels_tle/*/grid.json; do
    op=$(sed -n 's/.*"op": *"\([a-z0-9_]*\)".*/\1/p' "$grid" | head -n 1)
    for arch in "$@"; do
        [ -e "$packs/$op.$arch.tlepack" ] || continue # the grid is not built for it
        "$tle_grid" --grid "$grid" --arch "$arch" --out packs ${ptxas:+--ptxas "$ptxas"}
    done
done

status=0
for pack in "$packs"/*.tlepack; do
    cmp "$pack" "packs/$(basename "$pack")" || status=1
done
echo "compared $(find "$packs" -name '*.tlepack' | wc -l) packs"
exit $status
