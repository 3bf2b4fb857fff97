"""Authorization servers for a crowd, in one process: `python -m crowd.server`, driven by JSON lines on standard input.

Each server has a port of its own and rules that can be changed at any time. Every request is logged with the moments
(CLOCK_MONOTONIC, the same for all processes) at which it came, was acted on, was answered, and its connection ended.
"""

import asyncio
import base64
import dataclasses
import email.utils
import json
import random
import socket
import sys
import time
import urllib.parse

from crowd import families


@dataclasses.dataclass
class Rules:
    """How a server behaves. The first line is what a token request comes to."""

    token: str = "answer"  # answer, swallow, invalid_grant, unavailable
    metadata: str = "answer"  # answer, swallow
    refuse: bool = False  # the port is closed
    acts: bool = True  # what is swallowed is acted on all the same
    swallow_first: bool = False  # the first sending of each refresh token is acted on, its answer held back
    loss: float = 0.0  # share of refreshes that are acted on and whose connection is then closed
    delay: float = 0.0  # seconds until an answer
    drop_after: float | None = None  # seconds after which a swallowed connection is closed
    grace: float = 0.0  # seconds in which a used refresh token is accepted again
    pairs: str = "same"  # what it is answered then: same, new
    life: float = 3600.0  # of access tokens
    date_shift: float = 0.0  # seconds that the server's clock is ahead


class Server:
    """One port. `holder` keeps it while nobody listens, so that nobody else gets it."""

    def __init__(self, world, name):
        self.world, self.name, self.rules, self.families = world, name, Rules(), families.Families()
        self.holder = bound(0)
        self.port = self.holder.getsockname()[1]
        self.listening = None
        # By what `counts` tells them.
        self.total = dict.fromkeys(("token", "refreshes", "probes", "acted", "answered", "connections"), 0)
        self.open, self.held, self.accounts = 0, {}, set()

    async def apply(self, rules):
        self.rules = rules
        if rules.refuse and self.listening:
            self.listening.close()
            self.listening = None
        elif not rules.refuse and not self.listening:
            made = bound(self.port)
            made.listen(4096)
            self.listening = await self.world.loop.create_server(lambda: Connection(self), sock=made)

    def counts(self):
        return {**self.total, "open": self.open, "held": len(self.held), "accounts": len(self.accounts)}


class Connection(asyncio.Protocol):
    """One request; the agent's helpers make no second one on a connection."""

    def __init__(self, server):
        self.server, self.buffer, self.entry, self.answer = server, b"", None, None

    def connection_made(self, transport):
        self.transport = transport
        self.server.total["connections"] += 1

    def data_received(self, data):
        if self.entry is not None:
            return
        self.buffer += data
        head, end, body = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return
        lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        if len(body) < int(fields.get("content-length", 0)):
            return
        self.judge(*lines[0].split(" ")[:2], fields, body)

    def connection_lost(self, _):
        if self.entry is not None:
            self.entry["closed"] = time.monotonic()
            self.server.open -= self.entry["kind"] == "token"
            self.server.held.pop(self, None)

    # What it comes to

    def judge(self, method, target, fields, body):
        server, now = self.server, time.monotonic()
        form = dict(urllib.parse.parse_qsl(body.decode("latin-1")))
        self.entry = entry = {
            "server": server.name, "kind": "other", "at": now, "acted": None, "answered": None, "closed": None,
            "secret": "authorization" in fields or bool({"refresh_token", "password", "client_secret"} & set(form))}
        server.world.log.append(entry)
        if method == "GET" and "/.well-known/" in target:
            entry["kind"] = "metadata"
            server.total["probes"] += 1
            if server.rules.metadata == "swallow":
                return self.hold()
            return self.respond_later(200, self.metadata())
        if method != "POST" or target != "/token":
            return self.respond_later(404, {})
        entry["kind"] = "token"
        server.total["token"] += 1
        server.open += 1
        account = entry["account"] = form.get("client_id") or user_of(fields.get("authorization", ""))
        entry["grant"] = form.get("grant_type", "")
        if entry["grant"] == "refresh_token":
            self.refresh(account, form.get("refresh_token", ""), now)
        else:
            self.log_in(account, form, now)

    def log_in(self, account, form, now):
        if form.get("password") != "crowd":
            return self.respond_later(400, {"error": "invalid_grant"})
        family = self.server.families.login(account, now)
        self.entry |= {"family": family.number, "gave": 0, "acted": now, "life": self.server.rules.life}
        self.respond_later(200, self.pair(account, family.number, 0))

    def refresh(self, account, token, now):
        server, rules, entry = self.server, self.server.rules, self.entry
        server.total["refreshes"] += 1
        server.accounts.add(account)
        family, generation = server.families.find(account, token)
        entry |= {"family": family and family.number, "generation": generation, "life": rules.life}
        if rules.token == "invalid_grant":
            return self.respond_later(400, {"error": "invalid_grant"})
        if rules.token == "unavailable":
            return self.respond_later(503, {"error": "temporarily_unavailable"})
        if rules.token == "swallow" and not rules.acts:
            return self.hold()
        if family is None:
            entry["verdict"] = "unknown"
            return self.respond_later(400, {"error": "invalid_grant"})
        verdict, given = family.present(generation, now, rules.grace, rules.pairs)
        entry["verdict"] = verdict
        if given is None:
            status, answer = 400, {"error": "invalid_grant", "error_description": verdict}
        else:
            status, answer = 200, self.pair(account, family.number, given)
            entry |= {"acted": now, "gave": given}
            server.total["acted"] += 1
        if rules.token == "swallow" or rules.swallow_first and verdict == "rotated":
            return self.hold(status, answer)
        if given is not None and rules.loss and random.random() < rules.loss:
            entry["lost"] = True
            return server.world.loop.call_later(rules.delay, self.transport.close)
        self.respond_later(status, answer)

    def pair(self, account, family, generation):
        return {
            "access_token": families.access_token(account, family, generation), "token_type": "Bearer",
            "expires_in": self.server.rules.life,
            "refresh_token": families.refresh_token(account, family, generation)}

    def metadata(self):
        issuer = f"http://127.0.0.1:{self.server.port}"
        return {
            "issuer": issuer, "token_endpoint": issuer + "/token", "authorization_endpoint": issuer + "/authorize",
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}

    # Answering

    def hold(self, status=None, answer=None):
        """Says nothing, for good or until `release`."""
        self.server.held[self] = (status, answer)
        if (limit := self.server.rules.drop_after) is not None:
            self.server.world.loop.call_later(limit, self.transport.close)

    def release(self):
        status, answer = self.server.held.pop(self)
        if status is None:
            self.transport.close()
        else:
            self.respond(status, answer)

    def respond_later(self, status, answer):
        if self.server.rules.delay:
            self.server.world.loop.call_later(self.server.rules.delay, self.respond, status, answer)
        else:
            self.respond(status, answer)

    def respond(self, status, answer):
        if self.transport.is_closing():
            return
        body = json.dumps(answer).encode()
        date = email.utils.formatdate(time.time() + self.server.rules.date_shift, usegmt=True)
        head = (f"HTTP/1.1 {status} -\r\nDate: {date}\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n")
        self.entry |= {"status": status, "answered": time.monotonic()}
        self.server.total["answered"] += 1
        self.transport.write(head.encode() + body)
        self.transport.close()


class World:
    """All servers of the process, and what the test asks of them."""

    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.servers, self.log = {}, []

    async def obey(self, command):
        do, server = command.pop("do"), self.servers.get(command.pop("server", None))
        match do:
            case "listen":
                server = self.servers[command["name"]] = Server(self, command["name"])
                await server.apply(Rules())
                return server.port
            case "rules":
                return await server.apply(Rules(**command))
            case "counts":
                return server.counts()
            case "log":
                return self.log[command.get("since", 0):]
            case "size":
                return len(self.log)
            case "release":
                for held in list(server.held):
                    held.release()
            case "accepts":
                return {account: accepts(server, account, token) for account, token in command["tokens"].items()}
            case "revoked":
                return sorted(account for account, family in server.families.of.items() if family.revoked)
            case _:
                raise ValueError(do)


def accepts(server, account, token):
    """Whether the server would give a token for this one now."""
    family, generation = server.families.find(account, token)
    return family is not None and family.accepts(generation, time.monotonic(), server.rules.grace)


def bound(port):
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", port))
    return made


def user_of(authorization):
    kind, _, value = authorization.partition(" ")
    if kind.lower() != "basic":
        return ""
    return urllib.parse.unquote_plus(base64.b64decode(value).decode("latin-1").partition(":")[0])


async def main():
    world = World()
    reader = asyncio.StreamReader(limit=1 << 26)
    await world.loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        print(json.dumps(await world.obey(json.loads(line))), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
