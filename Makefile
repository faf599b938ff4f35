# The habits of the house. `make` alone tells them.
#
#   make run PROMPT="Why is the sky blue?" MODEL=gemma3-270m

MODEL ?= smollm2
PROMPT ?= Give me three tips for staying healthy.
HOST ?= 127.0.0.1
PORT ?= 8000
FUZZ_SECONDS ?= 60

MATADOR := build/release/matador
PYTHON := .venv/bin/python
# The rooms where threads meet; what `make asan` and `make tsan` run.
SANITIZED := engine server
# The rooms that run on a GPU; `make test-cuda CUDA_ARCHITECTURES=90a` builds for one kind.
CUDA_TESTED := backends models engine

export PATH := $(PATH):$(HOME)/.cargo/bin

.PHONY: help run serve build test test-python test-cuda asan tsan fuzz bench format lint check clean \
        bootstrap tools model

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1#/p' $(MAKEFILE_LIST) | column -t -s '#'

run: build model  ## build, fetch a small model, and let it answer PROMPT
	$(MATADOR) run $(MODEL) "$(PROMPT)" --temperature 0

serve: build model  ## build, fetch a small model, and serve it on HOST:PORT
	$(MATADOR) serve $(MODEL) --host $(HOST) --port $(PORT)

build: bootstrap  ## build/release/matador
	@[ -f build/release/build.ninja ] || cmake --preset release
	cmake --build --preset release --target matador

test: bootstrap  ## build everything; run the C++ and the Python tests
	@[ -f build/release/build.ninja ] || cmake --preset release
	cmake --build --preset release
	ctest --test-dir build/release --output-on-failure
	@$(MAKE) --no-print-directory test-python

test-python: build  ## the command line, the HTTP server with the openai client, and llama.cpp
	scripts/get-model.sh smollm2
	-scripts/get-model.sh gemma3-270m
	$(PYTHON) -m pytest tests/python

test-cuda: bootstrap  ## the CUDA build's tests (what needs a GPU is skipped where there is none)
	@[ -f build/cuda/build.ninja ] || cmake --preset cuda $(if $(CUDA_ARCHITECTURES),'-DMATADOR_CUDA_ARCHITECTURES=$(CUDA_ARCHITECTURES)')
	cmake --build --preset cuda --target matador $(CUDA_TESTED:%=%_test)
	@nvidia-smi -L 2>/dev/null || echo "test-cuda: no NVIDIA GPU here; tests of the GPU are skipped"
	ctest --test-dir build/cuda --output-on-failure -R '^($(subst $() ,|,$(CUDA_TESTED)))$$'

asan tsan: bootstrap  ## the engine's and the server's tests under sanitizers
	@[ -f build/$@/build.ninja ] || cmake --preset $@
	cmake --build --preset $@ --target $(SANITIZED:%=%_test)
	ctest --test-dir build/$@ --output-on-failure -R '^($(subst $() ,|,$(SANITIZED)))$$'

fuzz: tools  ## each parser's fuzz target for FUZZ_SECONDS
	@[ -f build/fuzz/build.ninja ] || cmake --preset fuzz
	scripts/fuzz.sh $(FUZZ_SECONDS)

bench: build model  ## against llama.cpp on the same file, machine and threads
	scripts/get-model.sh gemma3-270m
	bench/peers.sh

format: tools  ## lay out the C++ sources
	git ls-files '*.h' '*.cc' | xargs clang-format-14 -i

check: tools  ## layout, rooms, sizes: what is quick to check
	git ls-files '*.h' '*.cc' | xargs clang-format-14 --dry-run --Werror
	tools/check_rooms.py
	tools/check_sizes.py

lint: check  ## that, and clang-tidy (slow)
	@[ -f build/release/build.ninja ] || cmake --preset release
	cmake --build --preset release
	run-clang-tidy-14 -quiet -p build/release "$(CURDIR)/(src|app)/"

clean:  ## remove what was built (installed models and .venv stay)
	rm -rf build

bootstrap:
	@scripts/bootstrap.sh

tools:
	@scripts/bootstrap.sh tools

model: bootstrap
	@scripts/get-model.sh $(MODEL)
