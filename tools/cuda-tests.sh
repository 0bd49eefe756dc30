#!/bin/sh
# Makes the PTX of the emulator's CUDA tests anew: tools/cuda-tests.sh [NVCC]. The PTX is stored beside
# the programs, so nothing else needs nvcc (of CUDA 13).
set -eu
cd "$(dirname "$0")/../tests/emu"
nvcc=${1:-nvcc}
for source in *.cu; do
    "$nvcc" -std=c++17 -arch=sm_90a -ptx "$source" -o "${source%.cu}.ptx"
done
