"""The process that parses what a browser says: what it has, when it ends, and what a login does without it."""

import os
import re
import shutil
import signal
import socket
import stat
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from support import processes
from support.dev_server import DevServer
from support.login import get_token, wait_until

NAME = "oauthd-redirect"


def helpers(home):
    return processes.children(of=home.agent.process.pid, named=NAME)


def is_there(pid):
    """Whether it runs. One whose agent has gone is the tests' own to bury."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def server(home, agent):
    started = DevServer(home, "--auto-consent", "--access-token-life", "3600")
    yield started
    started.stop()


@pytest.fixture
def login(home, server):
    """A login that waits for its browser; `url` is what the terminal shows."""
    command = home.start(
        home.programs / "oauthctl", "login", "work", server.issuer, "--client-id", "dev", "--scope", "read",
        "--no-browser", stdin=-1)
    said = []
    command.url = next(
        (found.group() for line in command.stderr
         if not said.append(line) and (found := re.search(r"http\S+[?&]state=\S+", line))), None)
    assert command.url, said
    yield command
    if command.poll() is None:
        command.kill()
    command.communicate()


def finish(home, login):
    _, stderr = login.communicate(timeout=60)
    assert login.returncode == 0, stderr
    assert get_token(home)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


def answer_of(url):
    """Where the server sends the browser with the code."""
    with pytest.raises(urllib.error.HTTPError) as redirect:
        urllib.request.build_opener(NoRedirect).open(url, timeout=20)
    return redirect.value.headers["Location"]


def test_the_helper_of_a_login_is_restricted_and_knows_nothing_else(home, login):
    (helper,) = helpers(home)
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{helper}/status").read_text().splitlines())
    assert (status["NoNewPrivs"], status["Seccomp"], status["Threads"]) == ("1", "2", "1")
    assert re.search(r"Max core file size +0 +0", Path(f"/proc/{helper}/limits").read_text())
    assert Path(f"/proc/{helper}/cmdline").read_bytes() == os.fsencode(home.programs / NAME) + b"\0"
    if Path("/proc/self/status").stat().st_uid != 0:
        assert Path(f"/proc/{helper}/status").stat().st_uid == 0, "undumpable"
        return
    assert Path(f"/proc/{helper}/environ").read_bytes() == b""
    assert os.readlink(f"/proc/{helper}/cwd") == "/"
    folder = f"/proc/{helper}/fd"
    open_files = [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)
                  if not stat.S_ISSOCK(os.stat(f"{folder}/{name}").st_mode)]
    assert {name for name in open_files if not name.startswith("anon_inode:")} == {"/dev/null"}
    assert len(os.listdir(folder)) - len(open_files) == 2, "the agent's end, and the socket that listens"


def test_the_helper_ends_with_its_login(home, login):
    (helper,) = helpers(home)
    assert urllib.request.urlopen(login.url, timeout=20).status == 200
    finish(home, login)
    wait_until(lambda: not is_there(helper), 20, "the helper has ended")
    # One that has ended is listed until the agent has heard of it.
    wait_until(lambda: not helpers(home), 20, "none to be left")


def test_the_helper_ends_with_a_login_that_is_given_up(home, login):
    (helper,) = helpers(home)
    login.send_signal(signal.SIGINT)
    login.communicate(timeout=60)
    wait_until(lambda: not is_there(helper), 20, "the helper has ended")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_helper_ends_with_the_agent(home, login, how):
    (helper,) = helpers(home)
    home.agent.process.send_signal(how)
    wait_until(lambda: not is_there(helper), 70, "the helper has ended")


def test_a_login_outlives_its_helper_once(home, agent, login):
    (first,) = helpers(home)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: helpers(home) not in (set(), {first}), 20, "another helper")
    assert "ended, and is started again" in agent.log.read_text()
    assert urllib.request.urlopen(login.url, timeout=20).status == 200
    finish(home, login)


def test_without_its_helper_a_login_is_ended_by_a_paste(home, agent, login):
    (first,) = helpers(home)
    os.kill(first, signal.SIGKILL)
    (second,) = wait_until(lambda: helpers(home) - {first}, 20, "another helper")
    os.kill(second, signal.SIGKILL)
    wait_until(lambda: "no browser is served any more" in agent.log.read_text(), 20, "the log tells it")
    address = answer_of(login.url)
    # Nobody else gets the port: his page could show an address with a code of his own.
    with socket.socket() as other, pytest.raises(OSError):
        other.bind(("127.0.0.1", int(address.split(":")[2].split("/")[0])))
    with pytest.raises(OSError):
        urllib.request.urlopen(address, timeout=1)
    login.stdin.write(address + "\n")
    finish(home, login)


@pytest.mark.parametrize("name", [NAME, "oauthd-fetch"])
@pytest.mark.parametrize("word", ["--help", "-h", "--version", "--nonsense"])
def test_who_starts_a_helper_by_hand_is_told_whose_it_is(home, name, word):
    result = home.run(home.programs / name, word, check=False)
    said = f"{name} is started by oauthd, whose version it has; it is of no use by itself.\n"
    told = (result.status, result.stdout, result.stderr)
    assert told == ((64, "", said) if word == "--nonsense" else (0, said, ""))


def test_a_helper_that_is_not_installed_is_named_with_what_to_do(home, server):
    home.agent.stop()
    programs = home.root / "programs"
    programs.mkdir()
    for name in ("oauthctl", "oauthd", "oauthd-fetch"):
        shutil.copy(home.programs / name, programs)
    home.programs = programs
    home.agent.start()
    try:
        told = home.oauthctl(
            "login", "work", server.issuer, "--client-id", "dev", "--scope", "read", "--no-browser", check=False)
        assert told.status != 0
        assert f"{home.shown(programs)}/{NAME} could not be started" in told.stderr and "oauthctl doctor" in told.stderr
        assert f"{NAME} should be beside oauthctl" in home.oauthctl("doctor", check=False).stdout
    finally:
        home.agent.stop()
