# The two commands of the README, and three for those who work on the project. Everything real is in
# CMakeLists.txt; this only installs what is missing, configures, builds and runs.
BUILD := build/release
JOBS ?= $(shell nproc)
SCORES := $(BUILD)/demo/scores.npy
export LC_ALL := C.UTF-8

.PHONY: demo test soak gpu-check build deps clean

demo: build
	$(BUILD)/bin/tle-demo --scores-out $(SCORES)
	$(BUILD)/bin/tle run topk --scores $(SCORES) --k 2048 --out $(BUILD)/demo/indices.npy

test: build
	ctest --preset release -j $(JOBS)

# Hours rather than minutes: all seeds, the sanitizers, and two clones compared byte for byte.
soak: build
	TLE_SOAK=1 ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) -LE gpu
	cmake --preset asan+ubsan
	cmake --build --preset asan+ubsan -j $(JOBS)
	ctest --preset asan+ubsan -j $(JOBS)
	ctest --test-dir build/asan+ubsan --output-on-failure -j $(JOBS) -L soak -R '^fuzz'

# Needs an NVIDIA GPU: correctness on the device, the Python tests that need it and torch, then timings; a JSON file of
# the first and of each of the last.
gpu-check: build
	$(BUILD)/bin/tle-gpu-check --out $(BUILD)/gpu-check.json
	ctest --test-dir $(BUILD) --output-on-failure -L gpu
	$(BUILD)/bin/topk_bench --device=cuda --out=$(BUILD)/topk_bench.json
	$(BUILD)/bin/radix_bench --device=cuda --out=$(BUILD)/radix_bench.json

build: deps
	@cmake --preset release -DTLE_WERROR=ON --log-level=NOTICE >$(BUILD).configure.log || \
		{ cat $(BUILD).configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS)

deps:
	@tools/install-deps.sh
	@mkdir -p build

clean:
	rm -rf build
