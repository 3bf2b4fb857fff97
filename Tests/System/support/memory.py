"""Secrets in the memory of another process: whole copies of them, and pieces. Takes root."""

import collections
import ctypes
import mmap
import os
import re
import subprocess
import tempfile

from support import processes

# Shorter runs of a secret are not counted.
PIECE_BYTES = 32
# Any piece holds one of these grams whole: they begin at every GRAM_STRIDE-th byte of a secret.
GRAM_BYTES, GRAM_STRIDE = 8, 24
CHUNK = 1 << 20

# `length` bytes of `secret` in a row, at `address` in a mapping named `region`.
Found = collections.namedtuple("Found", "kind secret length region address")


class Dump:
    """What a process could write to, and everything without a file, while it stands still."""

    def __init__(self, pid, folder):
        self.file = tempfile.TemporaryFile(dir=folder)
        self.regions = []
        with processes.stopped(pid), open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for line in maps:
                self.take(line.split(), memory)
        self.file.flush()
        self.bytes = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)

    def take(self, fields, memory):
        name = fields[5] if len(fields) > 5 else "anonymous"
        if "r" not in fields[1] or name.startswith("[v") or (name.startswith("/") and "w" not in fields[1]):
            return
        start, end = (int(part, 16) for part in fields[0].split("-"))
        for at in range(start, end, CHUNK):
            data = os.pread(memory.fileno(), min(CHUNK, end - at), at)
            if data.count(0) < len(data):
                self.regions.append((self.file.tell(), at, name))
                self.file.write(data)

    def found(self, kind, secret, length, offset):
        start, address, name = [region for region in self.regions if region[0] <= offset][-1]
        return Found(kind, secret, length, name, address + offset - start)

    def close(self):
        self.bytes.close()
        self.file.close()


def find(dump, secrets):
    """A `Found` for each run of PIECE_BYTES or more of a secret, and for each whole one. `secrets`: {kind: {bytes}}."""
    grams = collections.defaultdict(list)
    found = []
    for kind, members in secrets.items():
        for secret in members:
            if len(secret) <= PIECE_BYTES:
                # Too short for pieces, or no text (a key).
                found += [dump.found(kind, secret, len(secret), match.start())
                          for match in re.finditer(re.escape(secret), dump.bytes)]
            else:
                for at in range(0, len(secret) - GRAM_BYTES + 1, GRAM_STRIDE):
                    grams[secret[at:at + GRAM_BYTES]].append((kind, secret, at))
    runs = set()
    for offset, gram in hits(dump, grams):
        for kind, secret, at in grams[gram]:
            first, last = at, at + GRAM_BYTES
            start = offset - at
            while first > 0 and start + first > 0 and dump.bytes[start + first - 1] == secret[first - 1]:
                first -= 1
            while last < len(secret) and dump.bytes[start + last:start + last + 1] == secret[last:last + 1]:
                last += 1
            if last - first >= PIECE_BYTES:
                runs.add((kind, secret, start + first, last - first))
    return found + [dump.found(kind, secret, length, at) for kind, secret, at, length in runs]


def hits(dump, grams):
    """Where any of these is: a job for grep, which looks for all of them at once."""
    if not grams:
        return
    with tempfile.NamedTemporaryFile() as patterns:
        patterns.write(b"\n".join(grams) + b"\n")
        patterns.flush()
        dump.file.seek(0)
        lines = subprocess.run(
            ["grep", "-aobFf", patterns.name], stdin=dump.file, stdout=subprocess.PIPE, env={"LC_ALL": "C"}).stdout
    for line in lines.splitlines():
        offset, _, gram = line.partition(b":")
        yield int(offset), gram


def search(pid, secrets, folder):
    """Every `Found` in the process's memory now."""
    dump = Dump(pid, folder)
    try:
        return find(dump, secrets)
    finally:
        dump.close()


def may_read(pid):
    """Whether this process may read that one's memory and environment."""
    try:
        with open(f"/proc/{pid}/mem", "rb"), open(f"/proc/{pid}/environ", "rb"):
            return True
    except PermissionError:
        return False


def locked_regions(pid):
    """Of each mapping that is locked in memory and left out of cores: start and end."""
    found, region = [], None
    with open(f"/proc/{pid}/smaps") as smaps:
        for line in smaps:
            first, *rest = line.split()
            if "-" in first and not first.endswith(":"):
                region = tuple(int(part, 16) for part in first.split("-"))
            elif first == "VmFlags:" and {"lo", "dd"} <= set(rest):
                found.append(region)
    return found


def may_attach(pid):
    """Whether this process may trace that one (PTRACE_SEIZE, which does not stop it)."""
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    seize, detach = 0x4206, 17
    if ptrace(seize, pid, None, None) != 0:
        return False
    ptrace(detach, pid, None, None)
    return True
