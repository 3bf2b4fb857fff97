"""R10: one account's slow server, or dead name, never delays another account."""

import contextlib
import threading
import time

import pytest

from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority
from network.listeners import Full, Relay, Silent, SilentNameServer, Stuck, server_tls
from network.namespaces import isolated, needs_root, replace
from support.login import wait_until
from world.server import AuthorizationServer, Settings, site_template

OTHERS = [f"other{number}" for number in range(20)]
# How much longer twenty refreshes may take beside a dead server than without one; time-outs are 5 s and more, twenty
# refreshes take about one.
RATIO = 2.5
# For a machine that does other things; half of the least time-out.
SLACK_SECONDS = 2.5
DEAD_NAME = "dead.example.org"


def refresh_all(home):
    """Seconds until each of the others has a new token, all asked for at once on one connection."""
    begin = time.monotonic()
    with home.agent.connect() as wire:
        for name in OTHERS:
            wire.request("token.get", account=name, force=True)
        answers = [wire.read_line() for _ in OTHERS]
    assert [line for line in answers if b'"result"' not in line] == []
    return time.monotonic() - begin


@contextlib.contextmanager
def asked_for(home, names):
    """While inside, somebody waits for each of these accounts."""
    ended = threading.Event()

    def ask(name):
        while not ended.is_set():
            with contextlib.suppress(Exception), home.agent.connect() as wire:
                wire.socket.settimeout(2)
                wire.call("token.get", account=name, force=True, timeout_ms=60_000)
            ended.wait(0.05)

    callers = [threading.Thread(target=ask, args=(name,)) for name in names]
    for caller in callers:
        caller.start()
    try:
        yield
    finally:
        ended.set()
        for caller in callers:
            caller.join()


def compare(home, dead, is_waiting):
    """Refresh the others without and with somebody waiting for the dead accounts."""
    quiet = refresh_all(home)
    with asked_for(home, dead):
        wait_until(is_waiting, 30, "a request to the dead server")
        beside = refresh_all(home)
    # What else the machine does may have begun in between.
    quiet = max(quiet, refresh_all(home))
    print(f"20 refreshes: {quiet:.2f} s without, {beside:.2f} s beside {len(dead)} dead")
    assert beside <= RATIO * quiet + SLACK_SECONDS


@pytest.mark.parametrize("accounts", [1, 4, 8], ids=["one account", "four accounts", "eight accounts"])
def test_a_silent_token_endpoint_delays_no_other_account(home, agent, world, accounts):
    server = world()
    dead = [f"dead{number}" for number in range(accounts)]
    with Relay(("127.0.0.1", server.port)) as relay:
        for name in dead:
            write_account(home, name, **endpoints(f"http://localhost:{relay.port}"))
        log_in_everybody(home, dead, server.issuer)
    with Silent(port=relay.port) as silent:
        compare(home, dead, lambda: silent.connections)


def test_eight_dead_servers_delay_no_other_account(home, agent, world):
    """Each dead in one of three ways: no connection, no TLS, no end of the answer."""
    server = world()
    dead = [f"dead{number}" for number in range(8)]
    authority = Authority(home.root / "authority")
    tls = server_tls(authority.issue("dead"))
    with contextlib.ExitStack() as relays:
        ports = {}
        for number, name in enumerate(dead):
            is_secure = number % 3 == 1
            relay = relays.enter_context(Relay(("127.0.0.1", server.port), tls=tls if is_secure else None))
            ports[name] = relay.port
            scheme, ca_file = ("https", str(authority.file)) if is_secure else ("http", None)
            write_account(home, name, **endpoints(f"{scheme}://localhost:{relay.port}"), ca_file=ca_file)
        log_in_everybody(home, dead, server.issuer)
    with contextlib.ExitStack() as servers:
        kinds = (Full, Silent, Stuck)
        reached = [
            servers.enter_context(kinds[number % 3](port=ports[name])) for number, name in enumerate(dead)]
        compare(home, dead, lambda: all(one.connections for one in reached if not isinstance(one, Full)))


def test_sixty_silent_servers_delay_no_other_account(home, agent, world):
    """Up to 64 silent servers delay nobody: docs/tokens.md says who waits beyond that."""
    server = world()
    dead = [f"dead{number}" for number in range(60)]
    with contextlib.ExitStack() as relays:
        ports = [relays.enter_context(Relay(("127.0.0.1", server.port))).port for _ in dead]
        for name, port in zip(dead, ports):
            write_account(home, name, **endpoints(f"http://localhost:{port}"))
        log_in_everybody(home, dead, server.issuer)
    with contextlib.ExitStack() as servers:
        reached = [servers.enter_context(Silent(port=port)) for port in ports]
        compare(home, dead, lambda: all(one.connections for one in reached))


def log_in_everybody(home, dead, issuer):
    for name in OTHERS:
        write_account(home, name, **endpoints(issuer))
    for name in [*dead, *OTHERS]:
        log_in_by_password(home, name)


@needs_root
@pytest.mark.parametrize("names", [1, 3], ids=["one name", "three names"])
def test_a_dead_name_server_delays_no_other_account(home, scratch, names):
    """The name was known at login; then its name server hears every question and answers none."""
    files = {name: home.root / name for name in ("hosts", "resolv.conf", "nsswitch.conf")}
    hosts = "127.0.0.1 localhost\n::1 localhost\n"
    dead = [f"dead{number}" for number in range(names)]
    dead_names = [f"{number}.{DEAD_NAME}" for number in range(names)]
    files["hosts"].write_text(hosts + "".join(f"127.0.0.1 {name}\n" for name in dead_names))
    files["resolv.conf"].write_text("nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
    files["nsswitch.conf"].write_text("hosts: files dns\n")

    def run():
        for name, file in files.items():
            replace(f"/etc/{name}", file)
        server = AuthorizationServer(Settings(), home.root / "as", site_template(scratch / "site"))
        try:
            with SilentNameServer() as name_server:
                home.agent.start()
                tls = server_tls(authority.issue("dead", dead_names))
                with Relay(("127.0.0.1", server.port), tls=tls) as relay:
                    for name, host in zip(dead, dead_names):
                        write_account(
                            home, name, **endpoints(f"https://{host}:{relay.port}"), ca_file=str(authority.file))
                    log_in_everybody(home, dead, server.issuer)
                    assert name_server.questions == 0
                    files["hosts"].write_text(hosts)
                    compare(home, dead, lambda: name_server.questions)
                # The caller hears of it by its own time-out, and what it hears names the cause.
                result = home.oauthctl("get-token", dead[0], "--force", "--timeout", "15", check=False)
                assert result.status == 6 and dead_names[0] in result.stderr, result
        finally:
            server.stop()

    authority = Authority(home.root / "authority")
    isolated(run, network=True)
