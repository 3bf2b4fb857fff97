"""Glewlwyd judges what keys prove: pushed requests, bound tokens, signed assertions; and it registers clients."""

import json
import re

import pytest

from interop.glewlwyd import RESOURCE
from interop.glewlwyd_person import Person, start_device_login
from interop.said import claims, sentence
from support.accounts import define, edit
from support.login import get_token, wait_until
from world.accounts import Client

NAME = "Glewlwyd"
SECRET = "shared-secret-of-32-bytes-or-more-9c41"


@pytest.fixture
def log_in(home, use_browser):
    """log_in(server, *arguments, client="native-app", **how) -> Result."""

    def run(server, *arguments, client="native-app", **how):
        use_browser("glewlwyd_person", WORLD_CA=server.ca_file)
        return home.oauthctl(
            "login", "work", server.issuer, "--client-id", client, "--scope", "openid read", "--ca", server.ca_file,
            "--port", server.redirect_port, *arguments, **how)

    return run


def opened(home):
    """The authorization requests that the browser was sent with, when it has ended."""
    wait_until(home.browser_log.exists, 30, "the browser ends")
    return re.findall(r"/api/oidc/auth\?(\S*)", home.browser_log.read_text())


def curl(home, server, *arguments, check=True):
    return home.oauthctl(
        "curl", "--silent", "--show-error", "--cacert", server.ca_file, *arguments, server.resource, check=check)


def test_a_server_that_takes_only_pushed_requests(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "pushed authorization requests (RFC 9126), required"), glewlwyd(pushed_only=True)
    log_in(server)
    assert server.say_hello(get_token(home)) == 200
    assert "request_uri=" in opened(home)[0] and "code_challenge" not in opened(home)[0]
    line.seen("works; the browser sees a client id and a reference")


def test_requests_are_pushed_where_the_file_says_where(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "pushed authorization requests, offered"), glewlwyd()
    log_in(server)
    assert "code_challenge" in opened(home)[0]
    edit(home, "work", pushed_authorization_request_endpoint=json.dumps(server.issuer + "/par"))
    home.browser_log.unlink()
    # The listener of the login before this one may still have the port.
    wait_until(lambda: home.oauthctl("login", "work", "--accept-changes", check=False).status == 0, 60, "a login")
    assert "request_uri=" in opened(home)[0] and server.say_hello(get_token(home)) == 200
    line.seen("not pushed until the account names `pushed_authorization_request_endpoint`; then works")


@pytest.mark.parametrize("nonce", [False, True], ids=["plain", "nonce"])
def test_tokens_bound_to_a_key(home, agent, glewlwyd, log_in, row, nonce):
    line = row(NAME, "DPoP (RFC 9449), " + ("the server insists on its nonce" if nonce else "no nonce"))
    server = glewlwyd(dpop_nonce=nonce)
    log_in(server, "--dpop")
    said = json.loads(curl(home, server).stdout)
    assert said.get("sub"), (said, server.log.read_text()[-3000:])
    first = bound_token(home, server)
    assert server.say_hello(first) == 401
    # A refresh proves the same key.
    edit(home, "work", keep='"always"')
    before = server.refresh_tokens(enabled=True)
    agent.restart()
    assert json.loads(curl(home, server).stdout)["sub"] and server.refresh_tokens(enabled=True) >= before
    line.seen("login, `oauthctl curl` of its userinfo; the token without a proof is refused")


def bound_token(home, server):
    """The token out of the two headers of one request."""
    shown = home.oauthctl("get-token", "work", "--url", server.resource, "--format", "headers").stdout
    scheme, _, token = json.loads(shown)["Authorization"].partition(" ")
    assert scheme == "DPoP"
    return token


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "EdDSA", "PS256"])
def test_a_client_that_proves_itself_by_a_private_key(home, agent, glewlwyd, log_in, row, algorithm):
    line, server = row(NAME, f"`private_key_jwt`, {algorithm}"), glewlwyd()
    home.oauthctl("vault", "create", check=False)
    client = f"key-{algorithm}-{server.refresh_tokens(enabled=True)}"
    first = log_in(server, "--client-authentication", "private_key_jwt", client=client, check=False)
    assert "oauthctl key create work" in first.stderr, first
    public = json.loads(home.oauthctl("key", "create", "work", "--algorithm", algorithm).stdout)
    server.add_client(Client(client, "authorization-code", "unused"), client_secret="", jwks={"keys": [public]},
                      token_endpoint_auth_method=["private_key_jwt"], token_endpoint_signing_alg=algorithm)
    edit(home, "work", assertion_audience='"endpoint"')
    home.oauthctl("login", "work", "--accept-changes")
    assert server.say_hello(get_token(home)) == 200
    assert server.say_hello(home.oauthctl("get-token", "work", "--force").lines[0]) == 200
    ended = home.oauthctl("logout", "work")
    assert "refused to revoke" not in ended.stderr, ended
    line.seen("login, refresh and revocation work with `assertion_audience = \"endpoint\"`; without it the server "
              "answers 403 and no reason")


def test_a_client_that_signs_with_its_secret(home, agent, glewlwyd, use_browser, row):
    line, server = row(NAME, "`client_secret_jwt`"), glewlwyd()
    server.add_client(Client("secret-signer", "authorization-code", SECRET),
                      token_endpoint_auth_method=["client_secret_jwt"])
    use_browser("glewlwyd_person", WORLD_CA=server.ca_file)
    define(home, "work", f'issuer = "{server.issuer}"', 'client_id = "secret-signer"', 'scope = ["openid", "read"]',
           'client_authentication = "client_secret_jwt"', 'assertion_audience = "token_endpoint"',
           f'ca_file = "{server.ca_file}"', f"redirect_ports = [{server.redirect_port}]")
    home.oauthctl("vault", "create", check=False)
    home.oauthctl("secret", "set", "work", "client_secret", stdin=SECRET + "\n")
    home.oauthctl("login", "work")
    assert server.say_hello(home.oauthctl("get-token", "work", "--force").lines[0]) == 200
    line.seen("login and refresh work")


@pytest.mark.parametrize("nonce", [False, True], ids=["plain", "nonce"])
def test_a_pushed_request_for_bound_tokens(home, agent, glewlwyd, log_in, row, nonce):
    line = row(NAME, "pushed request and DPoP in one login" + (", with nonce" if nonce else ""))
    server = glewlwyd(pushed_only=True, dpop_nonce=nonce)
    log_in(server, "--dpop")
    assert json.loads(curl(home, server).stdout)["sub"] and "request_uri=" in opened(home)[-1]
    line.seen("works" + ("; the server wants its nonce in the pushed proof and does not tell it, so that goes without"
                         if nonce else ""))


def test_a_pushed_request_of_a_client_with_a_key(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "pushed request of a client with `private_key_jwt`"), glewlwyd(pushed_only=True)
    home.oauthctl("vault", "create", check=False)
    log_in(server, "--client-authentication", "private_key_jwt", client="pusher", check=False)
    public = json.loads(home.oauthctl("key", "create", "work").stdout)
    server.add_client(Client("pusher", "authorization-code", "unused"), client_secret="", jwks={"keys": [public]},
                      token_endpoint_auth_method=["private_key_jwt"])
    edit(home, "work", assertion_audience='"endpoint"')
    home.oauthctl("login", "work", "--accept-changes")
    assert "request_uri=" in opened(home)[-1]
    line.seen("works with `assertion_audience = \"endpoint\"`: the server does not take its issuer or token endpoint "
              "there, which RFC 9126 section 2 has it do")


def test_a_client_that_the_server_registers(home, agent, glewlwyd, use_browser, row):
    line, server = row(NAME, "registration (RFC 7591)"), glewlwyd()
    use_browser("glewlwyd_person", WORLD_CA=server.ca_file)
    result = home.oauthctl(
        "login", "work", server.issuer, "--scope", "openid read", "--ca", server.ca_file, check=False)
    if result.status == 0:
        assert server.say_hello(get_token(home)) == 200
        line.seen("works")
        removed = home.oauthctl("account", "forget", "work", "--yes")
        line.seen(f"`account forget` deletes the client (RFC 7592): “{sentence(removed)}”")
    else:
        line.seen(f"exit {result.status}: “{sentence(result)}”")


def test_a_token_for_one_resource(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "`resource` (RFC 8707)"), glewlwyd()
    log_in(server, "--resource", RESOURCE)
    assert claims(get_token(home))["aud"] == RESOURCE
    line.seen("works; the token's `aud` is the resource")
    edit(home, "work", resource='["https://other.example.com/"]')
    refused = home.oauthctl("login", "work", "--accept-changes", check=False)
    assert refused.status != 0
    line.seen(f"another one: “{sentence(refused)}”")


def test_the_name_of_who_is_logged_in(home, agent, glewlwyd, log_in, row):
    line, server = row(NAME, "ID token"), glewlwyd()
    log_in(server)
    told = claims(home.oauthctl("get-token", "work", "--type", "id").lines[0])
    assert told["iss"] == server.issuer and "native-app" in told["aud"]
    line.seen("its claims are judged and it is kept")


def test_a_device_login_with_bound_tokens(home, agent, glewlwyd, row):
    line, server = row(NAME, "device flow with DPoP"), glewlwyd()
    command, code = start_device_login(home, server, "--dpop")
    Person(server.base, server.ca_file).approve_device(code, "tv-app", "openid read")
    _, stderr = command.communicate(timeout=60)
    assert command.returncode == 0, stderr
    assert json.loads(curl(home, server).stdout)["sub"]
    line.seen("works")
