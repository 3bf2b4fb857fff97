"""A server that cannot be reached is asked by one account at a time, whatever the number of accounts there."""

import json
import socket
import time

from network.accounts import write_account
from network.listeners import Listener, Relay
from support.dev_server import DevServer

ACCOUNTS = [f"a{number}" for number in range(12)]
# Accounts that have to fail in a row before one asks for all.
OPENS = 5


class Hangup(Listener):
    """Closes every connection before a word is said; the kernel answers no sooner than it."""

    def serve(self, connection):
        connection.shutdown(socket.SHUT_RDWR)


def machine_account(home, name, base):
    write_account(
        home, name, client_id="dev-machine", grant="client_credentials", username=None, issuer=base,
        token_endpoint=f"{base}/token")
    home.oauthctl("reload")
    home.oauthctl("secret", "set", name, "client_secret", stdin="dev-machine-secret\n")
    home.oauthctl("login", name)


def ask_all(home):
    """Everybody asks for a new token at once; the failures, by what they say."""
    with home.agent.connect() as wire:
        for name in ACCOUNTS:
            wire.request("token.get", account=name, force=True)
        answers = [json.loads(wire.read_line()) for _ in ACCOUNTS]
    return [answer["error"]["data"] for answer in answers if "error" in answer]


def test_a_dead_server_is_asked_by_one_account_for_all(home, agent, request):
    server = DevServer(home)
    request.addfinalizer(server.stop)
    target = ("127.0.0.1", int(server.issuer.rpartition(":")[2]))
    with Relay(target) as relay:
        for name in ACCOUNTS:
            machine_account(home, name, f"http://127.0.0.1:{relay.port}")
    machine_account(home, "elsewhere", server.issuer)
    with Hangup(port=relay.port) as dead:
        failures = ask_all(home)
        assert len(failures) == len(ACCOUNTS) and {data["failure"] for data in failures} == {"unavailable"}
        first = dead.connections
        assert OPENS <= first <= len(ACCOUNTS)
        degraded = agent_status(home)["degraded"]
        assert [line for line in degraded if f"127.0.0.1:{relay.port} cannot be reached" in line], degraded
        while dead.connections == first:
            pause(failures)
            failures = ask_all(home)
        assert dead.connections == first + 1 and len(failures) == len(ACCOUNTS)
        with home.agent.connect() as wire:
            assert wire.call("token.get", account="elsewhere", force=True)["access_token"]
    with Relay(target, port=relay.port):
        while failures:
            pause(failures)
            failures = ask_all(home)
    assert not [line for line in agent_status(home)["degraded"] if "cannot be reached" in line]


def pause(failures):
    """As long as the agent says."""
    assert {data["failure"] for data in failures} == {"unavailable"}
    time.sleep(max(data["retry_after_ms"] for data in failures) / 1000)


def agent_status(home):
    with home.agent.connect() as wire:
        return wire.call("agent.status")
