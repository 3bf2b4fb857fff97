"""A caller of the agent in any language, here Python: what docs/protocol.md says is all it knows."""
import json
import os
import socket
import stat
import struct
import sys


class Refused(Exception):
    """The agent's failure: `failure` is the word to act on, `data` the rest of it."""

    def __init__(self, error):
        self.code, self.message, self.data = error["code"], error["message"], error["data"]
        self.failure = self.data["failure"]
        super().__init__(f"{self.failure}: {self.message}")


def socket_path():
    if (path := os.environ.get("OAUTHCTL_SOCKET")) is not None:
        return path
    for base in (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.getuid()}"):
        if base.startswith("/") and is_mine(base, 0o022):
            return f"{base}/oauthctl/agent.sock"
    if not is_mine(folder := f"/tmp/oauthctl-{os.getuid()}", 0o077):
        raise PermissionError(f"{folder} is not there, or not mine alone")
    return f"{folder}/agent.sock"


def is_mine(folder, open_to_others):
    """A real folder of this user without these bits of its mode."""
    if not os.path.lexists(folder):
        return False
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & open_to_others


def ask(method, **parameters):
    with socket.socket(socket.AF_UNIX) as agent:
        agent.connect(socket_path())
        _, uid, _ = struct.unpack("3i", agent.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if uid != os.getuid():
            raise PermissionError("another user's agent")
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        agent.sendall(json.dumps(request, separators=(",", ":")).encode() + b"\n")
        answer = json.loads(agent.makefile("rb").readline())
    if "error" in answer:
        raise Refused(answer["error"])
    return answer["result"]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: caller.py ACCOUNT")
    try:
        print(ask("token.get", account=sys.argv[1])["access_token"])
    except (Refused, OSError) as error:
        sys.exit(str(error))
