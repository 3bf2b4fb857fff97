"""burden.py GROUP tasks|memory: as root, in the cgroup of this folder, take more and more until it is refused.

Prints what it has: tasks, and the error that ended it; or MiB that stay in memory, a line for each piece.
"""

import errno
import mmap
import os
import signal
import sys
from pathlib import Path

MAP_LOCKED = 0x2000
MOST_TASKS, MOST_MIB, PIECE_MIB = 2_000, 2_048, 16

group, what = sys.argv[1:]
Path(group, "cgroup.procs").write_text(str(os.getpid()))
if what == "memory":
    pieces = []
    while (had := len(pieces) * PIECE_MIB) < MOST_MIB:
        print(had, flush=True)
        pieces.append(mmap.mmap(-1, PIECE_MIB << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_LOCKED))
else:
    children, refused = [], None
    while not refused and len(children) < MOST_TASKS:
        try:
            if child := os.fork():
                children.append(child)
            else:
                signal.pause()
        except OSError as error:
            refused = errno.errorcode[error.errno]
    print(len(children) + 1, refused, flush=True)
    sys.stdin.readline()
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
