"""A booted systemd to test in, where this machine's own may be another or none: PID 1, logind, and a manager a user."""

import itertools
import os
import re
import secrets
import shutil
import subprocess
import time
from pathlib import Path

from support import processes
from support.home import Result
from support.login import wait_until
from systemd.limits import find, find_v1

ROOT = Path(__file__).resolve().parent.parent.parent.parent
UNITS = ROOT / "systemd"
BIN = "/usr/local/bin"
UNIT_FOLDER = "usr/local/lib/systemd/user"
USERS = 48
FIRST_UID = 61_000
NEEDED = {
    "/lib/systemd/systemd": "systemd", "/lib/systemd/systemd-logind": "systemd", "/usr/bin/dbus-daemon": "dbus",
    "/usr/bin/kill": "procps", "/usr/bin/python3": "python3",
}
SESSIONS = "security/pam_systemd.so"

TARGET = """
[Unit]
Requires=basic.target dbus.socket systemd-logind.service systemd-journald.service
After=basic.target dbus.socket systemd-logind.service systemd-journald.service
"""

# In version 2 of the cgroups `Delegate=` does this. In version 1, systemd gives ordinary users no controller.
DELEGATE = """
[Service]
ExecStartPre=+sh -c 'for each in {controllers}; do \\
  folder=/sys/fs/cgroup/$$each/user.slice/user-%i.slice/user@%i.service; mkdir -p $$folder; chown -R %i $$folder; done'
"""


def missing():
    """What a machine needs and is not here; empty when it can be booted."""
    if os.geteuid() != 0:
        return "root, to boot a copy of this system in namespaces"
    packages = {package for file, package in NEEDED.items() if not os.path.exists(file)}
    if not list(Path("/usr/lib").glob(f"*/{SESSIONS}")):
        packages.add("libpam-systemd")
    return f"the Debian packages {' '.join(sorted(packages))}" if packages else ""


def unit(name):
    """A unit file of the package, as an installation writes it."""
    return (UNITS / name).read_text().replace("@BINDIR@", BIN)


def of_unit(key):
    """A number of oauthd.service; of bytes, if it says so."""
    value = re.search(rf"(?m)^{key}=(\d+)(M?)$", unit("oauthd.service"))
    return int(value[1]) << (20 if value[2] else 0)


class Machine:
    """Boots in about two seconds. Whatever runs inside ends with `stop`; nothing outside is changed."""

    def __init__(self, folder, programs, controllers=()):
        self.folder = folder
        self.numbers = itertools.count(0)
        self.lay_out(programs)
        self.mounted = None
        self.make_cgroups(controllers)
        self.log = folder / "boot.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [Path(__file__).parent / "boot", folder], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        processes.keep(self.process.pid)
        try:
            self.pid = wait_until(self.find_first_process, 20, "a first process")
            wait_until(self.is_up, 60, "the system is up")
        except Exception as error:
            report = self.log.read_text()
            self.stop()
            raise RuntimeError(f"the machine did not boot:\n{report}") from error

    def lay_out(self, programs):
        """What is laid over the copy: programs, units, users, the folders of the tests."""
        root = self.folder / "root"
        for name in ("etc/systemd/system", BIN[1:], UNIT_FOLDER, "srv/open", "srv/tests"):
            (root / name).mkdir(parents=True)
        (root / "srv/open").chmod(0o1777)
        (root / "etc/systemd/system/machine.target").write_text(TARGET)
        for name in ("oauthctl", "oauthd", "oauthd-fetch", "oauthd-redirect"):
            shutil.copy(programs / name, root / BIN[1:] / name)
            (root / BIN[1:] / name).chmod(0o755)
        for name in ("oauthd.socket", "oauthd.service"):
            (root / UNIT_FOLDER / name).write_text(unit(name))
        # Ten seconds by default, in which a slow machine may not get through a test's crashes.
        limit = root / "etc/systemd/user.conf.d/start-limit.conf"
        limit.parent.mkdir()
        limit.write_text("[Manager]\nDefaultStartLimitIntervalSec=1h\n")
        for name in ("talk.py", "probe.py", "hold.py", "burden.py"):
            shutil.copy(Path(__file__).parent / name, root / "srv/tests" / name)
            (root / "srv/tests" / name).chmod(0o644)
        entries = {name: Path("/etc", name).read_text() for name in ("passwd", "group", "shadow")}
        for number in range(USERS):
            name, uid = f"t{number}", FIRST_UID + number
            entries["passwd"] += f"{name}:x:{uid}:{uid}::/home/{name}:/bin/sh\n"
            entries["group"] += f"{name}:x:{uid}:\n"
            entries["shadow"] += f"{name}:*:1::::::\n"
            home = root / "home" / name
            home.mkdir(parents=True, mode=0o700)
            os.chown(home, uid, uid)
        for name, text in entries.items():
            (root / "etc" / name).write_text(text)
            (root / "etc" / name).chmod(0o640 if name == "shadow" else 0o644)

    def make_cgroups(self, controllers):
        """Cgroups of its own: a cgroup namespace has those of its first process for its roots."""
        found = re.search(r"^\S+ (\S+) cgroup2 ", Path("/proc/mounts").read_text(), re.MULTILINE)
        base = Path(found[1]) if found else self.folder / "cgroups"
        if not found:
            base.mkdir()
            subprocess.run(["mount", "-t", "cgroup2", "none", base], check=True)
            self.mounted = base
        found = {controller: find(controller) for controller in controllers}
        legacy = {controller: path for controller, (version, path) in found.items() if version == 1}
        bases = [base, *legacy.values()]
        if legacy and (named := find_v1("name=systemd")):
            bases.append(named)
        # Another run, in a container, may have our process id.
        name = f"oauthctl-test-{secrets.token_hex(6)}"
        self.cgroups = [path / name for path in bases]
        for path in self.cgroups:
            path.mkdir()
        for name, lines in {"cgroups": self.cgroups, "controllers": legacy}.items():
            (self.folder / name).write_text("".join(f"{line}\n" for line in lines))
        if legacy:
            drop_in = self.folder / "root/etc/systemd/system/user@.service.d/delegate.conf"
            drop_in.parent.mkdir()
            drop_in.write_text(DELEGATE.format(controllers=" ".join(legacy)))

    def find_first_process(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"boot ended with status {self.process.returncode}")
        # Before it is unshare, it is a shell with children of other kinds.
        if Path(f"/proc/{self.process.pid}/comm").read_text() != "unshare\n":
            return None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def is_up(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"boot ended with status {self.process.returncode}")
        if Path(f"/proc/{self.pid}/comm").read_text() != "systemd\n":
            return False
        return self.run("systemctl", "is-active", "machine.target", check=False).stdout.strip() == "active"

    def path(self, path):
        """A path inside as root outside reaches it."""
        return Path(f"/proc/{self.pid}/root") / str(path).lstrip("/")

    def cgroup(self, pid, controller):
        """Folder of a process's cgroup; all three as they are inside."""
        version, _ = find(controller)
        hierarchy = controller if version == 1 else ""
        groups = self.run("cat", f"/proc/{pid}/cgroup").stdout
        return Path("/sys/fs/cgroup", hierarchy, re.search(rf"(?m)^\d+:{hierarchy}:/(.*)$", groups)[1])

    def start(self, *command, prefix=(), **options):
        """A process inside, as root unless `prefix` makes it another's."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        enter = ["nsenter", "-t", str(self.pid), "-m", "-p", "-i", "-u", "-C", "--"]
        prefix = prefix or ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        return subprocess.Popen([*enter, *prefix, *map(str, command)], text=True, **options)

    def run(self, *command, prefix=(), check=True, timeout=60):
        process = self.start(*command, prefix=prefix)
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"{command}: no end within {timeout} s") from None
        result = Result(process.returncode, stdout, stderr)
        assert not check or result.status == 0, f"{command}: {result}\n{self.journal()}"
        return result

    def journal(self, *arguments):
        return self.run("journalctl", "--no-pager", "-n", "60", *arguments, check=False).stdout

    def new_user(self):
        return User(self, next(self.numbers))

    def stop(self):
        self.process.kill()
        self.process.wait()
        end = time.monotonic() + 10
        while (left := [path for path in self.cgroups if path.exists()]) and time.monotonic() < end:
            for folder in (folder for path in left for folder, _, _ in os.walk(path, topdown=False)):
                try:
                    os.rmdir(folder)
                except OSError:
                    time.sleep(0.02)
        if self.mounted:
            subprocess.run(["umount", self.mounted], check=True)


class User:
    """A user of the machine, with a service manager and a home of their own."""

    def __init__(self, machine, number):
        self.machine = machine
        self.name, self.uid = f"t{number}", FIRST_UID + number
        self.home, self.runtime = Path("/home") / self.name, Path("/run/user") / str(self.uid)
        self.socket = self.runtime / "oauthctl/agent.sock"
        self.environment = {
            "HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": "/bin/sh", "LANG": "C.UTF-8",
            "TERM": "dumb", "PATH": f"{BIN}:/usr/bin:/bin", "XDG_RUNTIME_DIR": self.runtime,
            "BROWSER": self.home / "browser",
        }
        machine.run("systemctl", "start", f"user@{self.uid}.service")

    def prefix(self):
        who = ["setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups"]
        return [*who, "env", "-i", "-C", self.home, *(f"{name}={value}" for name, value in self.environment.items())]

    def start(self, *command, **options):
        return self.machine.start(*command, prefix=self.prefix(), **options)

    def run(self, *command, **options):
        return self.machine.run(*command, prefix=self.prefix(), **options)

    def oauthctl(self, *arguments, **options):
        return self.run(f"{BIN}/oauthctl", *arguments, **options)

    def systemctl(self, *arguments, **options):
        return self.run("systemctl", "--user", *arguments, **options)

    def show(self, name, unit="oauthd.service"):
        return self.systemctl("show", "--value", "-p", name, unit).stdout.strip()

    @property
    def agent(self):
        """PID of the agent, inside; 0 when it does not run."""
        return int(self.show("MainPID"))

    def kill(self, signal="KILL", pid=None):
        self.machine.run("kill", f"-{signal}", str(pid or self.agent))

    def path(self, path=""):
        """A path below the home, as root outside reaches it."""
        return self.machine.path(self.home / path)

    def write(self, path, text, mode=0o600):
        """A file of the user's below the home."""
        missing = [folder for folder in Path(path).parents if not self.path(folder).exists()]
        for folder in reversed(missing):
            self.path(folder).mkdir(mode=0o700)
            os.chown(self.path(folder), self.uid, self.uid)
        self.path(path).write_text(text)
        self.path(path).chmod(mode)
        os.chown(self.path(path), self.uid, self.uid)

    def set_unit(self, name, text, unit="oauthd.service"):
        """A drop-in of the user's own."""
        self.write(f".config/systemd/user/{unit}.d/{name}.conf", text)
        self.systemctl("daemon-reload")

    def log_in(self, server, name="work"):
        self.write("browser", '#!/bin/sh\nexec curl -sSL -o /dev/null "$1"\n', 0o700)
        self.oauthctl("login", name, server.issuer, "--client-id", "dev")

    def stop(self):
        self.machine.run("systemctl", "stop", f"user@{self.uid}.service")
