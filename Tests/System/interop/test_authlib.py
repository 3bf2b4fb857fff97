"""authlib's own grants judge what is sent: signed assertions, service accounts, one company login for two servers."""

import json

import pytest

from interop.authlib_server import Site
from interop.said import sentence
from support.accounts import define
from support.login import get_token, wait_until

NAME = "authlib"
SECRET = "shared-secret-of-32-bytes-or-more-9c41"


@pytest.fixture(scope="module")
def site(scratch):
    server = Site(scratch / "authlib")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def resource(scratch, site):
    """Another server, on terms with the first."""
    server = Site(scratch / "authlib-resource", company=site)
    server.add_client("mcp-client")
    site.terms[server.issuer] = "mcp-client"
    yield server
    server.stop()


def log_in(home, server, *arguments, name="work", scope="openid read", **how):
    home.use_browser(ca_file=server.ca_file)
    return home.oauthctl("login", name, server.issuer, "--scope", scope, "--ca", server.ca_file, *arguments, **how)


def force(home, name="work"):
    return home.oauthctl("get-token", name, "--force").lines[0]


def test_a_client_is_registered_and_deleted_again(home, agent, site, row):
    line, before = row(NAME, "`oauthctl login URL`, registration (RFC 7591, 7592)"), set(site.clients)
    log_in(home, site)
    assert site.say_hello(get_token(home)) == 200 and site.say_hello(force(home)) == 200
    [made] = set(site.clients) - before
    assert site.clients[made].method == "none"
    home.oauthctl("account", "forget", "work", "--yes")
    wait_until(lambda: made not in site.clients, 30, "the client is deleted")
    line.seen("works with the URL alone; every refresh rotates; `account forget` deletes the client")


def test_who_is_logged_in(home, agent, site, row):
    line = row(NAME, "ID token, `iss` of the redirect (RFC 9207)")
    site.add_client("native")
    log_in(home, site, "--client-id", "native", "--user", site.user)
    assert site.user in home.oauthctl("status").stdout
    line.seen("its claims are judged, `nonce` and `at_hash` among them")


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_client_with_a_secret(home, agent, site, row, method):
    line = row(NAME, f"login, refresh and logout, {method}")
    secret = "a secret-with+odd%20:characters&more" if method == "client_secret_post" else "simple-secret-8"
    site.add_client(method, method, secret)
    log_in(home, site, "--client-id", method, "--client-authentication", method, "--client-secret-stdin",
           stdin=secret + "\n")
    token = force(home)
    assert site.say_hello(token) == 200
    home.oauthctl("logout", "work")
    assert site.say_hello(token) == 401
    line.seen("works; logout revokes the access token as well")


@pytest.mark.parametrize("algorithm", ["ES256", "RS256"])
def test_a_client_that_proves_itself_by_a_private_key(home, agent, site, row, algorithm):
    line, client = row(NAME, f"`private_key_jwt`, {algorithm}"), f"key-{algorithm}"
    home.oauthctl("vault", "create", check=False)
    log_in(home, site, "--client-id", client, "--client-authentication", "private_key_jwt", check=False)
    public = json.loads(home.oauthctl("key", "create", "work", "--algorithm", algorithm).stdout)
    site.add_client(client, "client_assertion_jwt", keys=[public])
    home.oauthctl("login", "work")
    token = force(home)
    assert site.say_hello(token) == 200
    home.oauthctl("logout", "work")
    assert site.say_hello(token) == 401
    line.seen("login, refresh and revocation work; each assertion is used once")


def test_a_client_that_signs_with_its_secret(home, agent, site, row):
    line = row(NAME, "`client_secret_jwt`")
    site.add_client("signer", "client_assertion_jwt", SECRET)
    log_in(home, site, "--client-id", "signer", "--client-authentication", "client_secret_jwt", "--client-secret-stdin",
           stdin=SECRET + "\n")
    assert site.say_hello(force(home)) == 200
    line.seen("login and refresh work")


def test_a_machine_with_a_key(home, agent, site, row):
    line = row(NAME, "client credentials by `private_key_jwt`")
    home.oauthctl("vault", "create", check=False)
    log_in(home, site, "--grant", "client_credentials", "--client-id", "machine", "--client-authentication",
           "private_key_jwt", scope="read", check=False)
    site.add_client("machine", "client_assertion_jwt", keys=[
        json.loads(home.oauthctl("key", "create", "work").stdout)])
    home.oauthctl("login", "work")
    assert site.say_hello(get_token(home)) == 200
    line.seen("works")


@pytest.mark.parametrize("approved", [True, False], ids=["allow", "deny"])
def test_a_device_login(home, agent, site, row, approved):
    line = row(NAME, "device flow" + ("" if approved else ", the person refuses"))
    site.add_client("tv")
    command = home.start(
        home.programs / "oauthctl", "login", "work", site.issuer, "--device", "--client-id", "tv", "--scope", "read",
        "--ca", site.ca_file)
    code = next(next(command.stderr).strip() for text in command.stderr if text.startswith("and enter the code"))
    site.answers[code] = (site.user, approved)
    _, stderr = command.communicate(timeout=60)
    if approved:
        assert command.returncode == 0 and site.say_hello(get_token(home)) == 200, stderr
        line.seen("works")
    else:
        assert command.returncode == 9 and "access_denied" in stderr, stderr
        line.seen("`access_denied`, exit 9")


def test_a_service_account(home, agent, site, row):
    line = row(NAME, "`jwt_bearer` (RFC 7523): the signed assertion is the grant")
    home.oauthctl("vault", "create", check=False)
    define(home, "work", f'issuer = "{site.issuer}"', 'client_id = "service"', 'grant = "jwt_bearer"',
           f'username = "{site.user}"', 'scope = "read"', f'ca_file = "{site.ca_file}"')
    public = json.loads(home.oauthctl("key", "create", "work").stdout)
    site.add_client("service", keys=[public])
    home.oauthctl("login", "work")
    assert site.say_hello(get_token(home)) == 200 and site.say_hello(force(home)) == 200
    line.seen("works, in the name of a person; renewed without anybody")


def test_a_company_login_for_another_server(home, agent, site, resource, row):
    """The second leg is judged by authlib's IDJAGGrant, of the draft."""
    line = row(NAME, "ID-JAG: a company login, the token of another server")
    site.add_client("company-client")
    log_in(home, site, "--client-id", "company-client", name="company")
    define(home, "mcp", f'issuer = "{resource.issuer}"', 'client_id = "mcp-client"', 'grant = "id_jag"',
           'subject_account = "company"', f'resource = "{resource.resource}"', 'scope = "read"',
           f'ca_file = "{resource.ca_file}"')
    home.oauthctl("login", "mcp", "--accept-changes")
    first, second = get_token(home, "mcp"), force(home, "mcp")
    assert first != second and resource.say_hello(second) == 200 and len(resource.used) == 2
    assert home.oauthctl("curl", "mcp", "--silent", "--cacert", resource.ca_file, resource.resource).stdout
    line.seen("works in two legs, without a browser; each assertion is used once")
    del site.terms[resource.issuer]
    try:
        refused = home.oauthctl("get-token", "mcp", "--force", check=False)
    finally:
        site.terms[resource.issuer] = "mcp-client"
    assert refused.status == 9 and "invalid_target" in refused.stderr, refused
    line.seen(f"a server that the company is not on terms with: “{sentence(refused)}”")


def test_a_login_that_the_server_ended(home, agent, site, row):
    line = row(NAME, "dead refresh token")
    site.add_client("native")
    log_in(home, site, "--client-id", "native")
    for token in site.tokens:
        token["revoked"] = True
    failed = home.oauthctl("get-token", "work", "--force", check=False)
    assert failed.status == 4 and "oauthctl login work" in failed.stderr, failed
    line.seen("`invalid_grant`: `login_required` at once")
