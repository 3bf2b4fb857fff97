"""A wall clock that a test sets, for one agent: the machine's own stays."""

import shutil
import struct
import subprocess
from pathlib import Path


class Wall:
    """Built once in `folder`; whoever is started with `environment` reads it."""

    def __init__(self, folder):
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        assert compiler, "a C compiler is needed, as for the build"
        self.file, program = folder / "wall", folder / "wall.so"
        self.file.write_bytes(struct.pack("=q", 0))
        subprocess.run(
            [compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", Path(__file__).with_suffix(".c"), "-o", program],
            check=True)
        self.environment = {"LD_PRELOAD": str(program), "WALL_FILE": str(self.file)}

    def set(self, seconds):
        """Somebody sets the clock so many seconds ahead of the true time."""
        with open(self.file, "r+b") as file:
            file.write(struct.pack("=q", seconds))
