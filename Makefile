# Every target does its own set-up; README says what must be there before (git, make, Swift 6.2 or newer).

BUILD ?= .build

# Programs are self-contained but for the system's own libraries; oauthctl is static as a whole (Package.swift).
RELEASE_FLAGS = -c release --static-swift-stdlib

SWIFT_FILES = Package.swift Sources Tests

# The programs that are installed: the built ones, unless a folder is named.
PROGRAMS = $(or $(OAUTHCTL_BIN),$(abspath $(BUILD))/release)

.PHONY: help build release test demo install uninstall lint format clean

help:
	@echo 'make build    the programs, in $(BUILD)/release'
	@echo 'make test     every test, the programs against real servers too'
	@echo 'make demo     the story of a token, told by the programs themselves'
	@echo 'make install [PREFIX=~/.local]    programs, units, completions, manual pages;  make uninstall  takes them away'
	@echo 'make lint     the style of all files;  make format  mends what can be mended'
	@echo 'make clean    remove $(BUILD)'

build:
	@Tests/Setup/prepare build
	@$(MAKE) --no-print-directory release

# What `build` does once everything it needs is there.
release:
	swift build --scratch-path $(BUILD) $(RELEASE_FLAGS)

test:
	@Tests/Setup/prepare test
	@Tests/Setup/run-tests $(BUILD)

# A browser is opened only when it is asked for here: one that the environment happens to name is not.
demo:
	@Tests/Setup/prepare demo
	@$(MAKE) --no-print-directory release
	@OAUTHCTL_BIN=$(abspath $(BUILD))/release BROWSER='$(if $(filter command,$(origin BROWSER)),$(BROWSER))' Tests/Demo/demo

# As root for somebody else nothing is built: what root builds, its owner could not build again.
install:
	@Tests/Setup/prepare install
	@[ -n '$(OAUTHCTL_BIN)' ] || [ -n "$$SUDO_UID" ] || $(MAKE) --no-print-directory build
	@PROGRAMS='$(PROGRAMS)' Tests/Setup/install install

uninstall:
	@Tests/Setup/install uninstall

lint:
	swift format lint --strict --parallel --recursive --configuration .swift-format $(SWIFT_FILES)
	@Tests/Setup/lint-text

format:
	swift format --in-place --parallel --recursive --configuration .swift-format $(SWIFT_FILES)

clean:
	rm -rf $(BUILD)
