"""Crowds at the agent's socket, and what one more caller notices of them."""

import json
import os
import resource
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
ASK = b'{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"work"}}\n'
# What an allocator may keep after thousands of connections came and went; a sanitizer's keeps more.
RSS_SLACK_KIB = (64 if "ASAN_OPTIONS" in os.environ else 4) * 1024
# Nobody is served later than that, whatever the machine does beside.
LIMIT_SECONDS = 60


@contextmanager
def many_descriptors():
    """Room for crowds in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 12288), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connect(path):
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(LIMIT_SECONDS)
    # A full backlog is EAGAIN to a socket with a time limit: waiting for room is part of what is measured.
    end = time.monotonic() + LIMIT_SECONDS
    while True:
        try:
            made.connect(str(path))
            return made
        except BlockingIOError:
            assert time.monotonic() < end, "no room in the backlog"
            time.sleep(0.001)


def read_line(wire):
    answer = b""
    while not answer.endswith(b"\n"):
        part = wire.recv(65536)
        assert part, "closed instead of answered"
        answer += part
    return answer


def ask(wire):
    """The token that one request gives."""
    wire.sendall(ASK)
    return json.loads(read_line(wire))["result"]["access_token"]


def times(path, count):
    """Milliseconds of each of `count` requests of one caller, sorted, a new connection for every tenth."""
    found, wire, token = [], None, None
    for number in range(count):
        started = time.perf_counter()
        if number % 10 == 0:
            if wire:
                wire.close()
            wire = connect(path)
        answer = ask(wire)
        found.append((time.perf_counter() - started) * 1000)
        token = token or answer
        assert answer == token
    wire.close()
    return sorted(found)


def share(values, part):
    return values[int(len(values) * part)]


def descriptors(agent):
    return {int(name) for name in os.listdir(f"/proc/{agent.process.pid}/fd")}


def resident_kib(agent):
    """Without the pages of files: the agent gives those back when it idles, and they would hide what a crowd leaves."""
    status = Path(f"/proc/{agent.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:"))


def cpu_milliseconds(agent):
    """Processor time of the agent so far: unlike a clock it does not see what else the machine does."""
    # The clock of another process, as clock_getcpuclockid(3) names it.
    return time.clock_gettime(~agent.process.pid << 3 | 2) * 1000


def usage(agent):
    """(KiB of resident memory, number of descriptors)."""
    return resident_kib(agent), len(descriptors(agent))


def settled(agent, before, seconds=30):
    """Usage once descriptors are back; they and memory must be near where they were."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        now = usage(agent)
        if now[1] <= before[1] + 4 and now[0] <= before[0] + RSS_SLACK_KIB:
            break
        time.sleep(0.05)
    assert now[1] <= before[1] + 4, f"descriptors: {before[1]} before, {now[1]} after"
    assert now[0] <= before[0] + RSS_SLACK_KIB, f"RSS in KiB: {before[0]} before, {now[0]} after"
    return now


# --- Burdens. Those that hold connections return them; the others run in a process of their own until they are ended.

def hold_idle(path, count):
    return [connect(path) for _ in range(count)]


def hold_half_sent(path, count):
    found = [connect(path) for _ in range(count)]
    for wire in found:
        wire.sendall(ASK[:40])
    return found


def hold_unended(path, count):
    """As much of a line as may come before it has to end."""
    found = [connect(path) for _ in range(count)]
    for wire in found:
        wire.sendall(b"x" * 65_000)
    return found


def hold_never_read(path, count):
    """Each asks 40,000 times or until the agent takes no more, and reads nothing."""
    found = []
    for _ in range(count):
        wire = connect(path)
        wire.setblocking(False)
        try:
            while wire.send(ASK * 20):
                pass
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            pass
        found.append(wire)
    return found


def whole_answer(wire):
    """Everything up to the end of the connection."""
    answer = b""
    try:
        wire.shutdown(socket.SHUT_WR)
        while part := wire.recv(65536):
            answer += part
    except (BrokenPipeError, ConnectionResetError):
        pass
    return answer


def polite(path):
    """What a busy caller costs in any case: good requests, one after the other, a connection for every tenth."""
    times(path, 10)


def garbage(path):
    """Ten lines of noise, each answered by a refusal."""
    with connect(path) as wire:
        wire.sendall(b"".join(os.urandom(40).replace(b"\n", b"?") + b"\n" for _ in range(10)))
        lines = whole_answer(wire).splitlines()
    assert len(lines) == 10 and all(json.loads(line)["error"]["code"] < 0 for line in lines), lines


def http(path):
    with connect(path) as wire:
        wire.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        (line,) = whole_answer(wire).splitlines()
    assert "no HTTP server" in json.loads(line)["error"]["message"], line


def ask_and_leave(path):
    """Waits for nothing but a place in the backlog."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(path)
        wire.sendall(ASK)


def refused(path):
    """As another user: not an answer, not a byte."""
    with connect(path) as wire:
        try:
            wire.sendall(ASK)
        except BrokenPipeError:
            return
        assert whole_answer(wire) == b""


@contextmanager
def burden(action, path, uid=0):
    """`action` without a pause while inside, by a process of its own, as strangers would; by user `uid`, if need be."""
    program = (
        "import os, sys\nsys.path.insert(0, sys.argv[1])\nfrom support import load\nos.setgid(int(sys.argv[3]))\n"
        "os.setuid(int(sys.argv[3]))\n"
        f"load.{action.__name__}(sys.argv[2])\nos.write(1, b'.')\nwhile True: load.{action.__name__}(sys.argv[2])")
    process = subprocess.Popen(
        [sys.executable, "-B", "-c", program, str(TESTS), str(path), str(uid)], stdout=subprocess.PIPE)
    try:
        assert process.stdout.read(1), "the burden itself failed"
        yield
        assert process.poll() is None, "the burden itself failed"
    finally:
        process.kill()
        process.communicate()
