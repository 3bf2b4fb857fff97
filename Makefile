# Every target does its own set-up; README says what must be there before (git, make, Swift 6.2 or newer).

BUILD ?= .build

# Programs are self-contained but for the system's own libraries; oauthctl is static as a whole (Package.swift).
# Libraries are looked for where the system has them, and not beside the programs.
RELEASE_FLAGS = -c release --static-swift-stdlib --disable-local-rpath

SWIFT_FILES = Package.swift Sources Tests

# The programs that are installed: the built ones, unless a folder is named.
PROGRAMS = $(or $(OAUTHCTL_BIN),$(abspath $(BUILD))/release)

.PHONY: help build release test test-world demo prove fuzz bench sanitize install uninstall lint format outdated clean

help:
	@echo 'make build    the programs, in $(BUILD)/release'
	@echo 'make test     every test, the programs against real servers too'
	@echo 'make test-world    the same against four more engines, a browser, Apache; writes docs/interop.md'
	@echo 'make demo     the story of a token, told by the programs themselves'
	@echo 'make install [PREFIX=~/.local]    programs, units, completions, documents;  make uninstall  takes them away'
	@echo '                 OAUTHCTL_BIN=FOLDER  takes programs that are built already, here and for make deb'
	@echo 'make deb      Debian packages of the same, in $(BUILD), judged by lintian'
	@echo 'make prove    kill -9, power cuts and disk faults at every place of a refresh, hostile callers: the full sets'
	@echo 'make fuzz     every parser of foreign bytes, FUZZ_SECONDS=60 each;  make sanitize  unit and socket tests'
	@echo 'make bench    ratios to the least programs that do the same, as docs/performance.md tells them'
	@echo 'make lint     the style of all files;  make format  mends what can be mended'
	@echo 'make outdated    the packages that have a newer release than the one pinned in Package.swift'
	@echo 'make clean    remove $(BUILD)'

build:
	@Tests/Setup/prepare build
	@$(MAKE) --no-print-directory release

# What `build` does once everything it needs is there.
release:
	@mkdir -p $(BUILD)/static && \
	  ln -sf "$$($$(command -v cc || command -v clang) -print-file-name=libstdc++.a)" $(BUILD)/static/
	OAUTHCTL_STATIC=$(abspath $(BUILD))/static swift build --scratch-path $(BUILD) $(RELEASE_FLAGS)

test:
	@Tests/Setup/prepare test
	@Tests/Setup/run-tests $(BUILD)

# Installs Debian packages of 460 MB; docs/interop.md says what for.
test-world:
	@Tests/Setup/prepare test
	@Tests/Setup/prepare-world
	@$(MAKE) --no-print-directory release
	@Tests/Setup/test-world $(BUILD)

# A browser is opened only when it is asked for here: one that the environment happens to name is not.
demo:
	@Tests/Setup/prepare demo
	@$(MAKE) --no-print-directory release
	@OAUTHCTL_BIN=$(abspath $(BUILD))/release BROWSER='$(if $(filter command,$(origin BROWSER)),$(BROWSER))' Tests/Demo/demo

prove:
	@Tests/Setup/prepare test
	@$(MAKE) --no-print-directory release
	@OAUTHCTL_BIN=$(abspath $(BUILD))/release PROVE=full PYTHONDONTWRITEBYTECODE=1 \
	  "$$(Tests/Setup/python $(BUILD))" -m pytest -m 'prove or not prove' -s \
	  $(addprefix Tests/System/,crowd faults/test_crash.py faults/test_power_cut.py faults/test_suspend.py \
	  install/test_package.py vault)

FUZZ_SECONDS ?= 60

fuzz:
	@Tests/Setup/prepare build
	@FUZZ_BUILD=$(abspath $(BUILD))/fuzz Tests/Fuzz/run $(FUZZ_SECONDS)

# Ten thousand accounts take some minutes; BENCH_FLAGS='--only servers' or '--accounts 1000' less.
bench:
	@Tests/Setup/prepare test
	@$(MAKE) --no-print-directory release
	@"$$(Tests/Setup/python $(BUILD))" Benchmarks/bench.py $(BUILD)/release $(BENCH_FLAGS)

# SANITIZERS=address or thread alone takes half the time.
sanitize:
	@Tests/Setup/prepare test
	@Tests/Setup/sanitize $(abspath $(BUILD)) $(SANITIZERS)

# As root for somebody else nothing is built: what root builds, its owner could not build again.
install:
	@Packaging/install check
	@Tests/Setup/prepare install
	@[ -n '$(OAUTHCTL_BIN)' ] || [ -n "$$SUDO_UID" ] || $(MAKE) --no-print-directory build
	@PROGRAMS='$(PROGRAMS)' Packaging/install install

uninstall:
	@Packaging/install uninstall

deb:
	@Tests/Setup/prepare deb
	@[ -n '$(OAUTHCTL_BIN)' ] || $(MAKE) --no-print-directory release
	@PROGRAMS='$(PROGRAMS)' Packaging/deb $(BUILD)

lint:
	swift format lint --strict --parallel --recursive --configuration .swift-format $(SWIFT_FILES)
	@Tests/Setup/lint-text

format:
	swift format --in-place --parallel --recursive --configuration .swift-format $(SWIFT_FILES)

outdated:
	@Packaging/outdated

clean:
	rm -rf $(BUILD)
