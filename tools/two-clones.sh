#!/usr/bin/env bash
# Builds the tree twice, in two folders of different length, and compares packs and libraries byte by byte.
set -euo pipefail

tree=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

copy() {
    mkdir -p "$1"
    tar -C "$tree" --exclude='./build*' --exclude=./.git --exclude=./out --exclude=__pycache__ \
        -cf - . | tar -C "$1" -xf -
}

build() {
    cmake -S "$1" -B "$1/build/release" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTLE_BUILD_TESTS=OFF \
        -DTLE_BUILD_BENCH=OFF >/dev/null
    cmake --build "$1/build/release"
}

# Both copies before the first build, so that nobody edits the tree in between.
copy "$work/a"
copy "$work/a/much/longer path/clone"
build "$work/a"
build "$work/a/much/longer path/clone"

cd "$work/a/build/release"
status=0
files=$(find packs lib bin \( -name '*.tlepack' -o -name '*.so.*.*' -o -path 'bin/*' \) -type f | sort)
for file in $files; do
    cmp "$file" "$work/a/much/longer path/clone/build/release/$file" || status=1
done
echo "compared $(echo "$files" | wc -l) files"
exit $status
