"""An agent started on demand outlives the shell that it came from: the limits of that shell, and its place among other
programs, must not end the agent, nor cost a login. docs/reliability.md has the table.
"""

import contextlib
import json
import os
import resource
import signal
from pathlib import Path

import pytest

from support import processes
from support.dev_server import consenting
from support.home import accepts
from support.login import wait_until
from support.wire import Wire, WireError
from agent.test_start import AS_ROOT, end, status

KIB, MIB = 1 << 10, 1 << 20


def started_under(home, prepare):
    """PID of the agent that a caller starts which has called `prepare`."""
    caller = home.start(home.programs / "oauthctl", "status", "--json", preexec_fn=prepare)
    streams = caller.communicate(timeout=60)
    assert caller.returncode == 0, streams
    return json.loads(streams[0])["pid"]


def soft(kind, value):
    return lambda: resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


@pytest.fixture
def server(home):
    """With a login at it, `work`, and no agent. It allows no second use of a refresh token."""
    with consenting(home) as server:
        home.oauthctl("login", "work", server.issuer, "--client-id", "dev", "--scope", "read")
        end(status(home)["pid"], signal.SIGTERM)
        yield server


def refresh(home):
    """A new token, by the agent that runs or is started for it."""
    status(home)
    with Wire(home.socket) as wire:
        return wire.call("token.get", account="work", force=True)["access_token"]


@pytest.mark.parametrize("bytes_", [0, 8 * KIB])
def test_a_limit_for_files_costs_no_login(home, server, bytes_):
    """Else no refresh finds room in the vault, for as long as the agent lives."""
    first = started_under(home, soft(resource.RLIMIT_FSIZE, bytes_))
    assert len({refresh(home) for _ in range(3)}) == 3 and status(home)["pid"] == first
    end(first)
    assert refresh(home) and [entry["status"] for entry in server.refreshes()] == [200] * 4


def test_a_file_that_may_not_grow_is_an_error_and_no_end(home, server):
    """Started by hand, an agent takes what it has: without room for a new refresh token it is as on a full disk."""
    size = max(file.stat().st_size for file in home.data.rglob("*") if file.is_file())
    process = home.start(
        home.programs / "oauthd", stdout=None, stderr=None,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    processes.keep(process.pid)
    try:
        wait_until(lambda: accepts(home.socket), 20, "it listens")
        assert any("bytes in a file (ulimit -H -f)" in remark for remark in status(home)["degraded"])
        for _ in range(3):
            with contextlib.suppress(WireError):
                refresh(home)
        assert status(home)["pid"] == process.pid
    finally:
        process.kill()
        process.wait()
    assert refresh(home) and {entry["status"] for entry in server.refreshes()} == {200}


def test_the_end_of_processor_time_is_an_end_in_order(home, server):
    """Before the kernel's SIGKILL comes SIGXCPU: a refresh on its way is waited for, and what it brought is kept."""
    first = started_under(home, lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 3_000)))
    assert limits(first)["Max cpu time"] == ("2990", "3000")
    server.script(delay_ms={"token": 1_500})
    with Wire(home.socket) as wire:
        wire.request("token.get", account="work", force=True)
        wait_until(server.refreshes, 20, "the refresh is at the server")
        os.kill(first, signal.SIGXCPU)
        wait_until(lambda: os.waitpid(first, os.WNOHANG)[0] == first, 60, "the agent's end")
    server.script(delay_ms={})
    assert refresh(home) and {entry["status"] for entry in server.refreshes()} == {200}


def limits(pid):
    """Name to soft and hard limit."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {line[:25].strip(): tuple(line[25:].split()[:2]) for line in lines}


@AS_ROOT
def test_what_a_shell_has_lowered_for_itself_is_raised(home):
    """As `ulimit -S` and a script's own settings do."""
    def lower():
        for kind, value in LOWERED.values():
            soft(kind, value)()

    hard = limits("self")
    found = limits(started_under(home, lower))
    for title in LOWERED:
        most = hard[title][1]
        if title in ENOUGH and (most == "unlimited" or int(most) > ENOUGH[title]):
            most = str(ENOUGH[title])
        assert found[title] == (most, hard[title][1]), title


ENOUGH = {"Max open files": 9_216, "Max stack size": 8 * MIB}
LOWERED = {
    "Max cpu time": (resource.RLIMIT_CPU, 1), "Max file size": (resource.RLIMIT_FSIZE, 4 * KIB),
    "Max address space": (resource.RLIMIT_AS, 256 * MIB), "Max data size": (resource.RLIMIT_DATA, 64 * MIB),
    "Max stack size": (resource.RLIMIT_STACK, 256 * KIB), "Max open files": (resource.RLIMIT_NOFILE, 12),
    "Max locked memory": (resource.RLIMIT_MEMLOCK, 0), "Max pending signals": (resource.RLIMIT_SIGPENDING, 1),
}


@pytest.mark.parametrize(
    ("kind", "least", "option"), [
        (resource.RLIMIT_CPU, 30, "-t"), (resource.RLIMIT_FSIZE, 16 * MIB, "-f"),
        (resource.RLIMIT_AS, 1_024 * MIB, "-v"), (resource.RLIMIT_DATA, 512 * MIB, "-d"),
        (resource.RLIMIT_STACK, MIB, "-s"), (resource.RLIMIT_NOFILE, 128, "-n"),
    ])
def test_none_is_started_where_it_could_not_work(home, kind, least, option):
    """What cannot be raised again is told, with the next step; with as much as it says, one works."""
    def under(value):
        caller = home.start(
            home.programs / "oauthctl", "status", preexec_fn=lambda: resource.setrlimit(kind, (value, value)))
        return caller, *caller.communicate(timeout=60)

    caller, _, said = under(least - 1)
    assert caller.returncode == 7, said
    assert f"could have {least - 1} " in said and f"(ulimit -H {option})" in said and f"needs {least}" in said
    assert "oauthctl status" in said and not home.socket.exists()
    caller, _, said = under(least)
    assert caller.returncode == 0, said
    with consenting(home) as server:
        home.oauthctl("login", "work", server.issuer, "--client-id", "dev", "--scope", "read")
        assert refresh(home)


@AS_ROOT
def test_the_place_of_the_caller_among_programs_is_not_the_agent_s(home):
    """Niceness, processors, policy."""
    def step_back():
        os.nice(10)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    processors = os.sched_getaffinity(0)
    pid = started_under(home, step_back)
    assert os.getpriority(os.PRIO_PROCESS, pid) == 0 and os.sched_getscheduler(pid) == os.SCHED_OTHER
    assert os.sched_getaffinity(pid) == processors
