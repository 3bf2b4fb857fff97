"""One limit of the kernel's on a process and its children, where this system has the controller: in version 2 of the
cgroups, or in a hierarchy of version 1. A `systemd --user` that was given the controller does the same."""

import re
import secrets
from contextlib import suppress
from pathlib import Path

from support.login import wait_until

# The limit, and the most that there was, in each version.
FILES = {
    "pids": {2: ("pids.max", None), 1: ("pids.max", None)},
    "memory": {2: ("memory.max", "memory.peak"), 1: ("memory.limit_in_bytes", "memory.max_usage_in_bytes")}}
CONTROLLERS = tuple(FILES)


def find_v1(controller):
    """Where version 1 has it; None if nowhere."""
    mounts = re.findall(r"(?m)^\S+ (\S+) cgroup (\S+) ", Path("/proc/mounts").read_text())
    return next((Path(path) for path, options in mounts if controller in options.split(",")), None)


def find(controller):
    """(version, folder) of a controller's hierarchy, in which cgroups with it can be made."""
    if path := find_v1(controller):
        return 1, path
    path = Path(re.search(r"(?m)^\S+ (\S+) cgroup2 ", Path("/proc/mounts").read_text())[1])
    (path / "cgroup.subtree_control").write_text(f"+{controller}")
    return 2, path


class Limit:
    """Holds processes below `value`; `peak` is the most they had."""

    def __init__(self, controller, folder):
        self.version, _ = find(controller)
        self.limit, self.most = FILES[controller][self.version]
        self.folder = folder

    @classmethod
    def new(cls, controller, value):
        """In a cgroup of its own, for `with`; `add` processes to it."""
        made = cls(controller, find(controller)[1] / f"oauthctl-limit-{secrets.token_hex(6)}")
        made.folder.mkdir()
        made.set(value)
        return made

    def set(self, value):
        (self.folder / self.limit).write_text(str(value))

    @property
    def value(self):
        return int((self.folder / self.limit).read_text())

    @property
    def now(self):
        return int((self.folder / "pids.current").read_text())

    @property
    def peak(self):
        return int((self.folder / self.most).read_text())

    def add(self, process):
        (self.folder / "cgroup.procs").write_text(str(process))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        wait_until(self.is_removed, 30, "nobody is left in the cgroup")

    def is_removed(self):
        for process in (self.folder / "cgroup.procs").read_text().split():
            # A helper may have ended since.
            with suppress(ProcessLookupError):
                (self.folder.parent / "cgroup.procs").write_text(process)
        # One that is about to end is not listed any more.
        with suppress(OSError):
            self.folder.rmdir()
            return True
