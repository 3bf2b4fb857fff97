"""`oauthctl agent`: the agent as a process that can be looked at, ended and restarted; and what --verbose tells."""

import json
import os
import re
import shlex
import signal
import socket

import pytest

from support import processes
from support.accounts import account_file, define
from support.dev_server import consenting
from support.home import accepts
from support.login import wait_until


def start(home):
    """An agent by need; its process id."""
    return json.loads(home.oauthctl("status", "--json").stdout)["pid"]


def is_running(pid):
    """An agent that ended is a child of ours that nobody waited for."""
    return os.waitpid(pid, os.WNOHANG)[0] != pid


def report(home, *words):
    return json.loads(home.oauthctl("agent", *words, "--json").stdout)


def test_status_starts_nothing_and_says_so(home):
    result = home.oauthctl("agent", "status", check=False)
    assert (result.status, result.stdout) == (7, "")
    assert result.stderr == "oauthctl: no agent runs; the next command that needs one starts it\n"
    assert not home.socket.exists()
    failure = home.oauthctl("agent", "status", "--json", check=False)
    assert json.loads(failure.stdout)["error"]["exit"] == 7


def test_status_of_no_agent_needs_no_step_where_units_are_installed(home):
    unit = home.config / "systemd" / "user" / "oauthd.socket"
    unit.parent.mkdir(parents=True)
    unit.touch()
    (home.runtime / "systemd").mkdir()
    with socket.socket(socket.AF_UNIX) as manager:
        manager.bind(str(home.runtime / "systemd" / "private"))
        result = home.oauthctl("agent", "status", check=False)
    assert result.status == 7 and "the next command that needs one starts it\n" in result.stderr
    assert "run:" not in result.stderr


def test_status_tells_process_files_and_log(home):
    pid = start(home)
    found = report(home, "status")
    assert (found["pid"], found["started"], found["socket"]) == (pid, "on_demand", str(home.socket))
    assert found["log"] == str(home.state / "oauthctl" / "oauthd.log") and found["accounts"] == 0
    assert found["folders"] == {
        "configuration": str(home.config / "oauthctl"), "data": str(home.data / "oauthctl"),
        "state": str(home.state / "oauthctl")}
    lines = home.oauthctl("agent", "status").lines
    assert lines[0] == f"agent          pid {pid}, version {found['agent_version']}, started on demand"


def test_status_waits_for_no_pipe_that_the_time_zone_names(home):
    start(home)
    zone = home.root / "zone"
    os.mkfifo(zone)
    for variables in ({"TZ": f":{zone}"}, {"TZ": str(zone)}, {"TZ": "zone", "TZDIR": str(home.root)}):
        home.oauthctl("agent", "status", environment=variables)


@pytest.mark.parametrize("is_by_hand", [False, True], ids=["started by need", "started by hand"])
def test_stop_waits_for_the_end(home, is_by_hand):
    pid = home.agent.start().process.pid if is_by_hand else start(home)
    assert home.oauthctl("agent", "stop").stderr.startswith(f"Stopped the agent (pid {pid}).")
    # Not a moment later: what comes next may need the vault.
    assert home.agent.process.poll() == 0 if is_by_hand else not is_running(pid)
    assert not accepts(home.socket)
    again = home.oauthctl("agent", "stop", "--json")
    assert json.loads(again.stdout) == {"stopped": False}
    assert start(home) != pid


def test_stop_waits_for_the_refresh_under_way(home):
    """The refresh token in it is the only one."""
    with consenting(home) as server:
        server.script(access_token_life_s=3)
        home.oauthctl("login", "work", server.issuer, "--client-id", "dev")
        pid = start(home)
        server.script(access_token_life_s=3600, delay_ms={"token": 4000})
        wait_until(lambda: any(name(child) == "oauthd-fetch" for child in processes.children(pid)), 30, "a refresh")
        result = home.oauthctl("agent", "stop")
        assert "finishes what is under way" in result.stderr and not is_running(pid)
        assert [entry["status"] for entry in server.refreshes()] == [200]
        assert home.oauthctl("get-token", "work").status == 0 and len(server.refreshes()) == 1


def name(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def test_restart_is_another_agent_at_the_same_place(home):
    first = start(home)
    second = report(home, "restart")
    assert second["pid"] != first and not is_running(first) and second["socket"] == str(home.socket)
    assert start(home) == second["pid"]
    home.oauthctl("agent", "stop")
    assert "The agent runs: pid " in home.oauthctl("agent", "restart").stderr


def test_a_restart_that_moves_the_agent_says_so_with_the_line_that_moves_it_back(home):
    """It has the folders of the shell that starts it."""
    start(home)
    shell = {"XDG_CONFIG_HOME": str(home.root / "other"), "XDG_DATA_HOME": str(home.root / "data2")}
    told = home.oauthctl("agent", "restart", environment=shell).stderr
    assert f"configuration folder is ~/other/oauthctl now, and was ~/config/oauthctl; its data folder is" in told, told
    [line] = re.findall("to go back: (export .*)", told)
    home.run("sh", "-c", line.replace("oauthctl", shlex.quote(str(home.programs / "oauthctl"))), environment=shell)
    assert report(home, "status")["folders"]["data"] == str(home.data / "oauthctl")
    assert "folder" not in home.oauthctl("agent", "restart").stderr, "nothing has moved"


def test_what_the_agent_does_not_find_is_told_with_the_folder_that_it_reads(home):
    start(home)
    shell = {"XDG_CONFIG_HOME": str(home.root / "other")}
    folders = "the agent's configuration folder is ~/config/oauthctl, this shell's ~/other/oauthctl"
    remedy = f"run: export XDG_CONFIG_HOME={home.config}"
    url = "http://127.0.0.1:1/"
    for words in (["status"], ["agent", "status"], ["account", "list"], ["account", "show", "work"], ["doctor", "work"],
                  ["get-token", "work"], ["get-token", "--url", url], ["curl", "work", url]):
        told = home.oauthctl(*words, check=False, environment=shell).stderr
        assert folders in told and remedy in told, (words, told)
        assert "folder" not in home.oauthctl(*words, check=False).stderr, words
    question = "protocol=http\nhost=127.0.0.1:1\n\n"
    silent = home.oauthctl("git-credential", "get", stdin=question, environment=shell)
    assert silent.stderr == "", "another helper's host"
    file = home.root / "other" / "oauthctl" / "accounts.d" / "work.toml"
    file.parent.mkdir(parents=True)
    file.write_text('issuer = "https://i.example"\nclient_id = "c"\n')
    told = home.oauthctl("get-token", "work", check=False, environment=shell)
    # The agent's own folder has no accounts.
    assert told.status == 3 and "run: oauthctl agent restart\n" in told.stderr, told
    assert f"{home.shown(file)} is there" in told.stderr
    home.oauthctl("agent", "restart", environment=shell)
    assert "work" in home.oauthctl("account", "list", environment=shell).stdout
    # From here the agent is the one that is right.
    assert "run: export XDG_CONFIG_HOME=" in home.oauthctl("status").stderr
    mine = home.config / "oauthctl/accounts.d/work.toml"
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_bytes(file.read_bytes())
    file.unlink()
    assert "run: oauthctl agent restart\n" in home.oauthctl("status").stderr


def test_restart_says_that_files_with_problems_are_given_up(home):
    define(home, "work", 'issuer = "https://h"', 'client_id = "c"')
    start(home)
    account_file(home).write_text("issuer = \n")
    said = home.oauthctl("agent", "restart").stderr
    assert f"{home.shown(account_file(home))}:1: not TOML" in said and "put that right" in said, said
    account_file(home).unlink()
    assert "problem" not in home.oauthctl("agent", "restart").stderr


def test_an_agent_that_a_variable_names_is_not_ended_for_a_restart(home):
    elsewhere = {"OAUTHCTL_SOCKET": str(home.root / "own.sock")}
    process = home.start(home.programs / "oauthd", environment=elsewhere)
    wait_until(lambda: accepts(elsewhere["OAUTHCTL_SOCKET"]), 20, "the agent's socket")
    result = home.oauthctl("agent", "restart", check=False, environment=elsewhere)
    assert result.status == 64 and "OAUTHCTL_SOCKET" in result.stderr and process.poll() is None
    assert home.oauthctl("agent", "stop", environment=elsewhere).status == 0 and process.poll() == 0
    process.communicate()


def test_a_stopped_process_is_not_waited_for_without_end(home):
    pid = start(home)
    with processes.stopped(pid):
        result = home.oauthctl("agent", "stop", check=False)
        assert result.status == 6 and f"run: kill -CONT {pid}" in result.stderr
    assert start(home) == pid


def test_another_process_than_the_one_that_listens_is_not_ended(home):
    """An agent in another PID namespace has an id of that namespace: here it is somebody else's."""
    victim = home.start("sleep", "600")
    answer = {
        "pid": victim.pid, "agent_version": "0", "started": "by_hand", "started_at": 0, "degraded": [], "problems": [],
        "counts": {}, "accounts": [], "vault": {"state": "open", "slots": [], "path": "/"}}
    home.socket.parent.mkdir(mode=0o700)
    script = (
        "import json, socket, sys\n"
        "listener = socket.socket(socket.AF_UNIX)\nlistener.bind(sys.argv[1])\nlistener.listen()\n"
        "while True:\n"
        "  wire, _ = listener.accept()\n  line = wire.makefile().readline()\n"
        "  if line:\n"
        "    answer = {'jsonrpc': '2.0', 'id': json.loads(line)['id'], 'result': json.loads(sys.argv[2])}\n"
        "    wire.sendall(json.dumps(answer).encode() + b'\\n')\n")
    impostor = home.start("/usr/bin/python3", "-c", script, home.socket, json.dumps(answer))
    try:
        wait_until(lambda: accepts(home.socket), 20, "somebody listens")
        result = home.oauthctl("agent", "stop", check=False)
        assert result.status == 7 and f"process {impostor.pid} listens" in result.stderr
        assert victim.poll() is None and impostor.poll() is None
    finally:
        for process in (victim, impostor):
            process.kill()
            process.communicate()


# --verbose

def test_verbose_tells_what_is_asked_and_how_long_it_takes(home):
    said = home.oauthctl("status", "-v").stderr.splitlines()
    assert said[0] == f"oauthctl: {home.shown(home.socket)}: there is no such directory"
    assert said[1] == f"oauthctl: started an agent: {home.programs}/oauthd"
    assert re.fullmatch(r"oauthctl: agent\.status: answered after \d+\.\d ms", said[2]) and len(said) == 3
    for words in (["-v", "agent", "status"], ["--verbose", "agent", "status"], ["agent", "status", "--verbose"]):
        said = home.oauthctl(*words).stderr.splitlines()
        assert said[0] == f"oauthctl: connected to {home.shown(home.socket)}", words
        assert "agent.status: answered" in said[1], words
    assert home.oauthctl("agent", "status").stderr == ""
    pid = start(home)
    with processes.stopped(pid):
        failed = home.oauthctl("agent", "stop", "-v", check=False)
    assert "agent.status: no answer after" in failed.stderr


def test_verbose_shows_no_token(home):
    with consenting(home) as server:
        home.oauthctl("login", "work", server.issuer, "--client-id", "dev")
        token = home.oauthctl("get-token", "work").stdout.strip()
        url = f"{server.issuer}/api/hello"
        for words in (["get-token", "work"], ["curl", "-s", url], ["account", "show", "work"]):
            told = home.oauthctl("-v", *words)
            assert "oauthctl: connected to" in told.stderr and token not in told.stderr, words
        assert re.search("(?m)^oauthctl: started /.*/curl$", home.oauthctl("-v", "curl", "-s", url).stderr)
        question = f"protocol=http\nhost={server.issuer.removeprefix('http://')}\npath=git/a.git\n\n"
        helper = home.oauthctl("git-credential", "get", "-v", stdin=question, check=False)
        assert "token.get: answered" in helper.stderr and token not in helper.stderr


def test_sigterm_alone_is_an_orderly_end(home):
    pid = start(home)
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid), 20, "the agent's end")
    assert "stopping" in (home.state / "oauthctl" / "oauthd.log").read_text()
