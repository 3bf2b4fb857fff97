"""What `make test-world` runs: `prepare-world` on pretended systems, and when `test-world` writes its table."""

import os
import shutil
import subprocess

import pytest

from network.namespaces import isolated, needs_root, replace
from support.pretended import SETUP, System

ALL = {
    "git-lfs", "apache2", "libapache2-mod-oauth2", "glewlwyd", "dbconfig-no-thanks", "chromium", "chromium-driver",
    "openssl"}


@pytest.fixture
def system(tmp_path):
    system = System(tmp_path, ALL)
    system.program("debconf-set-selections", f'echo "answered: $(cat)" >>{system.log}')
    system.program("systemctl", f'echo "systemctl $*" >>{system.log}')
    return system


def prepare(system, sbin=None):
    """prepare-world where /usr/sbin is the folder `sbin`."""

    def run():
        if sbin:
            replace("/usr/sbin", sbin)
        return system.run("prepare-world")

    return isolated(run) if sbin else run()


@pytest.fixture
def sbin(tmp_path):
    folder = tmp_path / "sbin"
    folder.mkdir()
    return folder


def test_nothing_missing_means_no_root_no_apt_and_no_word(system):
    system.program("id", "echo 1000")
    result = prepare(system)
    assert (result.returncode, result.stdout, result.stderr, system.calls) == (0, "", "", [])


def test_without_root_the_line_is_printed(system):
    system.without("glewlwyd", "chromium")
    system.program("id", "echo 1000")
    result = prepare(system)
    assert result.returncode == 69 and system.calls == []
    assert "apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends glewlwyd chromium\n" in result.stderr


def test_another_system_is_told_what_it_needs(system):
    (system.bin / "apt-get").unlink()
    result = prepare(system)
    assert result.returncode == 69 and all(package in result.stderr for package in ALL)


@needs_root
def test_what_is_installed_starts_no_service_now_or_at_the_next_boot(system, sbin):
    """Debian asks policy-rc.d, whose 101 forbids; afterwards it is gone. Glewlwyd, there before, stays as it was."""
    system.without("apache2")
    system.program("apt-get", f'/usr/sbin/policy-rc.d; echo "policy $?, $*" >>{system.log}')
    result = prepare(system, sbin)
    line = "-o DPkg::Lock::Timeout=600 install -y --no-install-recommends apache2"
    assert result.returncode == 0 and f"apt-get {line}\n" in result.stderr, result
    assert system.calls == [
        "answered: glewlwyd glewlwyd/config_type select No configuration", f"policy 101, {line}",
        "systemctl --quiet disable apache2 apache-htcacheclean"]
    assert list(sbin.iterdir()) == []


@needs_root
def test_a_policy_of_the_machine_s_own_is_left_alone(system, sbin):
    system.without("apache2")
    policy = sbin / "policy-rc.d"
    policy.write_text("the administrator's\n")
    assert prepare(system, sbin).returncode == 0 and policy.read_text() == "the administrator's\n"


@needs_root
def test_what_cannot_be_installed_is_told_and_leaves_no_policy(system, sbin):
    """Lists are updated once; then it is over."""
    system.without("apache2")
    system.program("apt-get", f'echo "$3" >>{system.log}; [ "$3" = update ]')
    result = prepare(system, sbin)
    assert result.returncode == 69 and "could not install" in result.stderr
    assert system.calls[1:] == ["install", "update", "install"] and list(sbin.iterdir()) == []


# --- The table -------------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path):
    """A copy of what test-world needs, with tests that end as the file `status` says and write `new` as the table."""
    setup = tmp_path / "tree" / "Tests" / "Setup"
    setup.mkdir(parents=True)
    for name in ("test-world", "private"):
        shutil.copy(SETUP / name, setup / name)
    (tmp_path / "tree" / "docs").mkdir()
    (tmp_path / "tree" / "docs" / "interop.md").write_text("old\n")
    tests = tmp_path / "tests"
    tests.write_text(
        "#!/bin/sh\n"
        f"echo \"$OAUTHCTL_BIN $*\" >{tmp_path}/called\n"
        "for word; do case $word in --table=*) echo new >\"${word#--table=}\" ;; esac; done\n"
        f"exit $(cat {tmp_path}/status)\n")
    tests.chmod(0o755)
    python = setup / "python"
    python.write_text(f"#!/bin/sh\necho \"$*\" >{tmp_path}/environment\necho {tests}\n")
    python.chmod(0o755)
    return tmp_path / "tree"


@pytest.mark.parametrize(
    ("status", "arguments", "table"), [(0, [], "new\n"), (1, [], "old\n"), (0, ["-k", "apache"], "old\n")],
    ids=["all passed", "one failed", "a part"])
def test_the_table_is_written_when_all_tests_have_passed(tree, status, arguments, table):
    (tree.parent / "status").write_text(str(status))
    environment = {name: value for name, value in os.environ.items() if name != "OAUTHCTL_BIN"}
    result = subprocess.run(
        [tree / "Tests" / "Setup" / "test-world", ".build", *arguments], env=environment, capture_output=True,
        text=True)
    assert result.returncode == status, result
    assert (tree / "docs" / "interop.md").read_text() == table
    tests, requirements = tree / "Tests" / "System" / "interop", "Tests/System/interop/requirements.txt"
    assert (tree.parent / "environment").read_text() == f"{tree}/.build world {tree}/{requirements}\n"
    programs, *words = (tree.parent / "called").read_text().split()
    assert programs == f"{tree}/.build/release" and words[:3] == ["-m", "pytest", str(tests)]
    assert words[-len(arguments):] == arguments if arguments else words[-1].startswith("--table=")
