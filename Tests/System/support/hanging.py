"""A folder on a file system that hangs: FUSE whose server greets the kernel and never says another word.

What asks it for anything waits in the kernel until the server is gone. A request that the server has taken keeps its
process over kill -9 too; here none is taken, so that a process ends unless it waits for its own thread.
"""

import ctypes
import os
import struct

import pytest

INIT, MNT_DETACH = 26, 2
REQUEST_HEAD, ANSWER_HEAD = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
# fuse_init_out of version 7.31: what follows the head of the answer to INIT.
INIT_ANSWER = struct.Struct("<IIIIHHIIHHI28x")

needs_fuse = pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="needs root and /dev/fuse, to mount what hangs")


class HangingFolder:
    """`path` hangs until `release`; then what was there before is there again. A context manager."""

    def __init__(self, path):
        self.path = os.fsencode(path)
        self.server = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        self.libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self.server},rootmode=40000,user_id=0,group_id=0,allow_other"
        if self.libc.mount(b"hanging", self.path, b"fuse", 0, options.encode()) != 0:
            error = OSError(ctypes.get_errno(), "mount", path)
            os.close(self.server)
            raise error
        self.greet()

    def greet(self):
        request = os.read(self.server, 1 << 16)
        _, kind, unique, *_ = REQUEST_HEAD.unpack_from(request)
        assert kind == INIT, kind
        body = INIT_ANSWER.pack(7, 31, 0, 0, 12, 9, 4096, 1, 0, 0, 0)
        os.write(self.server, ANSWER_HEAD.pack(ANSWER_HEAD.size + len(body), 0, unique) + body)

    def release(self):
        """Who waits there is told that it is gone."""
        if self.server is not None:
            os.close(self.server)
            self.server = None
            self.libc.umount2(self.path, MNT_DETACH)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()
