"""Starting the agent without a service manager: the caller that finds none starts one, and only one."""

import ctypes
import json
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from support import processes
from support.dev_server import DevServer
from support.home import accepts
from support.login import get_token, log_in, wait_until

CALLERS = 20
LIBC = ctypes.CDLL(None, use_errno=True)
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the agent lets nobody else look at it")


def agents(home):
    """PIDs of the agents of this home: they are orphans, so they became our children."""
    found = []
    for pid in processes.children():
        if name(pid) == "oauthd" and str(home.runtime).encode() in environment(pid):
            found.append(pid)
    return found


def name(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def environment(pid):
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def status(home, **options):
    return json.loads(home.oauthctl("status", "--json", **options).stdout)


def end(pid, sign=signal.SIGKILL):
    os.kill(pid, sign)
    wait_until(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid, 60, "the agent's end")


def test_a_clean_home_gets_one_agent(home):
    first = status(home)
    assert first["started"] == "on_demand" and name(first["pid"]) == "oauthd"
    assert status(home)["pid"] == first["pid"]
    assert home.socket.stat().st_mode & 0o777 == 0o600 and home.socket.parent.stat().st_mode & 0o777 == 0o700


@AS_ROOT
def test_twenty_callers_at_once_get_one_agent(home):
    callers = [home.start(home.programs / "oauthctl", "status", "--json") for _ in range(CALLERS)]
    answers = [(caller.communicate(timeout=60), caller.returncode) for caller in callers]
    assert {code for _, code in answers} == {0}, answers
    assert len({json.loads(streams[0])["pid"] for streams, _ in answers}) == 1
    assert len(agents(home)) == 1


def ignore_signal_of_threads():
    """Signal 32, which libc keeps for itself; runners exist that start everything so."""
    action = (ctypes.c_ulong * 8)(signal.SIG_IGN)
    number = {"x86_64": 13, "aarch64": 134}[os.uname().machine]
    if LIBC.syscall(number, 32, action, None, ctypes.c_size_t(8)) != 0:
        raise OSError(ctypes.get_errno(), "rt_sigaction")


@AS_ROOT
def test_nothing_of_the_caller_is_inherited(home, tmp_path):
    """Environment, descriptors, working directory, session, signals: an agent outlives the shell that it came from."""
    reader, writer = os.pipe()
    file = os.open(tmp_path / "open", os.O_RDWR | os.O_CREAT)
    extra = {"HTTPS_PROXY": "http://proxy.invalid", "LD_DEBUG_OUTPUT": "/x", "GIT_DIR": "/x", "SECRET": "s3cr3t",
             "MALLOC_ARENA_MAX": "1", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=1", "LOCPATH": "/x", "TZDIR": "/x"}
    caller = home.start(
        home.programs / "oauthctl", "status", "--json", environment=extra, pass_fds=[writer, file],
        preexec_fn=lambda: (
            os.umask(0), signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGHUP}),
            signal.signal(signal.SIGCHLD, signal.SIG_IGN), signal.signal(signal.SIGALRM, signal.SIG_IGN),
            ignore_signal_of_threads(), signal.setitimer(signal.ITIMER_REAL, 3_600)))
    streams = caller.communicate(timeout=60)
    assert caller.returncode == 0, streams
    os.close(writer)
    os.close(file)
    # Nobody has the other end of the pipe any more.
    assert os.read(reader, 1) == b""
    pipe = os.readlink(f"/proc/self/fd/{reader}")
    os.close(reader)

    pid = json.loads(streams[0])["pid"]
    process = Path(f"/proc/{pid}")
    variables = {entry.split(b"=")[0].decode() for entry in environment(pid).split(b"\0") if entry}
    assert variables.isdisjoint(extra) and {"HOME", "XDG_RUNTIME_DIR"} <= variables
    assert variables.isdisjoint({"PATH", "TERM", "SHELL", "TMPDIR", "GIT_CONFIG_NOSYSTEM"})
    assert os.readlink(process / "cwd") == "/"
    targets = {int(fd.name): os.readlink(fd) for fd in (process / "fd").iterdir()}
    assert {targets[stream] for stream in range(3)} == {"/dev/null"}
    ours = [target for target in targets.values() if target.startswith(str(home.root))]
    foreign = [target for target in targets.values() if str(tmp_path) in target or target == pipe]
    assert foreign == [] and all(str(home.data) in target for target in ours)
    state = dict(line.split(":\t") for line in (process / "status").read_text().splitlines() if ":\t" in line)
    assert state["Umask"].strip() == "0077" and int(state["SigBlk"], 16) == 0
    # A write to a pipe without a reader, or to a file that may not grow, is an error.
    assert int(state["SigIgn"], 16) == 1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1
    fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
    session, terminal = int(fields[3]), int(fields[4])
    assert session not in (os.getsid(0), 0) and terminal == 0


@AS_ROOT
def test_the_agent_is_closed_to_programs_of_its_user(home):
    """Same user, no privilege: neither its memory nor its files can be read."""
    pid = status(home)["pid"]
    assert Path(f"/proc/{pid}/environ").stat().st_uid == 0
    limits = Path(f"/proc/{pid}/limits").read_text().split("Max core file size", 1)[1].split()
    assert limits[:2] == ["0", "0"]


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSEGV], ids=["kill -9", "a crash"])
def test_a_socket_left_behind_is_replaced(home, sign):
    first = status(home)["pid"]
    end(first, sign)
    assert home.socket.is_socket() and not accepts(home.socket)
    second = status(home)["pid"]
    assert second != first and accepts(home.socket)


def test_an_agent_that_nobody_can_reach_makes_room(home):
    """Its socket's file is gone, or another's: it would keep the vault from the agent that callers do reach."""
    first = status(home)["pid"]
    home.socket.unlink()
    second = status(home)["pid"]
    assert second != first
    wait_until(lambda: os.waitpid(first, os.WNOHANG)[0] == first, 20, "the first agent ends by itself")
    assert status(home)["pid"] == second and accepts(home.socket)


def test_what_is_no_socket_is_left_alone(home):
    home.socket.parent.mkdir(mode=0o700)
    home.socket.write_text("mine")
    result = home.oauthctl("status", check=False)
    assert result.status == 7 and "not a socket" in result.stderr and home.socket.read_text() == "mine"


def test_a_stopped_agent_leaves_no_socket_in_the_way(home):
    first = status(home)["pid"]
    end(first, signal.SIGTERM)
    assert status(home)["pid"] != first


def test_a_named_socket_starts_nothing(home):
    elsewhere = home.root / "named.sock"
    result = home.oauthctl("status", check=False, environment={"OAUTHCTL_SOCKET": str(elsewhere)})
    assert result.status == 7 and result.stdout == "" and "OAUTHCTL_SOCKET" in result.stderr
    assert not elsewhere.exists() and not home.socket.exists()


@AS_ROOT
@pytest.mark.parametrize("sudo", [False, True])
def test_the_home_of_another_starts_nothing(home, sudo):
    """`sudo oauthctl` keeps HOME on many systems: root's agent would write into the user's files."""
    os.chown(home.root, 61_999, 61_999)
    extra = {"SUDO_UID": "61999", "SUDO_USER": "tester"} if sudo else {}
    result = home.oauthctl("status", check=False, environment=extra)
    assert result.status == 7 and "HOME belongs to another user" in result.stderr
    assert ("without sudo" in result.stderr) == sudo
    assert not home.socket.exists()


def test_a_second_agent_at_the_socket_leaves_the_first_alone(home):
    first = status(home)["pid"]
    second = home.run(home.programs / "oauthd", check=False, timeout=20)
    assert second.status == 1 and str(home.socket) in second.stderr
    assert status(home)["pid"] == first


@pytest.fixture
def server(home):
    started = DevServer(home, "--auto-consent", "--access-token-life", "4")
    yield started
    started.stop()


def test_two_agents_on_one_vault_send_one_refresh(home, server):
    """R12: the second agent answers, and leaves the tokens to the first."""
    home.environment["BROWSER"] = str(home.bin / "browser")
    (home.bin / "browser").write_text('#!/bin/sh\nexec curl -sSL -o /dev/null "$1"\n')
    (home.bin / "browser").chmod(0o700)
    home.oauthctl("login", "work", server.issuer, "--client-id", "dev")
    first = status(home)["pid"]
    runtime = home.root / "run2"
    runtime.mkdir(mode=0o700)
    other = {"XDG_RUNTIME_DIR": str(runtime)}
    second = status(home, environment=other)
    assert second["pid"] != first and second["vault"]["state"] == "in_use" and str(first) in second["vault"]["reason"]
    refused = home.oauthctl("get-token", "work", check=False, environment=other)
    assert refused.status != 0 and refused.stdout == "" and str(first) in refused.stderr
    token, end_of_test = get_token(home), time.monotonic() + 6
    tokens = {token}
    while time.monotonic() < end_of_test or len(tokens) < 2:
        home.oauthctl("get-token", "work", check=False, environment=other)
        tokens.add(get_token(home))
    refreshes = server.refreshes()
    # One for each generation, none twice: with strict rotation a second use would have ended the login.
    assert 1 <= len(refreshes) <= len(tokens) and {entry["status"] for entry in refreshes} == {200}
    # The lock ends with its holder, and the other takes over.
    end(first)

    def taken_over():
        return home.oauthctl("get-token", "work", check=False, environment=other).stdout.strip()

    wait_until(taken_over, 60, "the second agent takes over")


@AS_ROOT
def test_callers_of_a_killed_agent_find_the_next_one(home, dot):
    """R4 without a service manager: the socket of a killed agent takes connections for some milliseconds more."""
    log_in(home, dot)
    token, pid = get_token(home), status(home)["pid"]
    processes.stop(pid)
    waiting = [home.start(home.programs / "oauthctl", "get-token", "work") for _ in range(8)]
    for process in waiting:
        wait_until(lambda: has_socket(process.pid), 20, "it has connected")
    end(pid)
    for process in waiting:
        stdout, stderr = process.communicate(timeout=60)
        assert (process.returncode, stdout.split(), stderr) == (0, [token], "")
    assert status(home)["pid"] != pid


def has_socket(pid):
    """Whether a process has a socket open."""
    try:
        return any(os.readlink(entry.path).startswith("socket:") for entry in os.scandir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def test_a_socket_that_a_dead_agent_left_open_elsewhere_is_taken_over(home):
    """A process that an agent was starting when it was killed holds its socket until it becomes another program."""
    home.socket.parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as held:
        pid = os.fork()
        if pid == 0:
            try:
                held.bind(str(home.socket))
                held.listen()
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        assert accepts(home.socket), "somebody can still connect"
        home.agent.start()
        wait_until(lambda: accepts(home.socket, but=pid), 60, "the new agent's socket to take the place of the old one")
        with home.agent.connect() as wire:
            assert wire.call("agent.hello")["protocol"] == 1
