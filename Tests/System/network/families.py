"""Starts a program that gets sockets of those families alone that the unit allows (RestrictAddressFamilies=).

    python families.py PROGRAM [ARGUMENT…]
"""

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06  # linux/filter.h
ALLOW, ERRNO = 0x7FFF0000, 0x00050000  # linux/seccomp.h
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2  # linux/prctl.h
SOCKET_CALL = {"x86_64": 41, "aarch64": 198}
FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)


def instructions():
    yield LOAD, 0, 0, 0  # the number of the call
    yield JUMP_EQUAL, 0, len(FAMILIES) + 2, SOCKET_CALL[platform.machine()]
    yield LOAD, 0, 0, 16  # its first argument
    for place, family in enumerate(FAMILIES):
        yield JUMP_EQUAL, len(FAMILIES) - place, 0, family
    yield RETURN, 0, 0, ERRNO | errno.EAFNOSUPPORT
    yield RETURN, 0, 0, ALLOW


code = b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions())
rules = ctypes.create_string_buffer(code, len(code))
program = struct.pack("@HP", len(code) // 8, ctypes.addressof(rules))
library = ctypes.CDLL(None, use_errno=True)
for call in ((NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SECCOMP, FILTER, program, 0, 0)):
    if library.prctl(*call) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[1], sys.argv[1:])
