"""No process outlives its test, not even one that detached itself."""

import contextlib
import ctypes
import os
import signal
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
kept = set()


def adopt_orphans():
    """From now on a process whose parent ends becomes our child, so that it can be found and ended."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def keep(pid):
    """`end_orphans` leaves this child alone: who started it also ends it."""
    kept.add((pid, began(pid)))


def began(pid):
    """When a process began, in the kernel's ticks: a number is given out again after its process has gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def children(of="self", named=None):
    """Our children, or those of another process, from the kernel's own list; of one program, where it is named."""
    found = set()
    for task in Path(f"/proc/{of}/task").iterdir():
        # A thread may have ended since.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.update(int(pid) for pid in (task / "children").read_text().split())
    return {pid for pid in found if named in (None, name_of(pid))}


def name_of(pid):
    """The program that a process runs, 15 letters of it; nothing when it has gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/comm").read_text().strip()


def descendants():
    """What we started, and what that started: not the processes of other users and other runs of the tests."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                parents[int(name)] = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
    found, new = set(), {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new}
        found |= new
    return found


def stop(*pids):
    """SIGSTOP, and wait until no thread of these processes runs: the signal reaches each of them in its own time.

    One that has ended runs no more either.
    """
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + 20
    while not all(is_stopped(pid) for pid in pids):
        assert time.monotonic() < end, f"{pids} do not stop"
        time.sleep(0.005)


@contextlib.contextmanager
def stopped(*pids):
    """While inside, no thread of these processes runs."""
    try:
        stop(*pids)
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def state_of(pid):
    """The kernel's letter for what a process does: S sleeps, T is stopped; nothing when it has gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def is_stopped(pid):
    try:
        states = {stat.read_text().rpartition(")")[2].split()[0] for stat in Path(f"/proc/{pid}/task").glob("*/stat")}
    except (FileNotFoundError, ProcessLookupError):
        return False  # A thread has just ended.
    return states <= {"T", "Z", "X"}


def orphans():
    return {pid for pid in children() if (pid, began(pid)) not in kept}


def end_orphans(before, seconds=10):
    """End and reap every child that is neither in `before` nor kept: SIGTERM, then SIGKILL."""
    for sign, limit in ((signal.SIGTERM, seconds), (signal.SIGKILL, seconds)):
        # A child that ends can leave us its own children: look again until there is none.
        end = time.monotonic() + limit
        signalled = set()
        while (left := orphans() - before) and time.monotonic() < end:
            for pid in left:
                if pid not in signalled:
                    signalled.add(pid)
                    os.kill(pid, sign)
                os.waitpid(pid, os.WNOHANG)
            time.sleep(0.01)
        if not left:
            return
    raise AssertionError(f"processes that do not end: {left}")
