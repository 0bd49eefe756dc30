#!/usr/bin/env bash
# Installs the build into a fresh prefix, moves that prefix elsewhere, and uses it from there as other projects
# would: through CMake's find_package, through pkg-config, by dlopen, and by its programs.
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
"${cc/gcc/g++}" -x c++ -std=c++17 "$here/cxx17.cpp" -x none -o "$work/cxx_by_pkg_config" "${flags[@]}" -lstdc++ \
    "-Wl,-rpath,$(pkg-config --variable=libdir tle)"
"$work/cxx_by_pkg_config"

# Another major version is refused, an older minor version is not.
mkdir "$work/version"
cat >"$work/version/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(version LANGUAGES C)
find_package(tle ${WANTED} QUIET PATHS ${PREFIX} NO_DEFAULT_PATH)
message(STATUS "found=${tle_FOUND} considered=${tle_CONSIDERED_VERSIONS}")
END
version=$(pkg-config --modversion tle)
for wanted in 0.0 "$version" 1.0 "${version%.*}.99"; do
    cmake -S "$work/version" -B "$work/version/build" "-DWANTED=$wanted" "-DPREFIX=$prefix" >"$work/found" 2>&1
    case $wanted in
    0.0 | "$version") grep -q "found=1" "$work/found" ;;
    *) grep -q "found=0 considered=$version" "$work/found" ;;
    esac || { echo "find_package(tle $wanted) with $version installed:" && cat "$work/found" && exit 1; } >&2
done

# The SONAME is the major version, and what a program asks for at run time.
libdir=$(pkg-config --variable=libdir tle)
for library in libtle libtle_emu; do
    readelf -d "$libdir/$library.so" | grep -q "SONAME.*\[$library.so.${version%%.*}\]"
done
readelf -d "$work/by_pkg_config" | grep -q "NEEDED.*\[libtle.so.${version%%.*}\]"
"$cc" -std=c99 -D_DEFAULT_SOURCE "$here/dlopen.c" -o "$work/by_dlopen" "${flags[@]}" -ldl
LD_LIBRARY_PATH=$libdir "$work/by_dlopen" "libtle.so.${version%%.*}"

# The program finds the library of its own prefix; its manual page is there.
if [ -x "$prefix/bin/tle" ]; then
    "$prefix/bin/tle" --version | grep -q "libtle $version"
    "$prefix/bin/tle" list --device emu >/dev/null
    mkdir "$work/runtime" # what a package for running has: no names that programs are linked by
    cp -r "$prefix/." "$work/runtime"
    find "$work/runtime" -name '*.so' -delete
    "$work/runtime/bin/tle" list --device emu >/dev/null
    [ -s "$prefix/share/man/man1/tle.1" ]
fi

# The libraries name no file of the build tree, and the driver is not linked.
for library in "$prefix"/lib*/libtle*.so* "$prefix"/lib*/*/libtle*.so*; do
    [ -f "$library" ] || continue
    if readelf -d "$library" | grep -E 'libcuda|RPATH|RUNPATH.*\[/'; then
        echo "$library: links the driver or names an absolute path" >&2
        exit 1
    fi
done
