"""A person's home for one test: private folders, a clean environment, the programs, and the agent in it."""

import dataclasses
import os
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from support import processes
from support.wire import Wire

TESTS = Path(__file__).resolve().parent.parent
START_LIMIT_SECONDS = 60
# A stopping agent waits for refreshes in flight, at most a minute.
STOP_LIMIT_SECONDS = 70


@dataclasses.dataclass
class Result:
    """What a program did: exit status, stdout, stderr."""

    status: int
    stdout: str
    stderr: str

    @property
    def lines(self):
        return self.stdout.splitlines()


class Home:
    """`root` must be short: a socket path has room for 107 bytes."""

    def __init__(self, root, programs):
        self.root, self.programs = root, programs
        self.config, self.data, self.state = root / "config", root / "data", root / "state"
        self.runtime, self.temporary, self.bin = root / "run", root / "tmp", root / "bin"
        for folder in (self.config, self.data, self.state, self.runtime, self.temporary, self.bin):
            folder.mkdir(mode=0o700)
        self.socket = self.runtime / "oauthctl" / "agent.sock"
        self.browser_log = root / "browser.log"
        # Nothing is inherited but where the system's programs are: what a test sees is what it said.
        self.environment = {
            "HOME": str(root), "USER": "tester", "LOGNAME": "tester", "SHELL": "/bin/sh", "LANG": "C.UTF-8",
            "TERM": "dumb", "PATH": f"{programs}:{self.bin}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "TMPDIR": str(self.temporary), "XDG_CONFIG_HOME": str(self.config), "XDG_DATA_HOME": str(self.data),
            "XDG_STATE_HOME": str(self.state), "XDG_RUNTIME_DIR": str(self.runtime),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
        }
        # make sanitize
        self.environment |= {name: os.environ[name] for name in ("ASAN_OPTIONS", "TSAN_OPTIONS") if name in os.environ}
        self.agent = Agent(self)

    def shown(self, path):
        """The path as people are told of it."""
        return str(path).replace(f"{self.root}/", "~/", 1)

    def start(self, *command, environment=None, **options):
        """Start a program in this home and return its Popen; text streams, stdin closed unless asked for."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen(
            [str(part) for part in command], env={**self.environment, **(environment or {})}, cwd=self.root,
            text=True, **options)

    def run(self, *command, stdin=None, check=True, timeout=60, environment=None):
        """Run a program to its end. `check` makes a status other than 0 fail the test, with all that is known."""
        source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        process = self.start(*command, environment=environment, stdin=source)
        try:
            stdout, stderr = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            raise AssertionError(self.describe(command, f"no end within {timeout} s", stdout, stderr)) from None
        if check and process.returncode != 0:
            raise AssertionError(self.describe(command, f"status {process.returncode}", stdout, stderr))
        return Result(process.returncode, stdout, stderr)

    def oauthctl(self, *arguments, **options):
        return self.run(self.programs / "oauthctl", *arguments, **options)

    def use_browser(self, user=None, password=None, answer="allow", ca_file=None):
        """Make $BROWSER a person that logs in as `user` and answers the consent page with allow or deny."""
        values = {
            "WORLD_USER": user, "WORLD_PASSWORD": password, "WORLD_ANSWER": answer, "WORLD_CA": ca_file,
            "WORLD_BROWSER_LOG": self.browser_log,
        }
        settings = {name: str(value) for name, value in values.items() if value is not None}
        launcher = self.bin / "browser"
        launcher.write_text(
            f"#!{sys.executable}\nimport os, sys\nos.environ.update({settings!r})\n"
            f"sys.path.insert(0, {str(TESTS)!r})\nfrom world.browser import main\nmain()\n")
        launcher.chmod(0o700)
        self.environment["BROWSER"] = str(launcher)

    def describe(self, command, what, stdout, stderr):
        """A failure told whole: the command, its streams, what the agent and the browser wrote."""
        parts = [f"{shlex.join(map(str, command))}: {what}", f"stdout: {stdout}", f"stderr: {stderr}"]
        for log in (self.agent.log, self.browser_log):
            if log.exists():
                parts.append(f"{log.name}: {log.read_text(errors='replace')[-4000:]}")
        return "\n".join(parts)

    def files(self):
        """Every regular file below the home, for searches."""
        return [path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink()]


class Agent:
    """`oauthd` of a home, started by hand."""

    def __init__(self, home):
        self.home = home
        self.log = home.root / "agent.log"
        self.process = None

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def start(self, *arguments, environment=None, before=()):
        """Start the agent, by the program `before` if there is one, and wait until its socket accepts."""
        before_pid = self.process.pid if self.process else None
        with open(self.log, "a") as log:
            self.process = self.home.start(
                *before, self.home.programs / "oauthd", *arguments, environment=environment, stdout=log, stderr=log)
        processes.keep(self.process.pid)
        end = time.monotonic() + START_LIMIT_SECONDS
        while time.monotonic() < end and self.is_running:
            if accepts(self.home.socket, but=before_pid):
                return self
            time.sleep(0.01)
        what = f"status {self.process.poll()}" if not self.is_running else "does not listen"
        self.kill()
        raise AssertionError(self.home.describe(["oauthd"], what, "", ""))

    def stop(self):
        """SIGTERM and the exit status; an agent that does not end in time is a failure."""
        if self.process is None:
            return None
        self.process.terminate()
        try:
            return self.process.wait(STOP_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("oauthd did not end after SIGTERM") from None

    def kill(self):
        """kill -9."""
        if self.is_running:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def restart(self, *arguments, environment=None):
        self.stop()
        return self.start(*arguments, environment=environment)

    def connect(self):
        """A raw connection to the socket; a context manager."""
        return Wire(self.home.socket)


def accepts(path, but=None):
    """Whether a process other than `but` listens there: a helper that a killed agent had just forked holds that one's
    listener for a moment, and answers nobody."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(os.fspath(path))
        except OSError:
            return False
        listener, _, _ = struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return listener != but
