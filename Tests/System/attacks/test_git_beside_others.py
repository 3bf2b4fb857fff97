"""`oauthctl setup git` while another program changes git's settings, and when it is ended in its middle."""

import os
import shutil
import signal
import subprocess
import threading

import pytest

from cli.git_steps import settings

HOST = "git.example"
OWN = f"""\
[user]
\tname = Alice
[credential "https://{HOST}"]
\thelper = store
\thelper =
\thelper = cache
"""


def set_up(home, *options, **more):
    return home.oauthctl("setup", "git", "--yes", "--host", HOST, *options, **more)


@pytest.fixture
def own(home, agent):
    """The user's own settings, with helpers for the host."""
    file = home.root / ".gitconfig"
    file.write_text(OWN)
    return file


@pytest.fixture
def between(home):
    """between(number, script): that script of a shell runs before git makes its change of that number, from 1 on."""
    count, fake = home.root / "changes", home.bin / "git"

    def run(number, script):
        count.write_text("")
        # Questions to git name what they want by --get-….
        fake.write_text(f"""#!/bin/sh
case "$*" in
*--get-*) ;;
*) echo >> {count}; if [ $(wc -l < {count}) = {number} ]; then {script}; fi;;
esac
exec {shutil.which("git")} "$@"
""")
        fake.chmod(0o700)
        return fake

    return run


def helpers(home):
    return [value for key, value in settings(home) if key.endswith(".helper")]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("removes", [False, True], ids=["install", "remove"])
def test_a_change_of_another_program_in_the_middle_is_kept(home, own, between, number, removes):
    if removes:
        set_up(home)
    before = settings(home)
    fake = between(number, f"{shutil.which('git')} config --file {own} other.key mine")
    told = set_up(home, *["--remove"] * removes, check=False)
    fake.unlink()
    assert told.status == 3 and "changed meanwhile; nothing is written" in told.stderr, told
    assert settings(home) == [*before, ("other.key", "mine")]
    set_up(home, *["--remove"] * removes)
    assert (len(helpers(home)) == 3) == removes and helpers(home)[:3] == ["store", "", "cache"]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("removes", [False, True], ids=["install", "remove"])
def test_it_is_killed_in_its_middle_and_nothing_is_changed(home, own, between, number, removes):
    if removes:
        set_up(home)
    before = own.read_bytes()
    fake = between(number, "kill -9 $PPID; exit")
    told = set_up(home, *["--remove"] * removes, check=False)
    fake.unlink()
    assert told.status == -signal.SIGKILL and own.read_bytes() == before, told
    set_up(home)
    set_up(home, "--remove")
    assert sorted(helpers(home)) == ["", "cache", "store"]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_what_git_refuses_leaves_all_as_it_was(home, own, between, number):
    between(number, "echo 'error: no space' >&2; exit 255")
    told = set_up(home, check=False)
    assert told.status == 1 and "git refused: " in told.stderr and "(error: no space)" in told.stderr, told
    assert own.read_text() == OWN and [path.name for path in home.root.glob(".gitconfig*")] == [".gitconfig"]


def test_two_at_once_set_it_up_once(home, own):
    set_up(home)
    expected = settings(home)
    for _ in range(5):
        own.write_text(OWN)
        both = [home.start(home.programs / "oauthctl", "setup", "git", "--yes", "--host", HOST) for _ in range(2)]
        told = [(process.communicate(timeout=60)[1], process.returncode) for process in both]
        assert settings(home) == expected and 0 in [status for _, status in told], told
        assert all(status == 0 or "changed meanwhile" in text for text, status in told), told


def test_a_lock_of_git_is_waited_for_and_never_taken_from_its_holder(home, own):
    lock = home.root / ".gitconfig.lock"
    lock.touch()
    told = set_up(home, check=False)
    assert told.status == 1 and "holds ~/.gitconfig.lock; nothing is written" in told.stderr, told
    assert own.read_text() == OWN and lock.exists()
    ends = threading.Timer(0.5, lock.unlink)
    ends.start()
    set_up(home)
    ends.join()
    assert len(helpers(home)) == 5


def test_settings_behind_a_link_are_changed_where_they_are(home, own):
    place = home.root / "dotfiles" / "gitconfig"
    place.parent.mkdir()
    own.rename(place)
    place.chmod(0o640)
    own.symlink_to(place)
    before = settings(home)
    set_up(home)
    assert own.is_symlink() and len(helpers(home)) == 5 and place.stat().st_mode & 0o777 == 0o640
    set_up(home, "--remove")
    assert own.is_symlink() and sorted(settings(home)) == sorted(before)


def test_an_empty_name_of_git_s_settings_is_no_file(home, own):
    told = set_up(home, check=False, environment={"GIT_CONFIG_GLOBAL": ""})
    assert told.status == 3 and "git has no global configuration; nothing is written" in told.stderr, told
    assert own.read_text() == OWN


@pytest.mark.parametrize("target", [b"d\xff", b"gone"], ids=["no text", "nowhere"])
def test_a_link_that_cannot_be_followed_stays(home, own, target):
    place = os.fsencode(home.root) + b"/" + target
    os.rename(own, place if target != b"gone" else home.root / "elsewhere")
    os.symlink(place, own)
    told = set_up(home, check=False)
    assert told.status == 3 and "nothing is written" in told.stderr, told
    assert own.is_symlink() and (target == b"gone" or open(place).read() == OWN)


@pytest.mark.parametrize("variable", ["GIT_CONFIG_GLOBAL", "HOME", "XDG_CONFIG_HOME"])
@pytest.mark.parametrize("removes", [False, True], ids=["install", "remove"])
def test_settings_that_git_looks_for_in_another_folder_are_not_changed(home, agent, variable, removes):
    """In a worktree git opens a relative name from the top of that."""
    top = home.root / "repository"
    home.run("git", "init", "--quiet", top)
    names = {"GIT_CONFIG_GLOBAL": "x", "HOME": "x/.gitconfig", "XDG_CONFIG_HOME": "x/git/config"}
    files = [folder / names[variable] for folder in (top, top / "below")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(OWN)
    told = subprocess.run(
        [home.programs / "oauthctl", "setup", "git", "--yes", "--host", HOST, *["--remove"] * removes],
        cwd=top / "below", env={**home.environment, variable: "x"}, capture_output=True, text=True, timeout=60)
    assert told.returncode == 3 and "not absolute" in told.stderr, told
    assert [file.read_text() for file in files] == [OWN, OWN]


@pytest.mark.parametrize("is_link", [False, True], ids=["other", "link"])
def test_one_file_under_two_names_is_changed_once(home, own, is_link):
    other = home.config / "git" / "config"
    other.parent.mkdir()
    if is_link:
        other.symlink_to(own)
    else:
        own.rename(other)
        own.symlink_to(other)
    before = settings(home)
    set_up(home)
    assert len(helpers(home)) == 5
    told = set_up(home, "--remove").stderr
    assert told.count(f"--unset-all credential.https://{HOST}.helper\n") == 1, told
    assert sorted(settings(home)) == sorted(before)


def test_a_second_file_that_is_locked_is_told_beside_the_first(home, own):
    set_up(home)
    other = home.config / "git" / "config"
    other.parent.mkdir()
    other.write_text(own.read_text())
    before = own.read_text()
    other.with_name("config.lock").touch()
    told = set_up(home, "--remove", check=False)
    first, second = (own, other) if own.read_text() != before else (other, own)
    assert told.status == 1 and f"{home.shown(first)} is changed; " in told.stderr, told
    assert second.read_text() == before
    other.with_name("config.lock").unlink()
    set_up(home, "--remove")
    assert "oauthctl" not in own.read_text() + other.read_text()
