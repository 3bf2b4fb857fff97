"""Ports of loopback that stay a test's own while it closes them and listens there again."""

import errno
import itertools
import os
import socket
from pathlib import Path

FIRST = 10_000
# From here on the kernel gives ports away: to whoever connects, and to whoever asks for any.
LAST = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
# Two runs of the tests begin at different places.
candidates = itertools.cycle(range(FIRST, LAST)) if LAST > FIRST else itertools.repeat(0)
candidates = itertools.islice(candidates, os.getpid() * 97 % max(1, LAST - FIRST), None)


def listening(address="127.0.0.1", port=0, backlog=64):
    """A socket that listens at `port`, or at one that the kernel gives nobody."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    if port:
        return socket.create_server((address, port), family=family, backlog=backlog)
    while True:
        try:
            return socket.create_server((address, next(candidates)), family=family, backlog=backlog)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise


def free_port():
    with listening() as probe:
        return probe.getsockname()[1]
