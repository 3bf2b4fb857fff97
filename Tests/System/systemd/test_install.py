"""`make install` below a prefix where no manager looks: linked, in the same sandbox, and away again."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT

INSTALL = ROOT / "Packaging/install"


class Linked:
    """An installation below `prefix`, and the line typed that `make install` ends with."""

    def __init__(self, user, programs, prefix):
        self.user, self.prefix = user, prefix
        machine = user.machine
        environment = {
            "PATH": os.environ["PATH"], "HOME": user.home, "PREFIX": self.prefix, "DESTDIR": machine.path("/"),
            "PROGRAMS": programs}
        subprocess.run([INSTALL, "install"], env=environment, check=True, capture_output=True)
        is_own = prefix.is_relative_to(user.home)
        for folder, folders, files in os.walk(machine.path(prefix)) if is_own else ():
            for name in (".", *folders, *files):
                os.chown(f"{folder}/{name}", user.uid, user.uid, follow_symlinks=False)
        units = prefix / ("share" if is_own else "lib") / "systemd/user"
        user.systemctl("link", units / "oauthd.socket", units / "oauthd.service")

    def uninstall(self, who):
        for name in ("install", "left-in-homes"):
            copy = self.user.machine.path(f"/srv/open/{name}")
            shutil.copy(INSTALL.parent / name, copy)
            copy.chmod(0o755)
        return who.run("env", f"PREFIX={self.prefix}", "/srv/open/install", "uninstall")


@pytest.fixture
def linked(user, programs):
    return Linked(user, programs, user.home / "opt")


def exposure(user):
    told = user.run("systemd-analyze", "--user", "--no-pager", "security", "oauthd.service").stdout
    return re.search(r"exposure level for oauthd.service: ([\d.]+)", told)[1]


def test_linked_units_are_in_the_sandbox_of_those_that_are_found(linked):
    other = linked.user.machine.new_user()
    try:
        assert exposure(linked.user) == exposure(other)
    finally:
        other.stop()
    status = json.loads(linked.user.run(linked.prefix / "bin/oauthctl", "status", "--json").stdout)
    assert status["started"] == "systemd" and linked.user.agent == status["pid"]
    assert linked.user.show("ExecStart").startswith("{ path=" + str(linked.prefix))


def test_uninstall_stops_and_disables_what_came_from_it(linked):
    user, oauthctl = linked.user, linked.prefix / "bin/oauthctl"
    user.systemctl("enable", "--now", "oauthd.socket")
    user.run(oauthctl, "setup", "git", "--host", "git.example", "--yes")
    user.run(oauthctl, "status")
    agent = user.agent
    assert agent > 0
    told = linked.uninstall(user)
    assert user.agent == 0 and not user.machine.path(f"/proc/{agent}").exists()
    assert not user.machine.path(user.socket).exists()
    assert user.run("find", user.home, "-xtype", "l").stdout == ""
    assert user.run("git", "config", "--global", "--list", check=False).stdout == ""
    assert not user.path("opt").exists()
    # The manager goes on with the units of the other installation, which are not enabled.
    assert user.show("FragmentPath", "oauthd.socket").startswith("/usr/local/")
    assert user.show("SubState", "oauthd.socket") == "dead"
    assert "rm -r '" in told.stdout or not user.path(".local/state/oauthctl").exists()


def test_root_takes_a_shared_installation_from_every_user(user, programs):
    shared = Linked(user, programs, Path("/srv/shared"))
    user.systemctl("enable", "--now", "oauthd.socket")
    user.run(shared.prefix / "bin/oauthctl", "status")
    assert user.agent > 0
    shared.uninstall(user.machine)
    assert user.agent == 0 and not user.machine.path(user.socket).exists()
    assert user.run("find", user.home, "-xtype", "l").stdout == ""
    assert not user.machine.path(shared.prefix).exists()
