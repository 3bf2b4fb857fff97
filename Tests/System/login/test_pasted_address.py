"""A login that reads addresses from its standard input: its time, and whoever ends it."""

import re
import signal
import subprocess

import pytest

from login.provider import Provider
from world.browser import Browser


def begin(home, *more, stdin=subprocess.PIPE):
    return home.start(
        home.programs / "oauthctl", "login", "work", "--no-browser", *more, stdin=stdin)


def redirect_of(command):
    """What a browser would be sent to by the address that `command` shows."""
    url = next(found.group() for line in command.stderr if (found := re.search(r"http\S+[?&]state=\S+", line)))
    return Browser("nobody", "nothing").open(url, follow_redirect=False)


@pytest.mark.parametrize("how", ["--timeout", "SIGINT", "SIGTERM"])
def test_a_login_whose_pasted_code_gets_no_answer_ends_when_it_is_told_to(home, agent, how):
    with Provider() as server:
        server.define(home, 'scope = "read"')
        held = server.hold("/token")
        command = begin(home, *(("--timeout", "3") if how == "--timeout" else ()))
        command.stdin.write(redirect_of(command) + "\n")
        command.stdin.flush()
        if how != "--timeout":
            # Its time is the server's: the code is on its way.
            while "authorization_code" not in server.kinds():
                assert command.poll() is None
            command.send_signal(getattr(signal, how))
        _, told = command.communicate(timeout=20)
        held.set()
        assert command.returncode == (4 if how == "--timeout" else 128 + getattr(signal, how)), told


@pytest.mark.parametrize("word", ["y", "http://127.0.0.1/x?state=a&code=b"])
def test_input_without_end_keeps_no_login_beyond_its_time(home, agent, word):
    with Provider() as server:
        server.define(home, 'scope = "read"')
        endless = home.start("/usr/bin/yes", word)
        command = begin(home, "--timeout", "3", stdin=endless.stdout)
        _, told = command.communicate(timeout=20)
        endless.kill()
        endless.wait()
        assert command.returncode == 4 and len(told) < 20_000, told[-500:]
