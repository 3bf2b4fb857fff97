"""`oauthctl status --watch`: what changes shows itself, at a terminal and in a pipe."""

import json
import queue
import re
import select
import socket
import threading
import time
from pathlib import Path

import pytest

from support.login import wait_until
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

        next_line.pid = process.pid
        return next_line

    yield start
    for process in started:
        process.terminate()
        process.communicate()


def sleeps(pid):
    """How often the process has gone to sleep."""
    return int(re.search(r"(?m)^voluntary_ctxt_switches:\t(\d+)$", Path(f"/proc/{pid}/status").read_text())[1])


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
    # It is not the watch that starts it again: it looks, and sleeps, and looks.
    began = sleeps(next_line.pid)
    wait_until(lambda: sleeps(next_line.pid) >= began + 3, 30, "two more looks")
    assert not home.socket.exists()
    agent.start()
    assert f"pid {agent.process.pid}" in next_line()


def test_a_file_that_is_edited_is_seen_without_a_word_to_the_agent(home, agent, watch):
    home.oauthctl("status")
    next_line = watch()
    next_line()
    folder = home.config / "oauthctl" / "accounts.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "work.toml").write_text('issuer = "http://127.0.0.1:1"\nclient_id = "c"\n')
    assert next_line().split(" ", 1)[1].startswith("work new")
    (folder / "work.toml").write_text("issuer = 7\n")
    assert next_line().split(" ", 1)[1].startswith("work file invalid: ")
    (folder / "work.toml").unlink()
    assert next_line().split(" ", 1)[1] == "work forgotten"


def test_an_agent_that_tells_is_not_asked_again_and_again(home, watch):
    """A pretended agent counts: one look before it is subscribed to, one after it, one for each event."""
    asked = queue.Queue()
    home.socket.parent.mkdir(mode=0o700, parents=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(home.socket))
    listener.listen()
    answer = {
        "agent.status": {
            "pid": 1, "agent_version": "0", "started": "by_hand", "started_at": 0, "degraded": [], "problems": [],
            "vault": {"state": "open", "slots": [], "path": "/v"}, "counts": {}, "accounts": []},
        "events.subscribe": {}}
    subscribed = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            request = json.loads(connection.makefile().readline())
            asked.put(request["method"])
            line = {"jsonrpc": "2.0", "id": request["id"], "result": answer[request["method"]]}
            connection.sendall(json.dumps(line).encode() + b"\n")
            subscribed.append(connection) if request["method"] == "events.subscribe" else connection.close()

    threading.Thread(target=serve, daemon=True).start()
    watch()
    methods = [asked.get(timeout=20) for _ in range(3)]
    assert methods == ["agent.status", "events.subscribe", "agent.status"]
    for _ in range(3):
        with pytest.raises(queue.Empty):
            asked.get(timeout=1.2)
        subscribed[0].sendall(b'{"jsonrpc":"2.0","method":"events.lost","params":{"count":1}}\n')
        assert asked.get(timeout=20) == "agent.status"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def test_json_is_a_line_for_each_change(home, agent, watch):
    next_line = watch("--json")
    assert json.loads(next_line())["accounts"] == []
    define(home, 'issuer = "http://127.0.0.1:1"', 'client_id = "c"')
    assert [account["account"] for account in json.loads(next_line())["accounts"]] == ["work"]
    agent.stop()
    failure = json.loads(next_line())["error"]
    assert failure["exit"] == 7 and "cannot be reached" in failure["message"]


def test_at_a_terminal_the_page_is_drawn_anew(home, agent):
    command = (home.programs / "oauthctl", "status", "--watch")
    frame = "\x1b[Hno account yet"
    _, shown = run_at_terminal(home, *command, until="\x1b[J\x1b[H", environment={"TERM": "xterm"})
    assert shown.startswith("\x1b[2J" + frame) and f"agent    pid {agent.process.pid}, started by hand" in shown
    _, plain = run_at_terminal(home, *command, until="agent ")
    assert "\x1b" not in plain, "TERM=dumb cannot"


def to_unix(moment):
    return time.mktime(time.strptime(moment, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
