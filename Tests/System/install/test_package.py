"""The Debian package: what lintian says, and a booted system that installs, upgrades, removes and purges it."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.dev_server import DevServer
from support.login import wait_until
from systemd.machine import BIN, UNIT_FOLDER, Machine, missing

PACKAGING = Path(__file__).resolve().parents[3] / "Packaging"
FILES = (
    "usr/bin/oauthctl", "usr/bin/oauthd", "usr/bin/oauthd-fetch", "usr/bin/oauthd-redirect",
    "usr/bin/git-credential-oauthctl",
    "usr/lib/systemd/user/oauthd.socket", "usr/lib/systemd/user/oauthd.service",
    "usr/share/doc/oauthctl/README.md.gz",
    "usr/share/doc/oauthctl/docs/protocol.md.gz", "usr/share/doc/oauthctl/examples/caller.py",
    "usr/share/bash-completion/completions/oauthctl", "usr/share/zsh/vendor-completions/_oauthctl",
    "usr/share/fish/vendor_completions.d/oauthctl.fish", "usr/share/man/man1/oauthctl.1.gz",
    "usr/share/man/man8/oauthd.8.gz")
# Whoever may read them could trace them for a moment.
SECRETIVE = ("usr/bin/oauthd", "usr/bin/oauthd-fetch", "usr/bin/oauthd-redirect")

# One caller after the other, until they are told that it is enough.
CALLER = """until [ -e enough ]; do oauthctl get-token work >>answers 2>>errors || echo $? >>failures; done"""


def build(programs, folder, version, **environment):
    result = subprocess.run(
        [PACKAGING / "deb", folder], capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env={
            **os.environ, "PROGRAMS": str(programs), "VERSION": version, "COMPRESSION": "gzip",
            "SOURCE_DATE_EPOCH": "1767225600", **environment})
    # oauth-dev-server's, and oauthctl's.
    return result, [Path(line) for line in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def packages(programs, tmp_path_factory):
    """Two versions."""
    needed = [tool for tool in ("dpkg-deb", "dpkg-shlibdeps", "strip") if not shutil.which(tool)]
    if needed:
        pytest.skip(f"needs {', '.join(needed)}: Tests/Setup/prepare deb")
    folder = tmp_path_factory.mktemp("packages")
    built = []
    for version in ("0.1.0~test1", "0.1.0~test2"):
        result, made = build(programs, folder, version, LINTIAN="", COMPRESSION="none")
        assert result.returncode == 0, result.stderr
        built.append(made[-1])
    return built


class Bare(Machine):
    """A machine without an installation, and two packages in /srv/packages."""

    def __init__(self, folder, programs, packages):
        self.packages = packages
        super().__init__(folder, programs)

    def lay_out(self, programs):
        super().lay_out(programs)
        root = self.folder / "root"
        shutil.rmtree(root / BIN[1:])
        shutil.rmtree(root / UNIT_FOLDER)
        (root / "srv/packages").mkdir()
        for package in self.packages:
            shutil.copy(package, root / "srv/packages")

    def new_user(self):
        """One who lingers: dpkg's scripts open a session to tell a manager, and 10 s after a user's last session logind
        ends the manager of everybody else. In life, who has a manager has a session of their own or lingers."""
        user = super().new_user()
        self.run("loginctl", "enable-linger", user.name)
        return user

    def dpkg(self, *arguments):
        # Triggers of other packages (manual pages' index) are not what is looked at.
        return self.run("dpkg", "--no-triggers", *arguments, timeout=180)

    def install(self, package):
        return self.dpkg("-i", f"/srv/packages/{package.name}")


@pytest.fixture
def bare(scratch, request, programs, packages):
    if needed := missing():
        pytest.skip(f"needs {needed}")
    folder = scratch / f"bare-{request.node.name[-20:]}"
    folder.mkdir()
    machine = Bare(folder, programs, packages)
    yield machine
    machine.stop()


@pytest.fixture
def server(home):
    """A server that asks nobody, with tokens that outlive the test."""
    started = DevServer(home, "--auto-consent", "--access-token-life", "3600")
    yield started
    started.stop()


def lines(user, name):
    file = user.path(name)
    return file.read_text().splitlines() if file.exists() else []


def contents(package):
    listing = subprocess.run(["dpkg-deb", "-c", package], capture_output=True, text=True, check=True).stdout
    return [name for name in re.findall(r"(?m) \./(\S+)(?: -> \S+)?$", listing) if not name.endswith("/")]


def test_lintian_finds_nothing(programs, tmp_path):
    if not shutil.which("lintian"):
        pytest.skip("needs lintian: Tests/Setup/prepare deb")
    result, (server, package) = build(programs, tmp_path, "0.1.0")
    assert result.returncode == 0, result.stderr
    assert not re.search(r"^[EW]: ", result.stderr, re.MULTILINE)
    fields = subprocess.run(["dpkg-deb", "-f", package], capture_output=True, text=True, check=True).stdout
    assert re.search(r"^Depends: .*libcurl4.*libsodium23.*libsqlite3-0", fields, re.MULTILINE), fields
    # The development server is for who wants it.
    assert [name for name in contents(server) if not name.startswith("usr/share/doc/")] == [
        "usr/bin/oauth-dev-server", "usr/share/man/man1/oauth-dev-server.1.gz"]
    assert not [name for name in contents(package) if "oauth-dev-server" in name]
    assert not [name for name in contents(package) if "preset" in name], "a package enables nothing"


def test_the_same_sources_give_the_same_package(programs, packages, tmp_path):
    _, (_, again) = build(programs, tmp_path, "0.1.0~test1", LINTIAN="", COMPRESSION="none")
    assert again.read_bytes() == packages[0].read_bytes()


def test_installed_upgraded_removed_and_purged(bare, packages, server):
    old, new = packages
    user, idle = bare.new_user(), bare.new_user()
    idle.systemctl("daemon-reload")

    bare.install(old)
    assert all(bare.path(file).exists() for file in FILES)
    for file in SECRETIVE:
        assert (bare.path(file).stat().st_mode & 0o7777, bare.path(file).owner()) == (0o711, "root")
    for person in (user, idle):
        assert person.systemctl("is-enabled", "oauthd.socket", check=False).stdout.strip() == "disabled"
        assert person.show("SubState", "oauthd.socket") == "dead", "each user enables it, or does not"
    user.systemctl("enable", "--now", "oauthd.socket")
    assert user.show("SubState", "oauthd.socket") == "listening"
    user.write("browser", '#!/bin/sh\nexec curl -sSL -o /dev/null "$1"\n', 0o700)
    user.run("oauthctl", "login", "work", server.issuer, "--client-id", "dev")
    token = user.run("oauthctl", "get-token", "work").stdout
    agent = user.agent
    logins = len([entry for entry in server.log() if entry.get("grant_type")])

    # Upgraded under load: the agent is another, nobody was refused, nobody logged out.
    callers = [user.start("sh", "-c", CALLER) for _ in range(4)]
    wait_until(lambda: len(lines(user, "answers")) > 20, 30, "answers")
    bare.install(new)
    seen = len(lines(user, "answers"))
    wait_until(lambda: len(lines(user, "answers")) > seen + 20, 30, "answers of the new agent")
    user.path("enough").touch()
    for caller in callers:
        caller.communicate(timeout=60)
    assert (lines(user, "failures"), lines(user, "errors")) == ([], [])
    assert set(lines(user, "answers")) == {token.strip()}
    assert user.agent not in (0, agent)
    assert idle.agent == 0, "nobody's agent is started who had none"
    status = json.loads(user.run("oauthctl", "status", "--json").stdout)
    assert status["started"] == "systemd" and status["accounts"][0]["state"] == "ok"
    assert len([entry for entry in server.log() if entry.get("grant_type")]) == logins
    doctor = user.run("oauthctl", "doctor", check=False).stdout
    assert re.search(r"^ok +units", doctor, re.MULTILINE) and re.search(r"^ok +sandbox", doctor, re.MULTILINE), doctor

    # What the administrator decided holds.
    bare.run("systemctl", "--global", "enable", "oauthd.socket")
    bare.install(old)
    assert idle.systemctl("is-enabled", "oauthd.socket").stdout.strip() == "enabled"

    # One that systemd does not know of.
    by_hand = idle.start("/usr/bin/oauthd")
    wait_until(lambda: bare.path(idle.socket).exists(), 30, "an agent started by hand")
    user.run("oauthctl", "setup", "git", "--yes")
    user.run("oauthctl", "setup", "scheme", "com.example.app", "--yes")
    told = bare.dpkg("-r", "oauthctl").stdout
    assert user.agent == 0 and not bare.path(user.socket).exists()
    assert by_hand.wait(60) == 0, "agents that systemd did not start end, too"
    assert not any(bare.path(file).exists() for file in FILES)
    bare.dpkg("-P", "oauthctl")
    # What is left in homes is told, and taken out by what is told; logins only by the last line.
    assert "git-credential-oauthctl" in user.path(".gitconfig").read_text()
    *clean, _ = [line.strip() for line in told.splitlines() if line.startswith("  ")]
    assert len(clean) == 4
    for command in clean:
        user.run("sh", "-c", command)
    assert user.run("git", "config", "--global", "--list").stdout == ""
    assert user.run("find", user.home, "-xtype", "l").stdout == ""
    assert user.run("find", user.home, "-name", "*.desktop").stdout == ""
    assert "oauthctl" not in user.path(".config/mimeapps.list").read_text()
    left = bare.run("find", "/usr", "/etc", "/var/lib", "(", "-name", "*oauthctl*", "-o", "-name", "oauthd*", ")")
    assert left.stdout == "", "nothing of it is left"
    assert user.path(".local/share/oauthctl/vault.db").exists(), "logins are the users'"

    # And back: the login is still there.
    bare.install(new)
    assert user.run("oauthctl", "get-token", "work").stdout == token
