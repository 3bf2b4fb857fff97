"""`oauthctl status --watch`: what changes shows itself, at a terminal and in a pipe."""

import json
import select
import time

import pytest

from support.terminal import run_at_terminal


@pytest.fixture
def watch(home):
    """watch(*options) -> a function that waits for the next line."""
    started = []

    def start(*options):
        process = home.start(home.programs / "oauthctl", "status", "--watch", *options)
        started.append(process)

        def next_line(seconds=20):
            assert select.select([process.stdout], [], [], seconds)[0], f"no line within {seconds} s"
            return process.stdout.readline().rstrip("\n")

        return next_line

    yield start
    for process in started:
        process.terminate()
        process.communicate()


def define(home, *lines):
    file = home.config / "oauthctl" / "accounts.d" / "work.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(line + "\n" for line in lines))
    return home.oauthctl("reload", check=False)


def test_in_a_pipe_every_change_is_a_line(home, agent, watch):
    next_line = watch()
    assert next_line().split(" ", 1)[1].startswith(f"agent    pid {agent.process.pid}, started by hand")
    define(home, 'issuer = "http://127.0.0.1:1"', 'client_id = "c"')
    moment, words = next_line().split(" ", 1)
    assert words.startswith("work new") and abs(time.time() - to_unix(moment)) < 30
    agent.stop()
    assert "the agent cannot be reached" in next_line()
    # It is not the watch that starts it again.
    time.sleep(1.5)
    assert not home.socket.exists()
    agent.start()
    assert f"pid {agent.process.pid}" in next_line()


def test_json_is_a_line_for_each_change(home, agent, watch):
    next_line = watch("--json")
    assert json.loads(next_line())["accounts"] == []
    define(home, 'issuer = "http://127.0.0.1:1"', 'client_id = "c"')
    assert [account["account"] for account in json.loads(next_line())["accounts"]] == ["work"]


def test_at_a_terminal_the_page_is_drawn_anew(home, agent):
    command = (home.programs / "oauthctl", "status", "--watch")
    frame = "\x1b[H" + f"agent    pid {agent.process.pid}, started by hand"
    _, shown = run_at_terminal(home, *command, until="\x1b[J\x1b[H", environment={"TERM": "xterm"})
    assert shown.startswith("\x1b[2J" + frame)
    _, plain = run_at_terminal(home, *command, until="agent ")
    assert "\x1b" not in plain, "TERM=dumb cannot"


def to_unix(moment):
    return time.mktime(time.strptime(moment, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
