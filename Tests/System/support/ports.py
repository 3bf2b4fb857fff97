"""Ports of loopback that stay a test's own while it closes them and listens there again."""

import errno
import functools
import itertools
import socket
from pathlib import Path

# Below what the kernel gives to whoever asks for any port, and below what the agent registers redirects at.
FIRST, LAST, BLOCK = 10_000, 20_000, 200
LOOPBACK = ("127.0.0.1", "::1")
# Closed with the process, which gives its block back.
claims = []


def listening(address="127.0.0.1", port=0, backlog=64):
    """A socket that listens at `port`, or at one that nobody has at either address of loopback."""
    if not port:
        tried = itertools.islice(own_ports(), BLOCK)
        port = next(port for port in tried if all(is_free(one, port) for one in LOOPBACK))
    return socket.create_server((address, port), family=family(address), backlog=backlog)


def free_port():
    with listening() as probe:
        return probe.getsockname()[1]


def has_unread(port, is_peer=False):
    """Whether a connection of `port`, or of who is connected to it (`is_peer`), has bytes that nobody has read yet."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any((remote if is_peer else local).endswith(f":{port:04X}") and state == "01"
               and int(queues.partition(":")[2], 16) > 0 for _, local, remote, state, queues, *_ in rows)


def is_free(address, port):
    try:
        socket.create_server((address, port), family=family(address)).close()
    except OSError as error:
        # A machine without IPv6 has nobody there either.
        return error.errno != errno.EADDRINUSE
    return True


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


@functools.cache
def own_ports():
    """The ports of a block that no other process of the tests takes as long as this one runs, over and over."""
    for first in range(FIRST, LAST, BLOCK):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            claim.bind(f"\0oauthctl-tests-ports-{first}")
        except OSError:
            claim.close()
            continue
        claims.append(claim)
        return itertools.cycle(range(first, first + BLOCK))
    raise RuntimeError(f"every block of ports between {FIRST} and {LAST} belongs to a run of the tests")
