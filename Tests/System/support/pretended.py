"""A pretended Debian system, for the scripts that install packages: what they ask for, not what apt does."""

import shutil
import subprocess
from pathlib import Path

SETUP = Path(__file__).resolve().parent.parent.parent / "Setup"


class System:
    """A PATH of pretended programs with `packages` installed. Each call of apt-get and sudo is noted in `calls`."""

    def __init__(self, root, packages):
        self.root, self.bin, self.packages = root, root / "bin", packages
        self.bin.mkdir()
        self.log = root / "calls"
        self.installed = root / "installed"
        self.without()
        for name in ("sh", "env", "dirname", "sed", "head", "grep", "printf", "cat", "chmod", "rm"):
            (self.bin / name).symlink_to(shutil.which(name))
        for name in ("git", "make"):
            self.program(name, "exit 0")
        self.program("python3", "exit 0")
        self.program("swift", 'echo "Swift version 6.3.1 (swift-6.3.1-RELEASE)"')
        self.program("id", "echo 0")
        self.program("dpkg-query", f'for last do :; done; grep -qx "$last" {self.installed} && echo installed')
        self.program("apt-get", f'echo "apt-get $DEBIAN_FRONTEND $*" >>{self.log}')

    def program(self, name, body):
        file = self.bin / name
        file.unlink(missing_ok=True)
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def without(self, *packages):
        self.installed.write_text("\n".join(self.packages - set(packages)) + "\n")

    def run(self, script, *arguments, **environment):
        """`Tests/Setup/SCRIPT` on this system."""
        return subprocess.run(
            [shutil.which("sh"), SETUP / script, *arguments], env={"PATH": str(self.bin), **environment},
            capture_output=True, text=True, stdin=subprocess.DEVNULL)

    @property
    def calls(self):
        return self.log.read_text().splitlines() if self.log.exists() else []
