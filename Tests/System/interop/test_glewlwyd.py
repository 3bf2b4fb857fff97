"""Glewlwyd, over TLS with a private authority: everything a login can go through, and what differs from the RFCs."""

import re

import pytest

from interop.glewlwyd import SIMPLE_APP
from interop.glewlwyd_person import Person, start_device_login
from interop.said import sentence
from network.accounts import log_in_by_password, write_account
from network.listeners import Relay, server_tls
from support.accounts import account_file
from support.login import get_token, wait_until
from world.accounts import CLIENTS

NAME = "Glewlwyd"


@pytest.fixture
def log_in(home, use_browser):
    """log_in(server, client="native-app", *arguments, check=True) -> Result."""

    def run(server, client="native-app", *arguments, check=True):
        use_browser("glewlwyd_person", WORLD_CA=server.ca_file)
        secret = {**CLIENTS, SIMPLE_APP.id: SIMPLE_APP}[client].secret
        options = ["--client-id", client, "--scope", "openid read", "--ca", server.ca_file]
        options += ["--port", server.redirect_port, "--client-secret-stdin" if secret else None]
        options = [option for option in options if option is not None]
        return home.oauthctl(
            "login", "work", server.issuer, *options, *arguments, stdin=secret + "\n" if secret else None, check=check)

    return run


def test_login_with_code_and_pkce(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "login, public client, code + PKCE"), glewlwyd()
    result = log_in(server)
    assert "Logged in as work" in result.stderr
    assert server.say_hello(get_token(home)) == 200 and server.introspect(get_token(home))
    line.seen("works; the redirect is exact, so the account fixes its port: `--port N`")
    details = home.oauthctl("account", "show", "work").stdout
    assert server.token_endpoint in details
    line.seen("found by OpenID discovery behind the issuer's path, RFC 8414 is not there")


def test_another_port_is_refused_by_the_server(home, agent, glewlwyd, use_browser, row):
    line, server = row(NAME, "login without `--port`"), glewlwyd()
    use_browser("glewlwyd_person", WORLD_CA=server.ca_file)
    command = home.start(
        home.programs / "oauthctl", "login", "work", server.issuer, "--client-id", "native-app", "--ca", server.ca_file)
    try:
        wait_until(home.browser_log.exists, 30, "the browser ends")
        assert "127.0.0.1" not in home.browser_log.read_text().replace("redirect_uri=http%3A%2F%2F127.0.0.1", "")
        assert command.poll() is None
    finally:
        command.terminate()
        command.communicate(timeout=30)
    assert not account_file(home).exists()
    line.seen("the server shows an error page and redirects nowhere; the login waits until it is cancelled")


def test_the_private_authority_must_be_named(home, agent, glewlwyd, row):
    line, server = row(NAME, "TLS with a private authority"), glewlwyd()
    result = home.oauthctl("login", "work", server.issuer, "--client-id", "native-app", check=False)
    assert result.status == 3 and "certificate" in result.stderr and "--ca FILE" in result.stderr
    line.seen("refused without `--ca`, at once and with its cause; works with it")


def test_a_confidential_client(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "login, confidential client, client_secret_basic"), glewlwyd()
    result = log_in(server, SIMPLE_APP.id)
    assert "Logged in" in result.stderr and server.say_hello(get_token(home)) == 200
    line.seen("works with a secret of letters, digits and `-`")


def test_refresh_and_rotation(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "refresh"), glewlwyd(access_ttl=6)
    ended = server.refresh_tokens(enabled=False)
    log_in(server)
    tokens = [get_token(home)]
    for _ in range(3):
        tokens.append(wait_until(
            lambda: (new := get_token(home)) not in tokens and new, 30, "another token"))
        assert server.say_hello(tokens[-1]) == 200
    assert server.refresh_tokens(enabled=False) >= ended + 3
    line.seen("works; every refresh rotates, and the old refresh token ends")


def test_fifty_callers_cost_one_refresh(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "50 callers of an expired token"), glewlwyd(access_ttl=12)
    log_in(server)
    old = get_token(home)
    agent.stop()
    wait_until(lambda: server.say_hello(old) == 401, 30, "the token expires")
    before = server.refresh_tokens(enabled=False)
    agent.start()
    started = [home.start(home.programs / "oauthctl", "get-token", "work") for _ in range(50)]
    answers = {process.communicate(timeout=60)[0] for process in started}
    assert len(answers) == 1 and server.refresh_tokens(enabled=False) == before + 1
    line.seen("one refresh")


def test_a_dead_refresh_token(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "dead refresh token"), glewlwyd(access_ttl=6)
    log_in(server)
    server.end_grants()
    failed = wait_until(
        lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 30, "a failure")
    assert failed.status == 6 and "status 400 and no reason" in failed.stderr, failed
    line.seen("400 with an empty body: no verdict. Exit 6, tried again; three times over ten minutes count as "
              "`login_required`, unconfirmed")
    log_in(server)
    assert server.say_hello(get_token(home)) == 200
    line.seen("a new login cures it")


def test_logout_of_a_public_client(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "logout, public client"), glewlwyd()
    log_in(server)
    result = home.oauthctl("logout", "work", check=False)
    assert home.oauthctl("get-token", "work", check=False).status == 4
    line.seen(f"forgotten here; the server refuses the revocation (RFC 7009) of a client without a secret: "
              f"“{sentence(result)}”")
    assert "refused" in result.stderr, result


def test_logout_of_a_confidential_client(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "logout, confidential client"), glewlwyd()
    before = server.refresh_tokens(enabled=True, client=SIMPLE_APP.id)
    log_in(server, SIMPLE_APP.id)
    assert server.refresh_tokens(enabled=True, client=SIMPLE_APP.id) == before + 1
    result = home.oauthctl("logout", "work")
    assert server.refresh_tokens(enabled=True, client=SIMPLE_APP.id) == before, result
    line.seen("the refresh token is revoked")


def test_device_login(home, agent, glewlwyd, row):
    line, server = row(NAME, "device flow"), glewlwyd()
    command, code = start_device_login(home, server)
    Person(server.base, server.ca_file).approve_device(code, "tv-app", "openid read")
    _, stderr = command.communicate(timeout=60)
    assert command.returncode == 0, stderr
    assert server.say_hello(get_token(home)) == 200
    line.seen("works")


def test_device_login_that_is_told_to_slow_down(home, agent, glewlwyd, row):
    """The server wants 3 s between polls; on its way the answer becomes 1 s, so the second poll comes too soon."""
    line, server = row(NAME, "device flow, `slow_down`"), glewlwyd(device_interval=3)
    said = []

    def hurry(data):
        said.extend(re.findall(rb'"error"\s*:\s*"(\w+)"', data))
        return re.sub(rb'("interval"\s*:\s*)3', rb"\g<1>1", data)

    with Relay(
            ("127.0.0.1", server.port), tls=server_tls(server.files), target_tls=server.ca_file, change=hurry) as relay:
        there = f"https://localhost:{relay.port}/api/oidc"
        file = home.config / "oauthctl" / "accounts.d" / "work.toml"
        file.parent.mkdir(mode=0o700, parents=True)
        file.write_text(
            f'issuer = "{server.issuer}"\nclient_id = "tv-app"\ngrant = "device_code"\nscope = ["openid", "read"]\n'
            f'ca_file = "{server.ca_file}"\ndevice_authorization_endpoint = "{there}/device_authorization"\n'
            f'token_endpoint = "{there}/token"\n')
        home.oauthctl("reload")
        command = home.start(home.programs / "oauthctl", "login", "work")
        code = next(next(command.stderr) for text in command.stderr if text.startswith("and enter the code")).strip()
        wait_until(lambda: b"slow_down" in said, 60, "slow_down")
        wait_until(lambda: said[-1] == b"authorization_pending", 60, "a poll at the new pace")
        Person(server.base, server.ca_file).approve_device(code, "tv-app", "openid read")
        _, stderr = command.communicate(timeout=90)
        assert command.returncode == 0, stderr
        assert server.say_hello(get_token(home)) == 200
    # Once is enough: from 1 s to 6 s, where the server wants 3.
    assert said.count(b"slow_down") == 1
    line.seen("a poll that comes too soon is told so; the interval grows by 5 s, and the login ends well")


def test_client_credentials(home, agent, glewlwyd, row):
    line, server = row(NAME, "client credentials"), glewlwyd()
    home.oauthctl(
        "login", "work", server.issuer, "--grant", "client_credentials", "--client-id", "machine", "--scope", "read",
        "--ca", server.ca_file, "--client-secret-stdin", stdin=CLIENTS["machine"].secret + "\n")
    assert server.introspect(get_token(home))
    line.seen("works, without a refresh token")


def test_password(home, agent, glewlwyd, row):
    line, server = row(NAME, "password grant"), glewlwyd()
    write_account(home, "work", issuer=server.issuer, scope=["openid", "read"], ca_file=str(server.ca_file),
                  token_endpoint=server.token_endpoint)
    log_in_by_password(home, "work")
    assert server.say_hello(get_token(home)) == 200
    line.seen("works, with a refresh token")


def test_a_secret_that_needs_encoding(home, agent, glewlwyd, log_in, row):
    """RFC 6749 section 2.3.1 wants it form-encoded inside Basic; not every server takes the code off again."""
    line, server = row(NAME, "client secret with `/`, `%`, blanks in client_secret_basic"), glewlwyd()
    result = log_in(server, "web-app", check=False)
    line.seen("works" if result.status == 0 else
              f"the server does not take RFC 6749's encoding off: “{sentence(result)}”")
    assert result.status in (0, 6, 9), result
