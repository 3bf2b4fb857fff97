"""R11: no caller, however slow, many or malformed, delays another, nor keeps the agent's memory or descriptors.

A caller's times are told as ratios to a quiet run and bounded only loosely: they are the machine's too. What is bounded
closely is counted: answers, descriptors, memory, processor time. `make prove` takes more callers and more requests.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from support import load, processes
from support.load import ASK, share
from support.login import get_token, wait_until
from support.others import NOBODY
from support.unattended import refresh
from support.wire import WireError

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="needs root, to count the descriptors of an agent that no one else may look into")
FULL = os.environ.get("PROVE") == "full"
IDLE, HALF, SILENT, STOPPED, REQUESTS = (9000, 200, 50, 10, 1500) if FULL else (1100, 100, 10, 3, 200)
CONNECTIONS = 8192


@pytest.fixture
def ready(ready):
    """Its token stays good throughout; what a first request costs is over."""
    load.times(ready.socket, 50)
    return ready


class Beside:
    """One caller's requests in quiet and beside others; leaves behind what it found."""

    def __init__(self, home, what, record_property):
        self.home, self.what, self.record = home, what, record_property
        self.quiet, self.before = load.times(home.socket, REQUESTS), load.usage(home.agent)

    def measure(self):
        self.loud = load.times(self.home.socket, REQUESTS)

    def tell(self, most=None):
        """`most`: how many times as long the median request may take, where nobody competes for the processor."""
        after = load.settled(self.home.agent, self.before)
        again = load.times(self.home.socket, REQUESTS)
        (p50, p99), (loud50, loud99) = ((share(times, .5), share(times, .99)) for times in (self.quiet, self.loud))
        text = (f"{self.what}: p50 {loud50:.2f} ms ({loud50 / p50:.2f} x quiet), p99 {loud99:.2f} ms "
                f"({loud99 / p99:.2f} x), most {self.loud[-1]:.1f} ms; RSS {self.before[0]} -> {after[0]} KiB, "
                f"descriptors {self.before[1]} -> {after[1]}")
        print(text)
        self.record("load", text)
        assert most is None or loud50 <= most * max(p50, share(again, .5)), text


@pytest.fixture
def beside(ready, record_property):
    return lambda what: Beside(ready, what, record_property)


@pytest.mark.parametrize("hold, count", [
    (load.hold_idle, IDLE), (load.hold_half_sent, HALF), (load.hold_unended, SILENT), (load.hold_never_read, SILENT)])
def test_callers_that_only_hold_on_delay_nobody(ready, beside, hold, count):
    run = beside(f"{count} x {hold.__name__}")
    held = hold(ready.socket, count)
    run.measure()
    assert len(load.descriptors(ready.agent)) <= CONNECTIONS + 64, "more connections are held than the cap"
    for wire in held:
        wire.close()
    run.tell(most=20)


@pytest.mark.parametrize("action", [load.polite, load.garbage, load.http, load.ask_and_leave])
def test_callers_without_a_pause_leave_room(ready, beside, action):
    """`polite` is what any busy program costs on this machine: the others are to be read beside it."""
    run = beside(f"{action.__name__}, without a pause")
    with load.burden(action, ready.socket):
        run.measure()
    run.tell()


def test_stopped_callers_delay_nobody(ready, beside):
    run = beside(f"{STOPPED} stopped callers")
    program = ("import socket, sys\ns = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
               "print('ready', flush=True)\nwhile True: s.sendall(sys.argv[2].encode() + b'\\n')")
    callers = [subprocess.Popen([sys.executable, "-c", program, str(ready.socket), ASK.decode().strip()],
                                stdout=subprocess.PIPE) for _ in range(STOPPED)]
    try:
        for caller in callers:
            assert caller.stdout.readline() == b"ready\n"
            processes.stop(caller.pid)
        run.measure()
    finally:
        for caller in callers:
            caller.kill()
            caller.communicate()
    run.tell(most=20)


def test_another_user_is_not_served_and_delays_nobody(ready, beside):
    """The folder is opened to everybody here, so that the agent's own check is what refuses."""
    if os.getuid() != 0:
        pytest.skip("needs root, to become another user")
    for folder in (ready.root.parent, ready.root, ready.runtime, ready.socket.parent):
        folder.chmod(0o711)
    ready.socket.chmod(0o666)
    run = beside("another user, without a pause")
    with load.burden(load.refused, ready.socket, uid=NOBODY):
        run.measure()
    run.tell()


def test_ten_thousand_lines_of_garbage_are_all_refused(ready):
    before = load.usage(ready.agent)
    with load.connect(ready.socket) as wire:
        for _ in range(100):
            wire.sendall(b"".join(os.urandom(30).replace(b"\n", b"?") + b"\n" for _ in range(100)))
            answers = b""
            while answers.count(b"\n") < 100:
                answers += wire.recv(65536)
            assert all(json.loads(line)["error"]["code"] < 0 for line in answers.splitlines())
        assert load.ask(wire), "the connection is good for a request still"
    load.settled(ready.agent, before)


def cost_of_a_queue(home, leave):
    """(processor ms, wall ms) until a caller is answered before whom a thousand others are waiting, or have left."""
    processes.stop(home.agent.process.pid)
    others = []
    for _ in range(1000):
        wire = load.connect(home.socket)
        wire.sendall(ASK)
        if leave:
            wire.close()
        else:
            others.append(wire)
    with load.connect(home.socket) as last:
        before, started = load.cpu_milliseconds(home.agent), time.perf_counter()
        home.agent.process.send_signal(signal.SIGCONT)
        load.ask(last)
        spent = load.cpu_milliseconds(home.agent) - before, (time.perf_counter() - started) * 1000
    for wire in others:
        assert b"access_token" in load.read_line(wire)
        wire.close()
    return spent


def test_the_dead_in_the_queue_cost_no_more_than_the_living(ready, record_property):
    """A process that asks and leaves without a pause is no faster at that than the agent at clearing it away: a caller
    behind a thousand that have left waits no longer than behind a thousand that stay."""
    before = load.usage(ready.agent)
    living = min(cost_of_a_queue(ready, leave=False) for _ in range(3))
    dead = min(cost_of_a_queue(ready, leave=True) for _ in range(3))
    text = (f"behind 1,000 callers: {living[0]:.1f} ms of the agent's processor time, {living[1]:.1f} ms; behind 1,000 "
            f"that have left: {dead[0]:.1f} ms, {dead[1]:.1f} ms")
    print(text)
    record_property("load", text)
    assert dead[0] <= 2 * living[0], text
    load.settled(ready.agent, before)


# --- No descriptor left ----------------------------------------------------------------------------------------------

def limit_descriptors(agent, spare):
    """Leave the running agent so many more descriptors than it has; returns the limits before."""
    held, free, limit = load.descriptors(agent), spare, 0
    while free or limit in held:
        free -= limit not in held
        limit += 1
    pid = agent.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    return resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, hard))


def test_without_descriptors_idle_callers_make_room(ready, beside):
    run = beside("100 idle callers, 20 descriptors")
    limits = limit_descriptors(ready.agent, 20)
    held = load.hold_idle(ready.socket, 100)
    run.measure()
    wait_until(lambda: "cannot accept a connection" in ready.agent.log.read_text(), 20, "it is in the log")
    resource.prlimit(ready.agent.process.pid, resource.RLIMIT_NOFILE, limits)
    for wire in held:
        wire.close()
    run.tell(most=20)


def test_without_descriptors_and_without_room_newcomers_are_told(ready):
    """Everybody who is there waits for the answer of a slow server; nobody is dropped, and nothing spins."""
    before, token = load.usage(ready.agent), get_token(ready)
    # Once it has answered there is room for a newcomer.
    ready.server.script(delay_ms={"token": 5000})
    waiting = [ready.agent.connect() for _ in range(10)]
    for wire in waiting:
        wire.request("token.get", account="work", rejected={"token": token})
    wait_until(ready.server.refreshes, 20, "the refresh, all of it sent")
    limits = limit_descriptors(ready.agent, 0)
    spent, started = load.cpu_milliseconds(ready.agent), time.monotonic()
    for _ in range(20):
        with load.connect(ready.socket) as wire:
            error = json.loads(load.read_line(wire))["error"]
        assert error["data"]["failure"] == "overloaded" and error["data"]["retry_after_ms"] > 0
    answers = [json.loads(wire.read_line())["result"]["access_token"] for wire in waiting]
    spent, passed = load.cpu_milliseconds(ready.agent) - spent, (time.monotonic() - started) * 1000
    assert spent < passed / 4, f"{spent:.0f} ms of processor time in {passed:.0f} ms"
    assert set(answers) == {get_token(ready)} != {token}
    resource.prlimit(ready.agent.process.pid, resource.RLIMIT_NOFILE, limits)
    for wire in waiting:
        wire.close()
    load.settled(ready.agent, before)


def test_without_descriptors_who_has_asked_makes_no_room(ready):
    """Newcomers stand before the requests of those who are there: these are read before anybody is taken for idle."""
    asking = [ready.agent.connect() for _ in range(10)]
    for wire in asking:
        wire.call("agent.hello")
    limits = limit_descriptors(ready.agent, 0)
    ready.agent.process.send_signal(signal.SIGSTOP)
    newcomers = [load.connect(ready.socket) for _ in range(20)]
    for wire in asking:
        wire.request("token.get", account="work")
    ready.agent.process.send_signal(signal.SIGCONT)
    assert len({json.loads(wire.read_line())["result"]["access_token"] for wire in asking}) == 1
    for wire in [*newcomers, *asking]:
        wire.close()
    resource.prlimit(ready.agent.process.pid, resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("spare", [0, 4, 5, 8])
def test_without_descriptors_a_refresh_waits_and_loses_nothing(ready, spare):
    """A refresh needs pipes. With descriptors for none, for them alone, and for a little more: it happens, or nothing
    is sent and the failure is one to try again. The server allows no second use: a lost answer were a lost login."""
    token = get_token(ready)
    with ready.agent.connect() as wire:
        wire.call("agent.hello")
        limits = limit_descriptors(ready.agent, spare)
        try:
            assert wire.call("token.get", account="work", rejected={"token": token})["access_token"] != token
        except WireError as refused:
            assert refused.failure == "unavailable" and refused.data["retryable"], refused
            assert "descriptors" in refused.message and ready.server.refreshes() == []
        resource.prlimit(ready.agent.process.pid, resource.RLIMIT_NOFILE, limits)
    result = wait_until(lambda: (it := refresh(ready)).status == 0 and it, 30, "a refresh")
    assert result.lines != [token] and {entry["status"] for entry in ready.server.refreshes()} == {200}
