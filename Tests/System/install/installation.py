"""An installation below a prefix of its own."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


class Installation:
    """`make` in a home of its own; systemctl is pretended, and every call of it noted."""

    def __init__(self, home):
        self.home, self.prefix = home, home.root / ".local"
        self.calls = home.root / "calls"
        systemctl = home.bin / "systemctl"
        systemctl.write_text(f'#!/bin/sh\necho "$*" >>{self.calls}\n')
        systemctl.chmod(0o700)
        self.path = f"{home.bin}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

    def make(self, target, *variables, check=True, **environment):
        return self.home.run(
            "make", "-s", "-C", ROOT, target, f"OAUTHCTL_BIN={self.home.programs}", *variables, check=check,
            environment={"PATH": self.path, **environment}, timeout=120)


    @property
    def changes(self):
        """Calls of systemctl that do more than ask."""
        calls = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [call for call in calls if not re.search(r"^list-units |\bshow ", call)]


@pytest.fixture
def installation(home):
    del home.environment["XDG_DATA_HOME"]
    return Installation(home)


def tree(folder):
    """Every path below `folder` with its content, or where it leads."""
    return {
        path.relative_to(folder): os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
        for path in folder.rglob("*")}


def commands(text):
    return [line.strip() for line in text.splitlines() if line.startswith("  ")]
