"""One limit of the kernel's on a process and its children, where this system has the controller: in version 2 of the
cgroups, or in a hierarchy of version 1. A `systemd --user` that was given the controller does the same."""

import os
import re
from contextlib import suppress
from pathlib import Path


class Limit:
    """Holds processes below `value`; `peak` is the most they had."""

    FILES = {
        "pids": {2: ("pids.max", None), 1: ("pids.max", None)},
        "memory": {2: ("memory.max", "memory.peak"), 1: ("memory.limit_in_bytes", "memory.max_usage_in_bytes")}}

    def __init__(self, controller, value):
        self.version, base = self.find(controller)
        self.limit, self.most = self.FILES[controller][self.version]
        self.folder = base / f"oauthctl-limit-{os.getpid()}"
        self.folder.mkdir()
        self.set(value)

    @staticmethod
    def find(controller):
        mounts = Path("/proc/mounts").read_text()
        for path, options in re.findall(r"(?m)^\S+ (\S+) cgroup (\S+) ", mounts):
            if controller in options.split(","):
                return 1, Path(path)
        path = Path(re.search(r"(?m)^\S+ (\S+) cgroup2 ", mounts)[1])
        (path / "cgroup.subtree_control").write_text(f"+{controller}")
        return 2, path

    def set(self, value):
        (self.folder / self.limit).write_text(str(value))

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
        for process in (self.folder / "cgroup.procs").read_text().split():
            # A helper may have ended since.
            with suppress(ProcessLookupError):
                (self.folder.parent / "cgroup.procs").write_text(process)
        self.folder.rmdir()
