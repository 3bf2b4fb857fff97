"""`oauthctl setup scheme` undoes nothing that others write into the list of default applications.

Each test is the attack: it was seen to succeed before the program was mended."""

import fcntl
import os
import threading

import pytest

from faults.strace import strace
from support.login import wait_until
from support.terminal import run_at_terminal


def test_several_schemes_that_are_set_up_at_once_are_all_there(home):
    for turn in range(5):
        schemes = [f"com.example.a{turn}{letter}" for letter in "xyz"]
        commands = [home.start(home.programs / "oauthctl", "setup", "scheme", scheme, "--yes") for scheme in schemes]
        for command in commands:
            command.communicate(timeout=60)
        listed = (home.config / "mimeapps.list").read_text()
        assert [command.returncode for command in commands] == [0, 0, 0]
        assert [scheme for scheme in schemes if scheme not in listed] == []


def test_what_another_program_writes_after_the_yes_stays(home):
    """It writes as soon as our entry is being written. Where a busy machine has it write after that: once more."""
    listing, folder = home.config / "mimeapps.list", home.data / "applications"
    folder.mkdir()
    for turn in range(5):
        scheme = f"com.example.b{turn}"
        listing.write_text("[Default Applications]\ntext/html=mine.desktop\n")
        before, ends = set(os.listdir(folder)), threading.Event()

        def write():
            while set(os.listdir(folder)) == before and not ends.is_set():
                pass
            listing.write_text("[Default Applications]\ntext/html=other.desktop\nimage/png=viewer.desktop\n")

        other = threading.Thread(target=write)

        def answer():
            other.start()
            return "y\n"

        try:
            ended, shown = run_at_terminal(
                home, home.programs / "oauthctl", "setup", "scheme", scheme, answers={"[y/N]": answer})
        finally:
            ends.set()
            other.join()
        now = listing.read_text()
        assert ended == 0 and "viewer.desktop" in now and "other.desktop" in now, (shown, now)
        if scheme in now:
            return
    raise AssertionError(f"our own entry is never there: {now}")


@pytest.mark.parametrize("call", ["openat", "read"])
@pytest.mark.parametrize("error", ["EINTR", "ESTALE", "EIO", "EMFILE"])
def test_a_list_that_cannot_be_read_once_is_not_taken_for_an_empty_one(home, call, error):
    """As on a network, or out of descriptors: the user's own lines were gone, and "Done" was said."""
    listing = home.config / "mimeapps.list"
    before = "[Default Applications]\ntext/html=mine.desktop\n"
    for number in range(1, 25):
        listing.write_text(before)
        _, command = strace(
            home, "-P", listing, "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={number}")
        scheme = f"com.example.{call}{number}"
        ended = home.run(*command, home.programs / "oauthctl", "setup", "scheme", scheme, "--yes", check=False)
        now = listing.read_text()
        assert "text/html=mine.desktop" in now, (number, ended, now)
        assert (f"oauthctl-{scheme}.desktop" in now) == (ended.status == 0), (number, ended, now)


@pytest.mark.parametrize("other", [
    b"[Default Applications]\r\ntext/html=mine.desktop\r\n", b"[Default Applications]\ntext/html=m\xfcller.desktop\n",
    b"[Default Applications]\ntext/html=mine.desktop\n#" + bytes(2 << 20)], ids=["CRLF", "latin 1", "2 MiB"])
def test_what_could_not_be_written_back_is_not_written_over_where_it_comes_after_the_yes(home, other):
    listing, entry = home.config / "mimeapps.list", home.data / "applications/oauthctl-com.example.late.desktop"
    listing.write_text("[Default Applications]\ntext/html=mine.desktop\n")
    folder = os.open(home.config, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    command = home.start(home.programs / "oauthctl", "setup", "scheme", "com.example.late", "--yes")
    # From then on it waits for the folder's lock, a second at most.
    wait_until(entry.exists, 20, "our entry")
    listing.write_bytes(other)
    os.close(folder)
    told = command.communicate(timeout=60)[1]
    assert listing.read_bytes() == other and command.returncode != 0 and not entry.exists(), told
