"""R11, all callers together: however many ask for what has to be waited for or made, each is answered, nobody else
waits for them, and the agent's memory stays small.

Memory is bounded closely, silence loosely: it is the machine's too. `make prove` takes crowds of full size.
"""

import json
import os
import resource
import select
import selectors
import socket
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest

from support import load
from support.accounts import account_file
from support.login import get_token, wait_until

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="needs root, to count the memory of an agent that no one else may look into")
FULL = os.environ.get("PROVE") == "full"
CALLERS, PIPELINES, ACCOUNTS, UNREAD = (5000, 900, 9999, 50) if FULL else (1500, 60, 1500, 12)
SANITIZED = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ
# What another caller's question may take beside a crowd; the machine is shared.
SILENCE_SECONDS = 5 if FULL else 20


def line(method, number=1, **parameters):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


@pytest.fixture
def expired(ready):
    """The token is rejected, and the server takes its time for another one."""
    with ready.agent.connect() as wire:
        wire.call("token.reject", account="work", rejected={"token": get_token(ready)})
    ready.server.script(delay_ms={"token": 5000 if FULL else 2000})
    return ready


class Beside:
    """What another caller waits for its answers, and the most memory the agent takes, until it is asked."""

    def __init__(self, home, question):
        self.home, self.question, self.longest, self.most, self.count = home, question, 0, 0, 0
        self.before, self.isOver = load.resident_kib(home.agent), threading.Event()
        self.threads = [threading.Thread(target=self.ask), threading.Thread(target=self.look)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.isOver.set()
        for thread in self.threads:
            thread.join()
        assert self.count > 0 and self.longest < SILENCE_SECONDS, f"{self.longest:.1f} s, {self.count} answers"

    def ask(self):
        with load.connect(self.home.socket) as wire:
            while not self.isOver.is_set():
                started = time.perf_counter()
                wire.sendall(self.question)
                load.read_line(wire)
                self.longest = max(self.longest, time.perf_counter() - started)
                self.count += 1
                self.isOver.wait(0.01)

    def look(self):
        while not self.isOver.wait(0.02):
            self.most = max(self.most, load.resident_kib(self.home.agent))

    def tell(self, what, record_property):
        text = (f"{what}: another caller's longest wait {self.longest * 1000:.0f} ms of {self.count}; "
                f"memory {self.before} -> {self.most} KiB at most")
        print(text)
        record_property("load", text)


def answers(wires, each):
    """The lines of each connection, once it has so many."""
    found, selector = {wire: b"" for wire in wires}, selectors.DefaultSelector()
    for wire in wires:
        wire.setblocking(False)
        selector.register(wire, selectors.EVENT_READ)
    end = time.monotonic() + load.LIMIT_SECONDS
    while selector.get_map():
        assert time.monotonic() < end, f"{len(selector.get_map())} connections wait for answers"
        for key, _ in selector.select(1):
            part = key.fileobj.recv(1 << 16)
            found[key.fileobj] += part
            if not part or found[key.fileobj].count(b"\n") == each:
                selector.unregister(key.fileobj)
    return [found[wire].splitlines() for wire in wires]


def test_thousands_of_callers_of_an_expired_token_are_all_answered_by_one_refresh(expired, record_property):
    asking = line("token.get", account="work")
    with Beside(expired, line("agent.hello")) as beside:
        wires = []
        for _ in range(CALLERS):
            wires.append(load.connect(expired.socket))
            wires[-1].sendall(asking)
        tokens = {json.loads(line)["result"]["access_token"] for lines in answers(wires, 1) for line in lines}
    beside.tell(f"{CALLERS} callers of one expired token", record_property)
    assert len(tokens) == 1 and len(expired.server.refreshes()) == 1
    assert SANITIZED or beside.most <= 64 << 10
    for wire in wires:
        wire.close()
    load.settled(expired.agent, (beside.before, 32))


def resident_once_steady(agent, until):
    """KiB, once they have not grown for half a second, or there is an answer."""
    found = [load.resident_kib(agent)]
    while len(found) < 25 or found[-1] > found[-25]:
        if select.select([until], [], [], 0.02)[0]:
            break
        found.append(load.resident_kib(agent))
    return found[-1]


def test_those_who_ask_for_more_than_there_is_room_for_are_answered_too(expired, record_property):
    """64 requests on each connection, as many as may wait there; what one costs is told from those that do."""
    asking = b"".join(line("token.get", number, account="work", min_validity_s=10) for number in range(64))
    with Beside(expired, line("agent.hello")) as beside:
        wires = [load.connect(expired.socket) for _ in range(PIPELINES)]
        for wire in wires:
            wire.sendall(asking)
        while_waiting = resident_once_steady(expired.agent, until=wires[0])
        found = answers(wires, 64)
    beside.tell(f"{PIPELINES} x 64 requests that wait, for them {while_waiting - beside.before} KiB", record_property)
    assert all({json.loads(line)["id"] for line in lines} == set(range(64)) for lines in found)
    others = [line for lines in found for line in lines if b"access_token" not in line]
    assert others == [], others[:3]
    assert len(expired.server.refreshes()) == 1
    waiting = min(PIPELINES * 64, 16384 + 4 * PIPELINES)
    room = (8 << 10) + 2 * waiting
    assert SANITIZED or while_waiting - beside.before <= room
    # How many answers are on their way depends on how fast they are taken: at most what all may hold and each its own
    # (AgentWire/WireLimits.swift).
    assert SANITIZED or beside.most - beside.before <= room + 16384 + 8 * PIPELINES
    for wire in wires:
        wire.close()


@pytest.fixture
def many(ready):
    """The same agent with files of many accounts more."""
    text = account_file(ready).read_text()
    for number in range(ACCOUNTS):
        account_file(ready, f"a{number:05}").write_text(text)
    # The longest of all answers to this: the files are read.
    with ready.agent.connect() as wire:
        assert wire.call("config.reload")["accounts"] == ACCOUNTS + 1
        assert wire.call("agent.status", limit=1)["counts"]["accounts"] == ACCOUNTS + 1
    return ready


def test_status_asked_again_and_again_delays_nobody(many, record_property):
    asking = b"".join(line("agent.status", number) for number in range(64))
    # Not ready at once: it passes through the service that makes the lists.
    question = line("token.get", account="work", best_effort=True)
    with Beside(many, question) as beside:
        wires = [load.connect(many.socket) for _ in range(3)]
        for wire in wires:
            wire.sendall(asking)
        found = answers(wires, 64)
    beside.tell(f"3 x 64 status of {ACCOUNTS} accounts", record_property)
    assert all(len(json.loads(line)["result"]["accounts"]) == 500 for lines in found for line in lines[:2])
    for wire in wires:
        wire.close()


def test_lists_that_nobody_takes_use_no_more_than_their_share(many, record_property):
    asking = b"".join(line("agent.status", number) for number in range(64))
    with Beside(many, line("agent.status", limit=500)) as beside:
        wires = [load.connect(many.socket) for _ in range(UNREAD)]
        for wire in wires:
            wire.sendall(asking)
        # Each has begun to be answered.
        for wire in wires:
            assert wire.recv(1)
        wait_until(lambda: beside.count > 20, 30, "another caller's lists")
    beside.tell(f"{UNREAD} x 64 status that nobody reads", record_property)
    # What is held in all, four lists that are being made, and what an allocator keeps.
    assert SANITIZED or beside.most - beside.before <= 40 << 10
    for wire in wires:
        wire.close()


def test_a_message_with_descriptors_ends_no_reading(ready):
    """A read stops behind each of them; the requests that lie there already are answered all the same."""
    with load.connect(ready.socket) as wire:
        for number in range(3):
            socket.send_fds(wire, [line("token.get", number, account="work")], [0])
        assert sorted(json.loads(line)["id"] for line in answers([wire], 3)[0]) == [0, 1, 2]


@contextmanager
def stopped_reader():
    """A pipe that is full."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while os.write(writing, b"x" * 65536):
            pass
    except BlockingIOError:
        pass
    os.set_blocking(writing, True)
    yield writing
    os.close(reading)
    os.close(writing)


def test_a_log_that_nobody_reads_holds_nobody_up(home):
    """At the level that logs every refusal, with standard error a pipe that takes nothing."""
    with load.many_descriptors(), stopped_reader() as full:
        agent = home.start(home.programs / "oauthd", "--log-level", "trace", stdout=subprocess.DEVNULL, stderr=full)
        try:
            wait_until(lambda: home.socket.exists(), 20, "the agent's socket")
            with load.connect(home.socket) as wire:
                for number in range(50):
                    wire.sendall(line("account.show", number, account="nobody"))
                    assert b"account_unknown" in load.read_line(wire)
        finally:
            agent.terminate()
            assert agent.wait(20) == 0


def test_overload_is_waited_out_by_oauthctl(ready):
    """No descriptor is left for another caller, and each that there is waits for an answer, until one leaves."""
    ready.server.script(delay_ms={"token": 3000})
    token = get_token(ready)
    waiting = [ready.agent.connect() for _ in range(3)]
    for wire in waiting:
        wire.request("token.get", account="work", rejected={"token": token})
    wait_until(ready.server.refreshes, 20, "the refresh, all of it sent")
    held = load.descriptors(ready.agent)
    limit = max(held) + 1
    fillers = [load.connect(ready.socket) for _ in range(limit - len(held))]
    _, hard = resource.prlimit(ready.agent.process.pid, resource.RLIMIT_NOFILE)
    before = resource.prlimit(ready.agent.process.pid, resource.RLIMIT_NOFILE, (limit, hard))
    for wire in fillers:
        wire.sendall(line("token.get", account="work"))
    result = ready.oauthctl("get-token", "work", check=False, timeout=60)
    resource.prlimit(ready.agent.process.pid, resource.RLIMIT_NOFILE, before)
    assert result.status == 0 and result.lines != [token], result
    for wire in waiting + fillers:
        wire.close()
    wait_until(lambda: "cannot accept a connection" in ready.agent.log.read_text(), 20, "it is in the log")
