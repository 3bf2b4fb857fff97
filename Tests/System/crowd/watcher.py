"""Watches an agent from a process of its own: how long it is silent to a caller, and to its service manager.

`python -m crowd.watcher SOCKET NOTIFY_SOCKET ACCOUNT`. Each line on standard input is answered by what was seen since
the one before, as JSON.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from support import processes

PAUSE_SECONDS = 0.02
# Half of it is the pause between two words of the agent.
WATCHDOG_SECONDS = 0.2
TESTS = Path(__file__).resolve().parent.parent


def request(account, is_canonical):
    """A question for a ready token: the loop answers the canonical line alone, the service every other one."""
    parameters = {"account": account, "min_validity_s": 0}
    if not is_canonical:
        parameters = dict(reversed(parameters.items()))
    line = {"jsonrpc": "2.0", "id": 1, "method": "token.get", "params": parameters}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


class Prober(threading.Thread):
    """One caller that asks every 20 ms; an agent that is not there is not silent."""

    def __init__(self, path, line):
        super().__init__(daemon=True)
        self.path, self.line, self.lock, self.going = path, line, threading.Lock(), threading.Event()
        self.going.set()
        self.reset(None)

    def reset(self, asked):
        self.seconds, self.gone, self.failures, self.late, self.asked = [], 0, 0, 0.0, asked

    def run(self):
        wire, due = None, time.monotonic()
        while True:
            self.going.wait()
            # A pause of the test or a slow answer is not made up for.
            due = max(due + PAUSE_SECONDS, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                wire = wire or connect(self.path)
                asked = time.monotonic()
                with self.lock:
                    self.asked, self.late = asked, max(self.late, asked - due)
                wire.sendall(self.line)
                answer = b""
                while not answer.endswith(b"\n"):
                    part = wire.recv(65536)
                    if not part:
                        raise ConnectionError
                    answer += part
                with self.lock:
                    self.seconds.append(time.monotonic() - asked)
                    self.failures += b'"access_token"' not in answer
                    self.asked = None
            except OSError:
                if wire:
                    wire.close()
                with self.lock:
                    wire, self.asked = None, None
                    self.gone += 1

    def report(self):
        with self.lock:
            # Who still waits has waited so long at least.
            times = sorted(self.seconds + ([time.monotonic() - self.asked] if self.asked else []))
            found = {
                "asked": len(times), "failures": self.failures, "gone": self.gone, "late": self.late,
                "p50": share(times, .5), "p99": share(times, .99), "most": share(times, 1)}
            self.reset(self.asked)
        return found


class Manager(threading.Thread):
    """Hears the words to the watchdog, as systemd does."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.lock, self.last, self.words, self.longest = threading.Lock(), None, 0, 0.0

    def run(self):
        while True:
            words = self.socket.recv(4096).split(b"\n")
            now = time.monotonic()
            with self.lock:
                if b"READY=1" in words:
                    # A new agent; what lies before is not its silence.
                    self.last = None
                if b"WATCHDOG=1" in words:
                    self.words += 1
                    self.longest = max(self.longest, now - (self.last or now))
                    self.last = now

    def report(self):
        with self.lock:
            longest = max(self.longest, time.monotonic() - self.last if self.last else 0.0)
            found = {"words": self.words, "gap": max(0.0, longest - WATCHDOG_SECONDS / 2)}
            self.words, self.longest = 0, 0.0
        return found

    def forget(self):
        with self.lock:
            self.last = None


def connect(path):
    made = socket.socket(socket.AF_UNIX)
    made.connect(path)
    return made


def share(values, part):
    return values[min(len(values) - 1, int(len(values) * part))] if values else 0.0


class Watcher:
    """The process, as the test has it."""

    def __init__(self, home, account):
        self.notify = home.runtime / "notify"
        self.notify.unlink(missing_ok=True)
        self.environment = {
            "NOTIFY_SOCKET": str(self.notify), "WATCHDOG_USEC": str(int(WATCHDOG_SECONDS * 1e6))}
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-m", "crowd.watcher", str(home.socket), str(self.notify), account], cwd=TESTS,
            env={"PATH": os.environ["PATH"]}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes.keep(self.process.pid)
        self.window()

    def window(self, word="window"):
        """What was seen since the last time: of `hot` and `service` questions, and of the `manager`."""
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def forget(self):
        """The agent is being ended: the pause until the next one's first word is not its silence."""
        self.process.stdin.write("forget\n")
        self.process.stdin.flush()

    @contextlib.contextmanager
    def quiet(self):
        """While inside, nobody asks."""
        self.window("pause")
        yield
        self.window("go on")

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


def main(path, notify, account):
    manager = Manager(notify)
    hot, service = (Prober(path, request(account, is_canonical)) for is_canonical in (True, False))
    for thread in (manager, hot, service):
        thread.start()
    for line in sys.stdin:
        match line.strip():
            case "forget":
                manager.forget()
                continue
            case "pause":
                hot.going.clear()
                service.going.clear()
            case "go on":
                hot.going.set()
                service.going.set()
        print(json.dumps({"hot": hot.report(), "service": service.report(), "manager": manager.report()}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
