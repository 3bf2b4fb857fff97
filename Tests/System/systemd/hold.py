"""hold.py PID: stop the one thread of a process that runs the event loop, and no other, until the process ends."""

import ctypes
import os
import sys
from pathlib import Path

PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
threads = Path(f"/proc/{sys.argv[1]}/task").iterdir()
[loop] = [int(thread.name) for thread in threads if (thread / "comm").read_text().strip() == "serving"]
for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
    if libc.ptrace(request, loop, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
os.waitpid(loop, WALL)
print("held", flush=True)
while os.WIFSTOPPED(os.waitpid(loop, WALL)[1]):
    pass
