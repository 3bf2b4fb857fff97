"""Programs that another user puts beside ours: the agent, its helpers, and what git or the desktop is told to start."""

import os
import shutil

import pytest

from network.accounts import endpoints, write_account
from support.login import wait_until
from support.others import NOBODY, as_nobody

OWN = 4_001
OURS = ("oauthctl", "oauthd", "oauthd-fetch", "oauthd-redirect")


@pytest.fixture
def folder(home, scratch):
    """One where everybody may add names, as in /tmp."""
    mode = scratch.stat().st_mode
    scratch.chmod(0o711)
    home.root.chmod(0o711)
    folder = home.root / "open"
    folder.mkdir()
    folder.chmod(0o1777)
    yield folder
    home.oauthctl("agent", "stop", check=False)
    scratch.chmod(mode)


def put(home, folder, *names):
    for name in names:
        shutil.copy(home.programs / name, folder / name)


def plant(program, mark):
    """Another user's program, and the file that tells that it ran and what it got."""
    mark.touch()
    mark.chmod(0o666)

    def write():
        program.write_text(f"#!/bin/sh\nid >> {mark}\nexec cat >> {mark}\n")
        program.chmod(0o755)

    as_nobody(write)


def log_in(home, folder):
    write_account(home, "work", **endpoints("http://127.0.0.1:9"), client_authentication="none")
    return home.run(folder / "oauthctl", "login", "work", "--password-stdin", stdin="a password\n", check=False)


@pytest.mark.parametrize("missing", ["oauthd", "oauthd-fetch"])
def test_no_program_that_another_user_has_put_beside_ours_is_started(home, folder, missing):
    put(home, folder, *(name for name in OURS if name != missing))
    mark = home.root / "ran"
    plant(folder / missing, mark)
    refused = log_in(home, folder)
    assert mark.read_text() == ""
    assert refused.status == 7 and "everybody may put a program into" in refused.stderr, refused
    assert "to a folder where only you may write" in refused.stderr, refused
    told = home.run(folder / "oauthctl", "doctor", check=False).stdout
    assert "everybody may put another program there" in told and "chmod" not in told, told


@pytest.mark.parametrize("foreign, status", [("oauthd", 7), ("oauthd-fetch", 1)])
def test_no_program_of_another_user_beside_ours_is_started(home, folder, foreign, status):
    """In a folder of ours, since root has unpacked them there with the owners of before."""
    folder.chmod(0o755)
    put(home, folder, *OURS)
    mark = home.root / "ran"
    os.chown(folder / foreign, NOBODY, NOBODY)
    (folder / foreign).write_text(f"#!/bin/sh\nid >> {mark}\nexec cat >> {mark}\n")
    refused = log_in(home, folder)
    assert not mark.exists()
    reason = f"{home.shown(folder / foreign)} belongs to another user (uid {NOBODY})"
    assert refused.status != 0 and f"belongs to another user (uid {NOBODY})" in refused.stderr, refused
    told = home.run(folder / "oauthctl", "doctor", check=False).stdout
    assert f"{reason}, and is not started" in told, told


def test_no_program_of_another_user_is_started_in_a_user_namespace(home, scratch):
    """There root and strangers have one number."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    mode = scratch.stat().st_mode
    scratch.chmod(0o711)
    home.root.chmod(0o711)
    folder = home.root / "ours"
    folder.mkdir()
    put(home, folder, *OURS)
    write_account(home, "work", **endpoints("http://127.0.0.1:9"), client_authentication="none")
    for path in [home.root, *home.root.rglob("*")]:
        os.chown(path, OWN, OWN)
    mark = home.root / "ran"
    (folder / "oauthd-fetch").write_text(f"#!/bin/sh\nid >> {mark}\nexec cat >> {mark}\n")
    os.chown(folder / "oauthd-fetch", NOBODY, NOBODY)
    us = ["setpriv", "--reuid", str(OWN), "--regid", str(OWN), "--clear-groups"]
    agent = home.start(*us, "unshare", "--user", f"--map-user={OWN}", f"--map-group={OWN}", folder / "oauthd")
    try:
        wait_until(lambda: home.socket.exists(), 20, "the agent listens")
        login = [folder / "oauthctl", "login", "work", "--password-stdin"]
        refused = home.run(*us, *login, stdin="a password\n", check=False)
        assert not mark.exists() and "belongs to another user" in refused.stderr, refused
    finally:
        agent.terminate()
        agent.communicate(timeout=60)
        scratch.chmod(mode)


def test_programs_that_all_belong_to_another_user_are_started(home, folder):
    """Whoever runs his oauthctl trusts him: in a container the programs may be those of the user outside."""
    folder.chmod(0o755)
    put(home, folder, *OURS)
    for path in [folder, *folder.iterdir()]:
        os.chown(path, NOBODY, NOBODY)
    refused = log_in(home, folder)
    assert "belongs to" not in refused.stderr and "Couldn't connect to server" in refused.stderr, refused


@pytest.mark.parametrize("words", [
    ["git", "--host", "example.com", "--yes"], ["scheme", "com.example.app", "--yes"]], ids=["git", "scheme"])
def test_nobody_is_told_to_start_a_program_from_where_everybody_may_put_one(home, folder, words):
    put(home, folder, *OURS)
    home.agent.start()
    refused = home.run(folder / "oauthctl", "setup", *words, check=False)
    assert refused.status == 1 and "everybody may put a program into" in refused.stderr, refused
    assert not any(str(folder) in path.read_text(errors="replace") for path in home.files())
    # In a folder of its own it is ours until it is removed, which a restart does in /tmp.
    inner = folder / "mine"
    inner.mkdir(mode=0o755)
    put(home, inner, *OURS)
    told = home.run(inner / "oauthctl", "setup", *words).stderr
    assert "others may put a program in its place in /tmp" in told, told
    home.agent.stop()
