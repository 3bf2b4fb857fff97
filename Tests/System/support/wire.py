"""The agent's socket as bytes and lines (JSON-RPC 2.0, one message a line)."""

import itertools
import json
import os
import socket


class WireError(Exception):
    """A failure the agent answered: `code`, `failure` (stable word), `message`, `data`."""

    def __init__(self, error):
        super().__init__(f"{error.get('message')} {error.get('data')}")
        self.code, self.message, self.data = error.get("code"), error.get("message"), error.get("data") or {}
        self.failure = self.data.get("failure")


class Wire:
    """One connection, one request at a time; `read_line` and `send` are there for everything else."""

    def __init__(self, path, timeout=60):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(os.fspath(path))
        self.reader = self.socket.makefile("rb")
        self.ids = itertools.count(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.reader.close()
        self.socket.close()

    def send(self, data):
        """Bytes as they are, or an object as one JSON line."""
        if not isinstance(data, bytes):
            data = json.dumps(data, separators=(",", ":")).encode() + b"\n"
        self.socket.sendall(data)

    def read_line(self):
        """The next line without its newline; empty when the agent closed the connection."""
        return self.reader.readline().removesuffix(b"\n")

    def request(self, method, /, **parameters):
        """Send a request without waiting; returns its id."""
        identifier = next(self.ids)
        message = {"jsonrpc": "2.0", "id": identifier, "method": method}
        self.send({**message, "params": parameters} if parameters else message)
        return identifier

    def call(self, method, /, **parameters):
        """Send a request and return its result; raises WireError for a failure."""
        identifier = self.request(method, **parameters)
        line = self.read_line()
        if not line:
            raise ConnectionError(f"the agent closed the connection instead of answering {method}")
        answer = json.loads(line)
        if answer.get("id") != identifier or answer.get("jsonrpc") != "2.0":
            raise AssertionError(f"not the answer to {method}: {line!r}")
        if "error" in answer:
            raise WireError(answer["error"])
        return answer["result"]
