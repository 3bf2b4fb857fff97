"""An agent under strace, which kills it or fails its calls at chosen places; and the login that must outlive that."""

import collections
import contextlib
import os
import re
import shutil
import signal
import time
from pathlib import Path

import pytest

from support import processes
from support.home import START_LIMIT_SECONDS, Result, accepts
from support.login import wait_until
from support.unattended import refresh

# What changes files.
VAULT_CALLS = ("pwrite64", "fdatasync", "fsync", "ftruncate", "rename", "renameat2")
# What is said and heard.
CHANNEL_CALLS = (
    "connect", "read", "readv", "recvfrom", "recvmsg", "write", "writev", "sendto", "sendmsg")
ON_CHANNEL = re.compile(r"(\w+)\((\d+)<(pipe|UNIX|TCP)")
ENDS = {"0": "stdin", "1": "stdout"}
LINE = re.compile(r"(\d+) +(\d+\.\d+) (\w+)\((.*)")
# What the HTTP process hears of a server; the agent hears its callers by the same call.
FROM_SERVER = re.compile(r"\d+ +(\d+\.\d+) recvfrom\(\d+<TCP")


def strace(home, *options):
    """(the trace's file, the command)."""
    if os.geteuid() != 0:
        pytest.skip("needs root: to nobody else the kernel tells the files of an agent that no one may look into")
    trace = home.root / "trace"
    trace.unlink(missing_ok=True)
    program = shutil.which("strace")
    assert program, "strace is needed: apt-get install strace"
    return trace, (program, "-f", "-qq", "-ttt", "-o", trace, *options)


def start_traced(home, *options):
    """Start the home's agent as strace's tracee and our child; returns when its socket accepts, or it is dead."""
    trace, command = strace(home, "-D", "-I", "2", "-yy", *options)
    with open(home.agent.log, "a") as log:
        home.agent.process = home.start(*command, home.programs / "oauthd", stdout=log, stderr=log)
    processes.keep(home.agent.process.pid)
    end = time.monotonic() + START_LIMIT_SECONDS
    while home.agent.is_running and not accepts(home.socket):
        assert time.monotonic() < end, home.describe(["oauthd"], "does not listen under strace", "", "")
        time.sleep(0.005)
    return trace


def has_every_thread(process):
    """Whether strace traces the whole process."""
    try:
        return all("TracerPid:\t0\n" not in (thread / "status").read_text()
                   for thread in Path(f"/proc/{process}/task").iterdir())
    except OSError:
        return False  # A thread has ended meanwhile.


@contextlib.contextmanager
def faults(home, path, call, fault):
    """Inside, strace injects `fault` into the running agent's calls of this name that are about `path`."""
    process = home.agent.process.pid
    trace, command = strace(home, "-P", path, "-e", f"trace={call}", "-e", f"inject={call}:{fault}", "-p", process)
    tracer = home.start(*command)
    wait_until(lambda: has_every_thread(process), 10, "strace has every thread")
    try:
        yield trace
    finally:
        tracer.terminate()
        tracer.communicate()
    was_met = re.search("INJECTED|DELAYED", trace.read_text())
    assert was_met or not home.agent.is_running, f"no {call} of {path} has failed"


def end_faults(home):
    """Detach strace, so that from here on every call succeeds."""
    status = Path(f"/proc/{home.agent.process.pid}/status").read_text()
    tracer = int(re.search(r"TracerPid:\t(\d+)", status).group(1))
    if tracer:
        os.kill(tracer, signal.SIGTERM)
        wait_until(lambda: "TracerPid:\t0\n" in Path(f"/proc/{home.agent.process.pid}/status").read_text(), 10,
                   "strace lets go")


def calls_of(trace, home, wanted=VAULT_CALLS):
    """[(time, call, number in its thread, path part, thread)] of calls that touch the home's vault or its counter."""
    counts, found = {}, []
    folders = (f"<{home.data}/oauthctl", f"<{home.state}/oauthctl")
    for line in trace.read_text(errors="replace").splitlines():
        if not (match := LINE.match(line)):
            continue
        thread, moment, call, rest = match.groups()
        counts[thread, call] = number = counts.get((thread, call), 0) + 1
        if call in wanted and any(folder in rest for folder in folders):
            file = re.search(r"<([^>]*)>", rest).group(1).rsplit("/", 1)[-1]
            found.append((float(moment), call, number, file, thread))
    return found


def calls_of_one_refresh(home):
    """The calls of a refresh that nothing disturbs: [(call, number, file)], and how many of them save the intent."""
    for _ in range(20):
        trace = start_traced(home, "-e", "trace=" + ",".join(VAULT_CALLS) + ",recvfrom,write")
        home.oauthctl("get-token", "work")
        mark = time.time()
        refresh(home, check=True)
        until = time.time()
        answered = [float(m.group(1)) for m in map(FROM_SERVER.match, trace.read_text(errors="replace").splitlines())
                    if m and float(m.group(1)) > mark]
        home.agent.stop()
        every = calls_of(trace, home)
        # strace counts by thread, and the queue that writes the vault may be served by another one after a pause.
        if len({thread for *_, thread in every}) == 1:
            calls = [item for item in every if mark < item[0] < until]
            return [item[1:4] for item in calls], sum(1 for item in calls if item[0] < answered[0])
    raise AssertionError(f"no refresh was saved by one thread alone; the last one: {every}")


def is_answer_on_disk(trace):
    """Whether the trace of a killed agent shows a completed sync of the vault after the server's answer came."""
    received = False
    for line in trace.read_text(errors="replace").splitlines():
        if FROM_SERVER.match(line):
            received = True
        elif received and "fdatasync" in line and line.endswith("= 0") and (
                "vault.db-wal" in line or "resumed" in line):
            return True
    return False


def windows_milliseconds(home, rounds):
    """[(until its sync starts, the sync itself, both)] of `rounds` refreshes, from the answer read by the agent.

    Measured without faults, by an strace that sees only the few calls that bound it; its cost is inside the figure.
    """
    found = []
    trace = None
    for number in range(rounds):
        # A rejection budget holds back more than three forced refreshes in a row, so each has an agent of its own.
        if number % 3 == 0:
            home.agent.stop()
            trace = start_traced(home, "-T", "-e", "trace=read,fdatasync")
        mark = time.time()
        refresh(home, check=True)
        read = started = None
        for line in trace.read_text(errors="replace").splitlines():
            thread, moment, rest = line.split(None, 2)
            moment = float(moment)
            if moment < mark:
                continue
            if rest.startswith("read(") and "pipe:" in rest:
                read = moment
            # The first commit after the answer was read; its end may stand on a line of its own.
            elif read and rest.startswith("fdatasync(") and "vault.db-wal" in rest:
                started = thread, moment
            if started and thread == started[0] and (took := re.search(r" = 0 <([\d.]+)>$", rest)):
                found.append([1000 * part for part in (started[1] - read, float(took[1]),
                                                       started[1] - read + float(took[1]))])
                break
    home.agent.stop()
    return found


def is_alive(home):
    """Whether the login is there: tokens are given, and a refresh gives a new one. Otherwise the login is asked for."""
    result = home.oauthctl("get-token", "work", check=False)
    if result.status == 0:
        result = wait_until(lambda: (it := refresh(home)).status in (0, 4) and it, 30, "a refresh or its refusal")
    assert result.status in (0, 4), home.describe(
        ["get-token"], f"status {result.status}", result.stdout, result.stderr)
    return result.status == 0


def kill_at_channel(home, kind=None, number=1):
    """A refresh, and kill -9 of the agent after the `number`-th call of this kind on a pipe or a socket.

    Each call, of the agent and its HTTP process, is followed by a stop, and goes on from there. Returns what the caller
    got, the trace, and how many calls there were before it ended: {kind: count}. A kind is "write pipe", or "write
    stdout" for the HTTP process's end of it.
    """
    home.agent.start()
    home.oauthctl("get-token", "work")
    process, calls = home.agent.process.pid, ",".join(CHANNEL_CALLS)
    trace, command = strace(
        home, "-yy", "-e", f"trace=fdatasync,{calls}", "-e", f"inject={calls}:signal=STOP", "-p", process)
    tracer = home.start(*command)
    wait_until(lambda: has_every_thread(process), 10, "strace has every thread")
    caller = home.start(home.programs / "oauthctl", "get-token", "work", "--force")
    seen, last, counts = 0, {}, collections.Counter()

    def count(thread):
        if call := ON_CHANNEL.match(last.pop(thread, "")):
            name, descriptor, channel = call.groups()
            this = f"{name} {ENDS.get(descriptor, channel)}"
            counts[this] += 1
            if (this, counts[this]) == (kind, number):
                home.agent.kill()

    def follow():
        nonlocal seen
        lines = trace.read_text(errors="replace").split("\n")[seen:-1]
        seen += len(lines)
        for thread, _, what in (line.split(None, 2) for line in lines):
            if LINE.match(f"{thread} 0.0 {what}"):
                # Another thread's going on takes away a stop that had not come yet: then the call counts with the next.
                count(thread)
                last[thread] = what
            elif what.startswith("--- SIGSTOP {"):
                count(thread)
                go_on(thread)

    while home.agent.is_running and caller.poll() is None:
        follow()
        time.sleep(0.002)
    # The stop behind the call that gave the answer is told after the caller may have ended.
    quiet = 0
    while quiet < 20:
        before = seen
        follow()
        quiet = 0 if seen > before else quiet + 1
        time.sleep(0.005)
    tracer.terminate()
    tracer.communicate()
    # A caller may have its answer, and have ended, before the call that gave it is told.
    follow()
    for thread in list(last):
        count(thread)
    # The last call may be stopped still, and an HTTP process that is does not notice that its agent has died.
    for left in processes.orphans() | {process} & processes.children():
        go_on(left)
    stdout, stderr = caller.communicate(timeout=60)
    return Result(caller.returncode, stdout, stderr), trace, counts


def go_on(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(process), signal.SIGCONT)
