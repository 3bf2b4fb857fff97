"""`oauthctl setup scheme` undoes nothing that others write into the list of default applications.

Each test is the attack: it was seen to succeed before the program was mended."""

import os
import threading

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
