"""A network that loses answers: a relay before a real server."""

import collections
import random
import re
import socket

from network.listeners import CONNECT_SECONDS, IDLE_SECONDS, Listener

ACCOUNT = re.compile(rb"(?:^|&)crowd_account=([a-z0-9]+)")


class Lossy(Listener):
    """Passes each request on and, for a share of the refreshes that the server acted on, keeps the answer.

    What is asked again after a lost answer is answered: who is to be held to one loss must not meet two. `rotated` and
    `swallowed` count those by account, which each request names in the parameter `crowd_account`.
    """

    def __init__(self, target, loss, **options):
        self.target, self.loss = target, loss
        self.rotated, self.swallowed = collections.Counter(), collections.Counter()
        self.lost_last = set()
        super().__init__(**options)

    def serve(self, connection):
        request = read_message(connection)
        if not request:
            return
        with socket.create_connection(self.target, CONNECT_SECONDS) as server:
            server.settimeout(IDLE_SECONDS)
            server.sendall(request)
            answer = read_message(server)
        body = request.partition(b"\r\n\r\n")[2]
        if b"grant_type=refresh_token" in body and answer.startswith(b"HTTP/1.1 200"):
            account = ACCOUNT.search(body)[1].decode()
            self.rotated[account] += 1
            if account not in self.lost_last and random.random() < self.loss:
                self.swallowed[account] += 1
                self.lost_last.add(account)
                return
            self.lost_last.discard(account)
        connection.sendall(answer)


def read_message(connection):
    """One HTTP message whole, by its Content-Length or its last chunk; empty where the other side has left."""
    data = b""
    while not is_whole(data):
        part = connection.recv(65536)
        if not part:
            return b""
        data += part
    return data


def is_whole(data):
    head, end, body = data.partition(b"\r\n\r\n")
    if re.search(rb"(?im)^transfer-encoding: *chunked", head):
        return body.endswith(b"0\r\n\r\n")
    length = re.search(rb"(?im)^content-length: *(\d+)", head)
    return bool(end) and len(body) >= (int(length[1]) if length else 0)
