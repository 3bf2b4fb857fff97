"""R11: no caller, however slow, many or malformed, delays another, nor keeps the agent's memory or descriptors."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prove.faults import log_in, server_of

IDLE, HALF, GARBAGE = 2000, 200, 10_000
REQUESTS = int(os.environ.get("PROVE_REQUESTS", "1500"))
# What an allocator may keep after thousands of connections came and went.
RSS_SLACK_KIB = 8 * 1024
# A caller that must not become one: connects as this user.
NOBODY = 65534

ASK = b'{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"work"}}\n'


@pytest.fixture
def ready(home):
    """A logged-in agent whose token stays good throughout."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    server = server_of(home, "strict")
    home.agent.start()
    log_in(home, server)
    yield home
    home.agent.stop()
    server.stop()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connect(home):
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(20)
    # A full backlog is EAGAIN to a socket with a time limit: waiting for room is part of what is measured.
    end = time.monotonic() + 20
    while True:
        try:
            made.connect(str(home.socket))
            return made
        except BlockingIOError:
            assert time.monotonic() < end, "no room in the backlog for 20 s"
            time.sleep(0.001)


def usage(home):
    """(KiB of resident memory, descriptors) of the agent."""
    pid = home.agent.process.pid
    status = Path(f"/proc/{pid}/status").read_text()
    rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
    return rss, len(os.listdir(f"/proc/{pid}/fd"))


def times(home, count=REQUESTS, pause=0.0):
    """Milliseconds of each of `count` requests of one caller, a new connection for every tenth; all answered right."""
    found, wire, expected = [], None, None
    for number in range(count):
        started = time.perf_counter()
        if number % 10 == 0:
            if wire:
                wire.close()
            wire = connect(home)
        wire.sendall(ASK)
        answer = b""
        while not answer.endswith(b"\n"):
            part = wire.recv(65536)
            assert part, f"request {number}: closed instead of answered"
            answer += part
        found.append((time.perf_counter() - started) * 1000)
        token = json.loads(answer)["result"]["access_token"]
        expected = expected or token
        assert token == expected
        time.sleep(pause)
    wire.close()
    return sorted(found)


def tell(what, quiet, loud, before, after, record_property):
    def at(values, share):
        return values[int(len(values) * share)]

    text = (f"{what}: p50 {at(loud, .5):.2f} ms ({at(loud, .5) / at(quiet, .5):.2f} x quiet), "
            f"p99 {at(loud, .99):.2f} ms ({at(loud, .99) / at(quiet, .99):.2f} x), most {loud[-1]:.1f} ms; "
            f"RSS {before[0]} -> {after[0]} KiB, descriptors {before[1]} -> {after[1]}")
    print(text)
    record_property("load", text)


def settled(home, before, seconds=30):
    """Usage once descriptors are back; they and memory must be near where they were."""
    end = time.monotonic() + seconds
    while (now := usage(home))[1] > before[1] + 4 and time.monotonic() < end:
        time.sleep(0.05)
    assert now[1] <= before[1] + 4, f"descriptors: {before[1]} before, {now[1]} after"
    assert now[0] <= before[0] + RSS_SLACK_KIB, f"RSS in KiB: {before[0]} before, {now[0]} after"
    return now


def idle(home):
    return [connect(home) for _ in range(IDLE)]


def half_sent(home):
    found = []
    for _ in range(HALF):
        found.append(connect(home))
        found[-1].sendall(ASK[:40])
    return found


def never_read(home):
    """Each asks 40,000 times or until the agent takes no more, and reads nothing."""
    found = []
    for _ in range(50):
        wire = connect(home)
        wire.setblocking(False)
        try:
            while wire.send(ASK * 20):
                pass
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            pass
        found.append(wire)
    return found


def garbage(home):
    """Lines of noise, 10 to a connection or as long as the agent listens."""
    for number in range(GARBAGE // 10):
        wire = connect(home)
        try:
            wire.sendall(b"".join(os.urandom(40).replace(b"\n", b"?") + b"\n" for _ in range(10)))
            wire.shutdown(socket.SHUT_WR)
            while wire.recv(65536):
                pass
        except (BrokenPipeError, ConnectionResetError):
            pass
        wire.close()
    return []


def http(home):
    for _ in range(500):
        wire = connect(home)
        try:
            wire.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            wire.shutdown(socket.SHUT_WR)
            answer = b""
            while part := wire.recv(65536):
                answer += part
        except (BrokenPipeError, ConnectionResetError):
            pass
        for line in answer.splitlines():
            assert "error" in json.loads(line)
        wire.close()
    return []


@pytest.mark.parametrize("burden", [idle, half_sent, never_read, garbage, http])
def test_others_are_served_beside(ready, burden, record_property):
    """The burden is laid on by another process over and over, so that the two compete as strangers would."""
    quiet = times(ready)
    before = usage(ready)
    ours = burden(ready) if burden in (idle, half_sent, never_read) else []
    program = ("import sys; sys.path.insert(0, sys.argv[1])\n"
               "from types import SimpleNamespace\nfrom prove import test_load\n"
               "while True: test_load.%s(SimpleNamespace(socket=sys.argv[2]))" % burden.__name__)
    other = None
    if not ours:
        tests = Path(__file__).resolve().parent.parent
        other = subprocess.Popen([sys.executable, "-B", "-c", program, str(tests), str(ready.socket)])
        time.sleep(0.5)
    try:
        loud = times(ready)
        assert other is None or other.poll() is None, "the burden itself failed"
        if burden is idle:
            assert usage(ready)[1] <= 1024 + 64, "more connections are held than the cap"
    finally:
        if other:
            other.kill()
            other.wait()
        for wire in ours:
            wire.close()
    tell(burden.__name__, quiet, loud, before, settled(ready, before), record_property)


def test_a_stopped_caller_delays_nobody(ready, record_property):
    quiet = times(ready)
    before = usage(ready)
    program = ("import socket, sys\ns = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
               "print('ready', flush=True)\nwhile True: s.sendall(sys.argv[2].encode() + b'\\n')")
    callers = [subprocess.Popen([sys.executable, "-c", program, str(ready.socket), ASK.decode().strip()],
                                stdout=subprocess.PIPE) for _ in range(10)]
    try:
        for caller in callers:
            assert caller.stdout.readline() == b"ready\n"
            caller.send_signal(signal.SIGSTOP)
        loud = times(ready)
    finally:
        for caller in callers:
            caller.kill()
            caller.wait()
            caller.stdout.close()
    tell("10 stopped callers", quiet, loud, before, settled(ready, before), record_property)


def test_another_user_is_not_served(ready, record_property):
    """The folder is opened to everybody here, so that the agent's own check is what refuses."""
    if os.getuid() != 0:
        pytest.skip("needs root, to become another user")
    quiet, before = times(ready), usage(ready)
    for folder in (ready.root.parent, ready.root, ready.runtime, ready.socket.parent):
        folder.chmod(0o711)
    ready.socket.chmod(0o666)
    program = ("import os, socket, sys\nos.setgid(%d); os.setuid(%d)\ns = socket.socket(socket.AF_UNIX)\n"
               "s.connect(sys.argv[1])\n"
               "try:\n s.sendall(sys.argv[2].encode() + b'\\n')\n print(s.recv(65536).decode())\n"
               "except OSError as e: print('closed')" % (NOBODY, NOBODY))
    for _ in range(50):
        result = subprocess.run([sys.executable, "-c", program, str(ready.socket), ASK.decode().strip()],
                                capture_output=True, text=True, timeout=20)
        assert result.returncode == 0, result.stderr
        assert "access_token" not in result.stdout and (
            result.stdout.strip() in ("", "closed") or "not_permitted" in result.stdout), result.stdout
    loud = times(ready)
    tell("50 callers of another user, refused", quiet, loud, before, settled(ready, before), record_property)
