"""`events.subscribe`: a caller is told what changes as it happens, nobody waits for it, and no secret is in it."""

import json
import select

import pytest

from network.namespaces import isolated, needs_root, run
from support.dev_server import DevServer
from support.disk import fill
from support.wire import Wire, WireError


@pytest.fixture
def server(home, agent):
    server = DevServer(home, "--access-token-life", "3600")
    home.use_browser("alice", "demo")
    yield server
    server.stop()


class Subscriber(Wire):
    """Told of everything from its making on; `events` is what came."""

    def __init__(self, path):
        super().__init__(path)
        assert self.call("events.subscribe") == {}
        self.events = []

    def until(self, name, **members):
        """Reads until an event of this name has these members."""
        while True:
            line = self.read_line()
            assert line, f"the connection ended; came: {self.events}"
            event = json.loads(line)
            assert set(event) == {"jsonrpc", "method", "params"} and event["jsonrpc"] == "2.0"
            self.events.append(event)
            if event["method"] == name and members.items() <= event["params"].items():
                return event["params"]


def log_in(home, server, account="work"):
    return home.oauthctl("login", account, server.issuer, "--client-id", "dev", "--scope", "read")


def test_a_life_is_told_as_it_happens_and_without_a_secret(home, server):
    with Wire(home.socket) as wire:
        assert "events" in wire.call("agent.hello")["capabilities"]
    with Subscriber(home.socket) as told:
        login = log_in(home, server)
        recovery = (login.stdout + login.stderr).split("shown only now:")[1].split()[0]
        told.until("events.vault", state="open")
        told.until("events.account", account="work", state="login_pending")
        first = told.until("events.account", account="work", state="ok")
        token = home.oauthctl("get-token", "work").lines[0]
        with Wire(home.socket) as wire:
            newer = wire.call("token.get", account="work", force=True)
        told.until("events.account", account="work", state="refreshing")
        assert told.until("events.account", account="work", state="ok")["expires_at"] >= first["expires_at"]
        # Its own requests are answered on the same connection.
        assert told.call("agent.hello")["protocol"] == 1

        home.oauthctl("vault", "lock")
        told.until("events.vault", state="locked")
        home.oauthctl("vault", "unlock")
        told.until("events.vault", state="open")

        (home.config / "oauthctl/accounts.d/work.toml").write_text("issuer = 7\n")
        home.oauthctl("reload", check=False)
        told.until("events.problems")
        assert told.until("events.account", account="work", state="config_invalid")["reason"]

        text = json.dumps(told.events)
        for secret in (token, newer["access_token"], recovery):
            assert len(secret) > 20 and secret not in text


@needs_root
def test_a_full_disk_and_its_end_are_told_while_nobody_asks(home, request):
    def story():
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home.data)
        home.agent.start()
        server = DevServer(home, "--access-token-life", "2")
        request.addfinalizer(server.stop)
        home.use_browser("alice", "demo")
        log_in(home, server)
        filler = home.data / "filler"
        with Subscriber(home.socket) as told:
            fill(filler)
            assert "almost full" in told.until("events.vault", state="open")["reason"]
            filler.unlink()
            assert "reason" not in told.until("events.vault", state="open")

    isolated(story)


def test_one_that_never_reads_is_dropped_and_delays_nobody(home, server):
    log_in(home, server)
    account = home.config / "oauthctl/accounts.d/work.toml"
    good, whole = account.read_text(), home.root / "whole.toml"
    with Subscriber(home.socket) as deaf, Subscriber(home.socket) as told, Wire(home.socket) as wire:
        # Several times what its socket and the agent hold for it.
        for turn in range(1000):
            # In one step: whoever watches the folder never reads a half of it.
            whole.write_text("issuer = 7\n" if turn % 2 == 0 else good)
            whole.replace(account)
            wire.call("config.reload")
            # A state may be told twice where the watch and the reload read the files at the same time.
            while (told.until("events.problems")["count"] > 0) != (turn % 2 == 0):
                pass
            assert wire.call("token.get", account="work")["access_token"]
        assert not any(event["method"] == "events.lost" for event in told.events)
        # Not by reading: that would be taking.
        hangup = select.poll()
        hangup.register(deaf.socket, select.POLLRDHUP)
        assert hangup.poll(60_000), "it was not dropped"


def test_subscribers_are_bounded(home, agent):
    subscribers = [Subscriber(home.socket) for _ in range(64)]
    with pytest.raises(WireError) as refused:
        Subscriber(home.socket)
    assert refused.value.failure == "overloaded"
    subscribers.pop().close()
    # The place is free once the agent has seen it leave.
    while True:
        try:
            subscribers.append(Subscriber(home.socket))
            break
        except WireError:
            pass
    for subscriber in subscribers:
        subscriber.close()
