"""R1, R2: no kill -9 and no failing disk costs a login, but in the one window that is stated.

`make test` runs a few places of a refresh; `make prove` sets PROVE=full and runs them all.
"""

import errno
import os
import random
import signal
import threading
import time

import pytest

from faults.strace import (
    VAULT_CALLS, calls_of_one_refresh, end_faults, is_alive, is_answer_on_disk, kill_at_channel, start_traced,
    windows_milliseconds)
from support.login import wait_until
from support.unattended import log_in, refresh, server_of

FULL = os.environ.get("PROVE") == "full"
STEP = 1 if FULL else 6
RANDOM_KILLS = 60
# How long the server holds back what it answers a refresh, to be seen to have acted before.
HELD_MILLISECONDS = 100
WINDOWS = 51
ROTATIONS = ("strict", "grace=600")[:2 if FULL else 1]
# What a caller is told of a failing call; SQLite has words of its own.
CAUSES = {"ENOSPC": ("disk is full", "disk I/O error", os.strerror(errno.ENOSPC)),
          "EIO": ("disk I/O error", os.strerror(errno.EIO))}
# With the caller, and with the HTTP process; that one with the agent, and with the server.
CHANNELS = {"recvfrom UNIX", "sendto UNIX", "write pipe", "read pipe",
            "read stdin", "write stdout", "connect TCP", "sendto TCP", "recvfrom TCP"}


@pytest.fixture(params=ROTATIONS)
def server(request, home):
    started = server_of(home, request.param)
    started.rotation = request.param
    try:
        home.agent.start()
        log_in(home, started)
        home.agent.stop()
        yield started
        home.agent.stop()
    finally:
        started.stop()


class Tally:
    """Kills, logins kept, logins lost; says what the server saw."""

    def __init__(self, home, server):
        self.home, self.server, self.kills, self.kept, self.lost, self.rotated = home, server, 0, 0, 0, 0

    def judge(self, place, mark, may_lose):
        """After the agent's death: restart it without faults and look whether the login is there."""
        seen = self.server.refreshes()[mark:]
        rotated = any(entry["status"] == 200 for entry in seen)
        self.kills += 1
        self.home.agent.start()
        if is_alive(self.home):
            self.kept += 1
        else:
            # It may act on what was sent before the kill while the agent starts.
            seen = self.server.refreshes()[mark:]
            rotated = any(entry["status"] == 200 for entry in seen)
            assert self.server.rotation == "strict", f"{place}: lost although the server allows a retry: {seen}"
            assert rotated, f"{place}: lost although the server had not rotated: {seen}"
            assert may_lose, f"{place}: lost although the answer was on disk, or none had come: {seen}"
            self.lost += 1
            log_in(self.home, self.server)
        self.rotated += rotated
        self.home.agent.stop()

    def report(self, what, record_property):
        text = (f"{self.server.rotation}, {what}: {self.kills} kills ({self.rotated} after the server had rotated), "
                f"{self.kept} logins kept, {self.lost} lost inside the window")
        print(text)
        record_property("crash", text)


def places(calls):
    """Every STEP-th call with its number in the refresh, the last one of all included."""
    numbered = list(enumerate(calls))
    return numbered[::STEP] + ([numbered[-1]] if (len(numbered) - 1) % STEP else [])


def test_kill_at_every_call_on_the_vault(home, server, record_property):
    calls, before = calls_of_one_refresh(home)
    assert before >= 5 and len(calls) - before >= 4, calls
    tally = Tally(home, server)
    for _, (call, number, file) in places(calls):
        mark = len(server.refreshes())
        trace = start_traced(
            home, "-e", "trace=recvfrom," + ",".join(VAULT_CALLS), "-e", f"inject={call}:signal=KILL:when={number}")
        result = refresh(home)
        # The last numbers may not be reached: how many pages a commit writes differs. Then the kill comes afterwards.
        home.agent.kill()
        assert home.agent.process.returncode == -signal.SIGKILL, (call, number, result)
        tally.judge(f"{call} {number} on {file}", mark, result.status != 0 and not is_answer_on_disk(trace))
    tally.report("kill at a call on the vault", record_property)
    assert tally.rotated > tally.lost, "some kills must come after the answer was saved"


def test_kill_at_every_call_on_a_pipe_or_a_socket(home, server, record_property):
    tally = Tally(home, server)
    result, _, calls = kill_at_channel(home)
    home.agent.stop()
    assert result.status == 0 and calls.keys() == CHANNELS, (result, calls)
    for kind, count in calls.items():
        for number in range(1, 1 + (count if FULL else 1)):
            mark = len(server.refreshes())
            result, trace, _ = kill_at_channel(home, kind, number)
            # How many reads an answer takes differs: the last one may not be there. Then the kill comes afterwards.
            home.agent.kill()
            tally.judge(f"{kind} {number}", mark, result.status != 0 and not is_answer_on_disk(trace))
    tally.report("kill after a call on a pipe or a socket", record_property)
    assert tally.rotated > tally.lost, "some kills must come after the answer was saved"
    assert tally.lost or server.rotation != "strict", "one comes after the answer has left the server"


@pytest.mark.prove
def test_kill_at_random_moments(home, server, record_property):
    """Between the server's answer and the caller's."""
    seed = int(os.environ.get("PROVE_SEED", time.time_ns() % 1_000_000))
    choose, tally = random.Random(seed), Tally(home, server)
    server.script(delay_ms={"token": HELD_MILLISECONDS})

    def acted():
        """When the server acts on the next refresh, which somebody asks for: (time, the thread, what it gets)."""
        mark, results = len(server.refreshes()), []
        caller = threading.Thread(target=lambda: results.append(refresh(home)))
        caller.start()
        seen = wait_until(lambda: server.refreshes()[mark:], 30, "the server sees the refresh")
        return seen[0]["time_ms"] / 1000, caller, results

    home.agent.start()
    took = []
    for _ in range(3):
        moment, caller, results = acted()
        caller.join()
        took.append(time.time() - moment)
        assert results[0].status == 0
    home.agent.stop()
    for number in range(RANDOM_KILLS):
        home.agent.start()
        mark = len(server.refreshes())
        moment, caller, results = acted()
        time.sleep(max(0, moment + choose.uniform(HELD_MILLISECONDS / 1000, sorted(took)[1]) - time.time()))
        home.agent.kill()
        caller.join()
        tally.judge(f"seed {seed}, round {number}", mark, results[0].status != 0)
    tally.report(f"kill at random moments between the server's answer and the caller's (seed {seed})", record_property)
    assert tally.rotated == RANDOM_KILLS


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_a_failing_disk_loses_nothing(home, server, error, record_property):
    """One call fails; then every call from there on, until the disk works again."""
    calls, _ = calls_of_one_refresh(home)
    failed = runs = lasted = 0
    for lasting in ("", "+"):
        for _, (call, number, file) in places(calls):
            runs += 1
            lasted += bool(lasting)
            mark = len(server.refreshes())
            start_traced(
                home, "-e", "trace=" + ",".join(VAULT_CALLS),
                "-e", f"inject={call}:error={error}:when={number}{lasting}")
            result = refresh(home)
            place = f"{call} {number}{lasting} on {file} fails with {error}"
            if result.status != 0:
                failed += 1
                assert (result.status, result.stdout) == (6, ""), f"{place}: {result}"
                assert "the vault could not be read or written" in result.stderr, f"{place}: {result}"
                assert any(cause in result.stderr for cause in CAUSES[error]), f"{place}: {result}"
            assert home.oauthctl("status", "--json").status == 0 and home.agent.is_running, place
            end_faults(home)
            new = wait_until(
                lambda: (it := refresh(home)).status in (0, 4) and it, 40, f"{place}: the agent goes on afterwards")
            assert new.status == 0, f"{place}: {new} {server.refreshes()[mark:]}"
            assert {entry["status"] for entry in server.refreshes()[mark:]} == {200}, place
            home.agent.stop()
    # `oauthctl` asks again after a fault that passes.
    assert failed > lasted / 2, "most of those that last cannot be hidden from the caller"
    text = f"{server.rotation}, {error}: {runs} faults, {failed} answered with a failure, no login lost"
    print(text)
    record_property("crash", text)


@pytest.mark.prove
def test_the_window(home, server, record_property):
    """How long, each refresh, a kill -9 loses a strict server's login: from the answer read to the end of its sync."""
    found = windows_milliseconds(home, WINDOWS)
    assert len(found) >= WINDOWS * 2 // 3
    text = f"{server.rotation}, {len(found)} refreshes under strace"
    for what, values in zip(("until the sync starts", "the sync itself", "both"), zip(*found)):
        values = sorted(values)
        text += (f"; {what}: median {values[len(values) // 2]:.1f} ms, p95 {values[len(values) * 95 // 100]:.1f}, "
                 f"most {values[-1]:.1f}")
    print(text)
    record_property("crash", text)
