"""IPv4, IPv6, and a name that has both."""

import pytest

from network.accounts import endpoints, log_in_by_password, write_account
from network.listeners import Full, Relay
from network.namespaces import isolated, needs_root, replace
from support.login import get_token, wait_until


@pytest.mark.parametrize(("address", "written"), [("::1", "[::1]"), ("127.0.0.1", "127.0.0.1")])
@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_a_server_at_an_address(home, agent, world, address, written, tls):
    server = world(tls=tls)
    with Relay(("127.0.0.1", server.port), address=address) as relay:
        base = f"{'https' if tls else 'http'}://{written}:{relay.port}"
        write_account(home, "work", **endpoints(base), ca_file=str(server.ca_file) if tls else None)
        log_in_by_password(home, "work")
        assert server.say_hello(get_token(home)) == 200 and relay.connections == 1


@pytest.mark.parametrize("address", ["::1", "127.0.0.1"])
def test_localhost_is_found_at_either_address(home, agent, world, address):
    """A server that listens on one of the two, as most do."""
    server = world()
    with Relay(("127.0.0.1", server.port), address=address) as relay:
        write_account(home, "work", **endpoints(f"http://localhost:{relay.port}"))
        log_in_by_password(home, "work")
        assert server.say_hello(get_token(home)) == 200 and relay.connections == 1


@pytest.mark.parametrize(("dead", "address"), [("::1", "127.0.0.1"), ("127.0.0.1", "::1")])
def test_an_address_that_swallows_everything_is_passed_over(home, agent, world, dead, address):
    """A network that routes IPv6 nowhere: the name's other address is tried before any time-out."""
    server = world()
    with Relay(("127.0.0.1", server.port), address=address) as relay, Full(relay.port, dead):
        write_account(home, "work", **endpoints(f"http://localhost:{relay.port}"))
        log_in_by_password(home, "work")
        assert server.say_hello(get_token(home)) == 200


def test_a_server_that_takes_no_connection_is_told_and_costs_no_login(home, agent, world):
    """Nothing was sent, so the refresh token is as good as before: no second sending is spent on it."""
    server = world(access_ttl=6)
    with Relay(("127.0.0.1", server.port)) as relay:
        base = f"http://127.0.0.1:{relay.port}"
        write_account(home, "work", **endpoints(base))
        log_in_by_password(home, "work")
        token, mark = get_token(home), server.mark()
    with Full(relay.port):
        for _ in range(2):
            failed = wait_until(
                lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 40, "a failure")
            assert (failed.status, failed.stdout) == (6, "") and "127.0.0.1" in failed.stderr, failed
            assert "timed out" in failed.stderr.lower() or "timeout" in failed.stderr.lower(), failed
    with Relay(("127.0.0.1", server.port), port=relay.port):
        wait_until(lambda: home.oauthctl("get-token", "work", check=False).status == 0, 60, "a token again")
    assert get_token(home) != token and [entry["status"] for entry in server.refreshes(mark)] == [200]


@needs_root
def test_a_name_that_nobody_knows_is_told_at_once(home):
    rules = home.root / "nsswitch.conf"
    rules.write_text("hosts: files\n")

    def log_in():
        replace("/etc/nsswitch.conf", rules)
        home.agent.start()
        return home.oauthctl("login", "work", "https://nowhere.example.org", "--client-id", "me", check=False)

    refused = isolated(log_in, network=True)
    assert (refused.status, refused.stdout) == (6, ""), refused
    assert "resolve" in refused.stderr and "nowhere.example.org" in refused.stderr, refused


def test_a_server_that_moves_from_ipv4_to_ipv6_keeps_its_logins(home, agent, world):
    server = world(access_ttl=6)
    with Relay(("127.0.0.1", server.port)) as relay:
        port = relay.port
        write_account(home, "work", **endpoints(f"http://localhost:{port}"))
        log_in_by_password(home, "work")
        token = get_token(home)
    with Relay(("127.0.0.1", server.port), address="::1", port=port):
        wait_until(lambda: (it := home.oauthctl("get-token", "work", check=False)).status == 0
                   and it.stdout.strip() != token, 60, "a token from the other address")


def test_the_redirect_comes_back_on_ipv6_when_the_account_says_so(home, agent, dot):
    """RFC 8252 section 7.3: some servers know the one, some the other."""
    home.use_browser(dot.user, dot.password)
    write_account(
        home, "work", issuer=dot.issuer, client_id="native-app", grant="authorization_code", username=None,
        client_authentication="none", redirect_uri="http://[::1]/callback")
    home.oauthctl("reload")
    home.oauthctl("login", "work")
    assert dot.say_hello(get_token(home)) == 200
    wait_until(lambda: home.browser_log.exists() and "//[::1]:" in home.browser_log.read_text(), 60, "it came there")
