"""idpyoidc's endpoints judge what is sent: token exchange, and clients that sign."""

import json

import pytest

from interop.idpyoidc_server import Provider
from interop.said import claims, sentence
from support.accounts import define, edit
from support.login import get_token

NAME = "idpyoidc"
SECRET = "shared-secret-of-32-bytes-or-more-9c41"


@pytest.fixture(scope="module")
def provider(scratch):
    server = Provider(scratch / "idpyoidc")
    yield server
    server.stop()


def log_in(home, server, client, *arguments, name="work", **how):
    home.use_browser(ca_file=server.ca_file)
    return home.oauthctl(
        "login", name, server.issuer, "--client-id", client, "--scope", "openid offline_access", "--ca", server.ca_file,
        "--port", server.redirect_port, *arguments, **how)


def force(home, name="work"):
    return home.oauthctl("get-token", name, "--force").lines[0]


def test_a_public_client(home, agent, provider, row):
    line = row(NAME, "login, public client, code + PKCE, ID token")
    provider.add_client("native")
    log_in(home, provider, "native")
    first = get_token(home)
    assert provider.say_hello(first) == 200, provider.http(
        "GET", provider.resource, headers={"Authorization": f"Bearer {first}"}).text
    assert provider.say_hello(force(home)) == 200
    assert claims(home.oauthctl("get-token", "work", "--type", "id").lines[0])["iss"] == provider.issuer
    line.seen("works; the redirect is exact: `--port N`")


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "client_secret_jwt"])
def test_a_client_with_a_secret(home, agent, provider, row, method):
    line = row(NAME, f"login and refresh, {method}")
    provider.add_client(method, method, SECRET)
    log_in(home, provider, method, "--client-authentication", method, "--client-secret-stdin", stdin=SECRET + "\n")
    assert provider.say_hello(force(home)) == 200
    line.seen("works")


@pytest.mark.parametrize("algorithm", ["ES256", "RS256"])
def test_a_client_that_proves_itself_by_a_private_key(home, agent, provider, row, algorithm):
    line, client = row(NAME, f"`private_key_jwt`, {algorithm}"), f"key-{algorithm}"
    home.oauthctl("vault", "create", check=False)
    log_in(home, provider, client, "--client-authentication", "private_key_jwt", check=False)
    public = json.loads(home.oauthctl("key", "create", "work", "--algorithm", algorithm).stdout)
    provider.add_client(client, "private_key_jwt", keys=[public])
    home.oauthctl("login", "work")
    assert provider.say_hello(force(home)) == 200
    line.seen("login and refresh work; each assertion is used once")


def test_a_token_for_another_accounts_token(home, agent, provider, row):
    line = row(NAME, "token exchange (RFC 8693)")
    provider.add_client("company-client")
    provider.add_client("exchanger", "client_secret_basic", SECRET)
    log_in(home, provider, "company-client", name="company")
    define(home, "api", f'issuer = "{provider.issuer}"', 'client_id = "exchanger"', 'grant = "token_exchange"',
           'subject_account = "company"', f'ca_file = "{provider.ca_file}"', 'scope = "openid"',
           'requested_token_type = "access_token"')
    home.oauthctl("secret", "set", "api", "client_secret", stdin=SECRET + "\n")
    first = home.oauthctl("login", "api", "--accept-changes", check=False)
    assert first.status == 0, (first, provider.failures)
    one, two = get_token(home, "api"), force(home, "api")
    assert one != two and get_token(home, "company") not in (one, two)
    assert provider.say_hello(two) == 200
    line.seen("works; renewed from the other login without anybody")
    edit(home, "api", requested_token_type='"urn:ietf:params:oauth:token-type:jwt"')
    refused = home.oauthctl("login", "api", "--accept-changes", check=False)
    assert refused.status == 9, refused
    line.seen(f"a type that it does not issue: “{sentence(refused)}”")
