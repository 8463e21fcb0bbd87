# make            the program for this machine, build/release/bin/paritas (for any: CMAKE_FLAGS=-DPARITAS_VARIANTS=all)
# make demo       a real analysis, fitted, with its limits, and as a page that Python writes
# make python     the Python package as a wheel in dist/
# make test       every test
# make docs       the site of all pages, with their examples run, in build/docs/html; with build/web, if that is there
# make wasm       the program in WebAssembly for WASI, build/wasm/bin/paritas.wasm
# make web        the program as a page for the browser, in build/web
# make bench      speed, beside pyhf, nextstat and RooFit (RooFit needs minutes for tHu)
# make release    archives and wheels for Linux, macOS, Windows and WASI, in build/downloads
# make install    into PREFIX (/usr/local)
# make clean      removes what was built
# Each target installs what it lacks first (tools/setup).

MAKEFLAGS += --no-print-directory
PREFIX ?= /usr/local
CMAKE_FLAGS ?=
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
BUILD = build/release
PROGRAM = $(BUILD)/bin/paritas
VENV = build/venv
WHEEL_SAYS = --quiet
# SKBUILD: what pip's build leaves in the cache
CONFIGURE = cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -USKBUILD $(CMAKE_FLAGS)
# $(call CACHED,NAME): what CMake's cache has for it
CACHED = $$(sed -n 's/^$(1):[A-Z]*=//p' $(BUILD)/CMakeCache.txt)
# the extension module beside the Python sources, of the objects of this build
PYTHON_FLAGS = -DPARITAS_PYTHON=ON -DPython_EXECUTABLE="$(CURDIR)/.venv/bin/python"
SPHINX = .venv/bin/python -m sphinx -q -W --keep-going -d build/docs/doctrees

.PHONY: all build demo python test docs wasm web bench release install clean setup
all: build

build:
	@tools/setup build
	@$(CONFIGURE) -DPARITAS_TESTS=OFF -DPARITAS_PYTHON=OFF >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS)

demo:
	@tools/setup python system
	@$(CONFIGURE) -DPARITAS_TESTS=OFF -DPARITAS_PYTHON=OFF >/dev/null
	@tools/show_progress "building" $(BUILD)/build.log cmake --build $(BUILD) --parallel $(JOBS) --target paritas_program
	@examples/sbottom_A/demo $(PROGRAM)
	@tools/show_progress "the Python package into $(VENV)" $(BUILD)/build.log $(MAKE) python WHEEL_SAYS=--verbose
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/paritas-*.whl
	@$(VENV)/bin/python examples/sbottom_A/demo.py build/sbottom_A.html

# with the objects of the build above, by the same compiler and generator (the file removed is where scikit-build-core sees that another environment built, and throws them away)
python: build
	@tools/setup python
	@rm -rf dist $(BUILD)/.skbuild-info.json
	@CC="$(call CACHED,CMAKE_C_COMPILER)" CMAKE_GENERATOR="$(call CACHED,CMAKE_GENERATOR)" $(VENV)/bin/python -m pip wheel $(WHEEL_SAYS) --disable-pip-version-check \
	    --no-build-isolation --no-deps --config-settings=build-dir=$(BUILD) -w dist .
	@ls dist/paritas-*.whl

test:
	@tools/setup test
	@$(CONFIGURE) -DPARITAS_TESTS=ON $(PYTHON_FLAGS) >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS)
	@tests/run --build $(BUILD) $(RUN_FLAGS)

# $(call WASM,FOLDER,VARIANTS): the program with these kernels in WebAssembly, by zig, which brings its own C library
WASM = cmake -S . -B $(1) -DCMAKE_TOOLCHAIN_FILE=cmake/wasm32-wasi.cmake -DCMAKE_BUILD_TYPE=Release -DPARITAS_VARIANTS='$(2)' -DPARITAS_SOURCES=build/sources >/dev/null && \
       cmake --build $(1) --parallel $(JOBS) --target paritas_program && tools/check_wasm $(1)/bin/paritas.wasm

wasm:
	@tools/setup web
	@$(call WASM,build/wasm,)
	@ls -l build/wasm/bin/paritas.wasm

# browsers whose relaxed_madd is fused run the first program, others the second
web:
	@tools/setup web
	@$(call WASM,build/wasm_relaxed,f64_relaxed)
	@$(call WASM,build/wasm_portable,f64_portable)
	@tools/make_page build/web relaxed=build/wasm_relaxed/bin/paritas.wasm portable=build/wasm_portable/bin/paritas.wasm

docs:
	@tools/setup test
	@$(CONFIGURE) -DPARITAS_TESTS=ON $(PYTHON_FLAGS) >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS) --target paritas_python paritas_program paritas_shared
	@.venv/bin/python tools/make_docs.py $(PROGRAM)
	@rm -rf build/docs
	@$(SPHINX) -b html docs build/docs/html
	@$(SPHINX) -b doctest docs build/docs/examples
	@echo build/docs/html/index.html

bench:
	@tools/setup test
	@for program in $$(cat bench/requirements.txt); do \
	    .venv/bin/python -m pip install --quiet --disable-pip-version-check $$program || \
	    echo "$$program could not be installed: left out"; done
	@$(CONFIGURE) -DPARITAS_BENCH=ON $(PYTHON_FLAGS) >/dev/null
	@cmake --build $(BUILD) --parallel $(JOBS)
	@$(BUILD)/bench/kernels examples/sbottom_A/BkgOnly.json
	@.venv/bin/python bench/bench.py --build $(BUILD)
	@PYTHONPATH=python .venv/bin/python bench/python.py --build $(BUILD)

release:
	@tools/setup release
	@tools/setup web
	@build/release_venv/bin/python tools/make_release $(RELEASE_FLAGS)
	@build/release_venv/bin/python packaging/try_release

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)
	@[ "$$(uname -s)" != Linux ] || echo "If a program does not find libparitas.so, run ldconfig as root, or set LD_LIBRARY_PATH."

setup:
	@tools/setup test

clean:
	rm -rf build
