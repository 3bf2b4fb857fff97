"""`Tests/Setup/prepare` against pretended systems: what it asks for, and when it leaves everybody in peace."""

import os
import shutil
import subprocess

import pytest

from support.pretended import SETUP, System

ALL = {
    "pkg-config", "libsodium-dev", "libsqlite3-dev", "libcurl4-openssl-dev", "libssl-dev",
    "libtomlplusplus-dev", "binutils", "curl", "man-db", "dbus", "dpkg-dev", "iproute2", "libpam-systemd", "lintian",
    "procps", "python3", "strace"}


@pytest.fixture
def system(tmp_path):
    return System(tmp_path, ALL)


@pytest.mark.parametrize("what", ["build", "test", "demo"])
def test_nothing_missing_means_no_apt_and_no_word(system, what):
    result = system.run("prepare", what)
    assert (result.returncode, result.stdout, result.stderr, system.calls) == (0, "", "", [])


def test_root_installs_what_is_missing_with_the_line_it_shows(system):
    system.without("libsodium-dev", "binutils")
    result = system.run("prepare", "test")
    assert result.returncode == 0
    [call] = system.calls
    options = "-o DPkg::Lock::Timeout=300 install -y --no-install-recommends libsodium-dev binutils"
    assert call == f"apt-get noninteractive {options}" and options in result.stderr


def test_a_build_does_not_ask_for_what_only_tests_need(system):
    system.without("binutils")
    assert system.run("prepare", "build").returncode == 0 and system.calls == []


def test_lists_are_updated_only_when_installing_fails(system):
    system.without("curl")
    system.program("apt-get", f'echo "$3" >>{system.log}; [ "$3" = update ] || [ -e {system.root}/lists ]')
    assert system.run("prepare", "test").returncode == 69
    assert system.calls == ["install", "update", "install"]


def test_an_ordinary_user_goes_through_sudo_without_a_question(system):
    system.without("curl")
    system.program("id", "echo 1000")
    system.program("sudo", f'echo "sudo $*" >>{system.log}; shift; exec "$@"')
    (system.bin / "true").symlink_to(shutil.which("true"))
    assert system.run("prepare", "test").returncode == 0
    question, sudo, apt = system.calls
    assert question == "sudo -n true" and sudo.startswith("sudo -n env DEBIAN_FRONTEND=noninteractive apt-get")
    assert apt.startswith("apt-get noninteractive")


@pytest.mark.parametrize("sudo", ["absent", "asks for a password"])
def test_without_root_and_terminal_the_line_is_printed(system, sudo):
    system.without("curl")
    system.program("id", "echo 1000")
    if sudo != "absent":
        system.program("sudo", "exit 1")
    result = system.run("prepare", "test")
    assert result.returncode == 69 and system.calls == []
    assert "apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends curl" in result.stderr


@pytest.mark.parametrize(
    ("version", "status"),
    [("6.2", 0), ("6.3.1", 0), ("6.10", 0), ("7.0", 0), ("10.0", 0), ("6.1.2", 69), ("5.10", 69), ("", 69)])
def test_the_version_of_swift_is_checked(system, version, status):
    system.program("swift", f'echo "Swift version {version} (swift-{version}-RELEASE)"')
    result = system.run("prepare", "test")
    assert result.returncode == status
    assert ("Swift 6.2 or newer is needed" in result.stderr) == (status != 0)


@pytest.mark.parametrize("tool", ["git", "make", "swift"])
def test_a_missing_tool_is_named(system, tool):
    (system.bin / tool).unlink()
    result = system.run("prepare", "test")
    assert result.returncode == 69 and result.stderr.startswith(("git", "make", "Swift")) and "PATH" in result.stderr


def test_programs_that_are_built_already_are_packed_without_a_compiler(system):
    (system.bin / "swift").unlink()
    assert system.run("prepare", "deb").returncode == 69
    assert system.run("prepare", "deb", OAUTHCTL_BIN="/built").returncode == 0


@pytest.mark.parametrize("found", [True, False])
def test_another_system_is_told_what_it_needs(system, found):
    (system.bin / "dpkg-query").unlink()
    system.program("pkg-config", f"exit {int(not found)}")
    result = system.run("prepare", "test")
    assert result.returncode == (0 if found else 69) and "libsodium-dev" in result.stderr


def test_an_unknown_purpose_is_a_usage_error(system):
    assert system.run("prepare", "everything").returncode == 64


def test_the_system_under_the_tests_is_ready():
    """The real thing: whoever runs these tests has run it before, so it finds nothing to do."""
    result = subprocess.run([SETUP / "prepare", "test"], env=os.environ, capture_output=True, text=True)
    assert result.returncode == 0 and "Installing" not in result.stderr
