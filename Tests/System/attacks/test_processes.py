"""What another process does to ours: the same user's and another user's, to the agent, to the process that talks to
servers, and to the client; and what a start with closed streams leaves. Each test is the attack.
"""

import ctypes
import errno
import os
import subprocess
from pathlib import Path

import pytest

from network.accounts import endpoints, write_account
from network.listeners import Silent
from support.home import accepts
from support.login import wait_until
from support.others import NOBODY, home_of_nobody
from support.processes import children

STRANGER = 64002
ATTACH, GET_DESCRIPTOR, COMPARE, OPEN_PROCESS = 16, 438, 312, 434
# Of /proc; `cmdline` and `status` are everybody's to read.
FILES = ["mem", "environ", "maps", "auxv", "stack", "syscall", "fd/0", "fdinfo/0", "map_files"]


class Piece(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def taken_by(uid, pid):
    """What a process of `uid` gets of process `pid`."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.write(writer, " ".join(attempts(pid)).encode() + b" end")
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        said = pipe.read().split()
    os.waitpid(child, 0)
    assert said[-1:] == ["end"], "the attacker ran to its end"
    return said[:-1]


def attempts(pid):
    for name in FILES:
        try:
            os.listdir(f"/proc/{pid}/{name}") if name == "map_files" else open(f"/proc/{pid}/{name}", "rb").close()
            yield name
        except OSError as error:
            assert error.errno in (errno.EACCES, errno.EPERM), error
    libc = ctypes.CDLL(None, use_errno=True)
    room = ctypes.create_string_buffer(8)
    mine, theirs = Piece(ctypes.addressof(room), 8), Piece(0x400000, 8)
    process = libc.syscall(OPEN_PROCESS, pid, 0)
    for name, call in {
            "trace": lambda: libc.ptrace(ATTACH, pid, 0, 0),
            "read": lambda: libc.process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0),
            "write": lambda: libc.process_vm_writev(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0),
            "descriptor": lambda: libc.syscall(GET_DESCRIPTOR, process, 0, 0),
            "compare": lambda: libc.syscall(COMPARE, pid, os.getpid(), 0, 0, 0)}.items():
        ctypes.set_errno(0)
        # Any other refusal comes after the kernel's check of rights, so that it let us in.
        if call() >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.EACCES, errno.ENOSYS):
            yield name


def find_helper(agent, name):
    """The one that has restricted itself; before that anybody of its user may look."""
    return next((pid for pid in children(agent, named=name)
                 if "\nSeccomp:\t2\n" in Path(f"/proc/{pid}/status").read_text()), None)


@pytest.fixture
def theirs(scratch, programs):
    """With programs that their user may read."""
    with home_of_nobody(scratch, programs) as home:
        yield home


def test_no_process_of_ours_is_looked_into_by_another(theirs):
    """While a login waits for a server that says nothing, so that three of them hold its password, and another for its
    browser."""
    with Silent() as server:
        write_account(theirs, "work", **endpoints(f"http://localhost:{server.port}"), client_authentication="none")
        write_account(
            theirs, "shown", **endpoints(f"http://localhost:{server.port}"), client_authentication="none",
            grant="authorization_code", authorization_endpoint=f"http://localhost:{server.port}/authorize")
        theirs.give()
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        agent = theirs.begin_agent(**quiet)
        client = theirs.begin(
            theirs.programs / "oauthctl", "login", "work", "--password-stdin", stdin=subprocess.PIPE, **quiet)
        client.stdin.write("a password\n")
        client.stdin.flush()
        client.stdin.close()
        client.stdin = None
        wait_until(lambda: server.connections, 30, "the server is asked")
        theirs.begin(
            theirs.programs / "oauthctl", "login", "shown", "--no-browser", stdin=subprocess.PIPE, **quiet)
        pids = {
            "agent": agent.pid, "helper": find_helper(agent.pid, "oauthd-fetch"), "client": client.pid,
            "redirect": wait_until(lambda: find_helper(agent.pid, "oauthd-redirect"), 30, "a browser is waited for")}
        prey = theirs.begin("sleep", "60", **quiet)
        taken = set(taken_by(NOBODY, prey.pid))
        # The attack has stopped it.
        prey.kill()
        assert {"environ", "fd/0"} <= taken, "the attack works, on what is not ours"
        for name, pid in pids.items():
            for uid in (NOBODY, STRANGER):
                assert taken_by(uid, pid) == [], (name, uid)


@pytest.mark.parametrize("closed", [(2,), (0, 1, 2)], ids=str)
def test_an_agent_started_with_closed_streams_writes_its_log_into_nothing_of_its_own(home, closed):
    """Else the number of a counter, a socket or a file is the log's."""
    def close():
        for number in closed:
            os.close(number)

    agent = home.start(home.programs / "oauthd", preexec_fn=close)
    try:
        wait_until(lambda: accepts(home.socket), 20, "it listens")
        for number in closed:
            if os.geteuid() == 0:
                assert os.readlink(f"/proc/{agent.pid}/fd/{number}") == "/dev/null"
    finally:
        agent.terminate()
        agent.communicate(timeout=70)
