"""A wall clock that a test sets, for one agent: the machine's own stays."""

import struct
from pathlib import Path

from support.preload import preloaded


class Wall:
    """Built once in `folder`; whoever is started with `environment` reads it."""

    def __init__(self, folder):
        self.file = folder / "wall"
        self.file.write_bytes(struct.pack("=q", 0))
        self.environment = preloaded(Path(__file__).with_suffix(".c"), folder) | {"WALL_FILE": str(self.file)}

    def set(self, seconds):
        """Somebody sets the clock so many seconds ahead of the true time."""
        with open(self.file, "r+b") as file:
            file.write(struct.pack("=q", seconds))
