"""Apache with mod_oauth2 believes nobody: it asks the authorization server about each token. API and git."""

import contextlib
import datetime
import json
import sqlite3
import subprocess

import pytest

from network.accounts import log_in_by_password, write_account
from support.login import get_token, wait_until

IDENTITY = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]


@pytest.fixture(params=["django-oauth-toolkit", "Glewlwyd"])
def place(request, home, agent, world, glewlwyd, apache):
    """An Apache and an account `work` whose tokens may go there: (name, Apache, authorization server)."""
    server = world(access_ttl=30) if request.param != "Glewlwyd" else glewlwyd(access_ttl=30)
    introspection = server.introspection_endpoint if request.param == "Glewlwyd" else server.issuer + "/introspect/"
    there = apache(introspection)
    write_account(
        home, "work", issuer=server.issuer, token_endpoint=server.token_endpoint, hosts=[f"localhost:{there.port}"],
        ca_file=str(server.ca_file) if server.ca_file else None)
    log_in_by_password(home, "work")
    return f"Apache + mod_oauth2, tokens of {request.param}", there, server


def curl(home, there, url, *arguments, check=True):
    return home.oauthctl("curl", "--silent", "--show-error", "--cacert", there.ca_file, *arguments, url, check=check)


def test_the_api_takes_the_token(home, place, row):
    name, there, _ = place
    line = row(name, "`oauthctl curl`")
    assert there.ask(there.resource).status_code == 401
    assert curl(home, there, there.resource).stdout == '{"hello": "api"}\n'
    line.seen("200")


def test_a_token_that_the_server_has_forgotten_is_replaced(home, place, row):
    """The 401 names `invalid_token`: one refresh, one repeat."""
    name, there, server = place
    line = row(name, "access token ended behind our back")
    old = get_token(home)
    end_access(server, old)
    wait_until(lambda: there.ask(there.resource, old).status_code == 401, 20, "Apache hears of it")
    result = curl(home, there, there.resource)
    assert result.stdout == '{"hello": "api"}\n' and get_token(home) != old, result.stderr
    challenge = there.ask(there.resource, old).headers["WWW-Authenticate"]
    assert 'error="invalid_token"' in challenge
    line.seen("401 `invalid_token`, refreshed and repeated once: 200")


def test_a_token_that_was_revoked_behind_our_back(home, place, row):
    """RFC 7009 section 2.1 lets the server end the whole grant with an access token."""
    name, there, server = place
    line = row(name, "access token revoked (RFC 7009) behind our back")
    old = get_token(home)
    revoke(server, old)
    wait_until(lambda: there.ask(there.resource, old).status_code == 401, 20, "Apache hears of it")
    result = curl(home, there, there.resource)
    if result.stdout == '{"hello": "api"}\n':
        return line.seen("refreshed and repeated once: 200")
    assert "login needed" in result.stderr and "oauthctl login work" in result.stderr, result
    assert home.oauthctl("get-token", "work", check=False).status == 4
    line.seen("the server ends the refresh token with it: `login_required` at once")


def test_a_missing_scope_costs_one_refresh_at_most(home, place, row):
    """A 401 that gives no reason may mean a dead token: one try, and then it is the caller's."""
    name, there, _ = place
    line = row(name, "scope is missing")
    old = get_token(home)
    answer = there.ask(there.writable, old)
    challenge = answer.headers.get("WWW-Authenticate")
    result = curl(home, there, there.writable, "--output", "/dev/null", "--write-out", "%{http_code}", check=False)
    assert result.stdout.endswith(str(answer.status_code)), result
    new = get_token(home)
    line.seen(f"{answer.status_code} with {'challenge `' + challenge + '`' if challenge else 'no challenge'}; the "
              f"token is {'kept' if new == old else 'refreshed once'}, the answer passed on")


def test_git_clones_and_pushes(home, place, row):
    name, there, _ = place
    line = row(name, "git clone and push")
    home.oauthctl("setup", "git", "--yes", "--host", f"localhost:{there.port}")
    trust = ["-c", f"http.{there.base}.sslCAInfo={there.ca_file}"]
    home.run("git", *trust, "clone", "--quiet", there.repository, "work")
    (home.root / "work" / "new").write_text("new\n")
    home.run("git", "-C", "work", "add", "new")
    home.run("git", "-C", "work", *IDENTITY, "commit", "--quiet", "-m", "new")
    home.run("git", "-C", "work", *trust, "push", "--quiet", "origin", "HEAD")
    log = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", there.directory / "repositories" / "demo.git", "log", "--format=%s"],
        capture_output=True, text=True, check=True).stdout
    assert log.splitlines() == ["new", "first"]
    line.seen("works, as password of Basic; the 401 offers Basic and Bearer in two fields")


def test_git_after_the_token_has_ended(home, place, row):
    name, there, server = place
    line = row(name, "git, access token ended behind our back")
    home.oauthctl("setup", "git", "--yes", "--host", f"localhost:{there.port}")
    trust = ["-c", f"http.{there.base}.sslCAInfo={there.ca_file}"]
    command = ["git", *trust, "ls-remote", "--quiet", there.repository, "main"]
    old = get_token(home)
    end_access(server, old)
    wait_until(lambda: there.ask(there.resource, old).status_code == 401, 20, "Apache hears of it")
    tries = 0
    while True:
        tries += 1
        if home.run(*command, check=False).status == 0:
            break
        assert tries < 3
    assert get_token(home) != old
    line.seen("fails once, then works: git asks once a command, and hands the refused token back" if tries == 2 else
              "works at once")


def test_tokens_that_are_bound_to_a_key(home, agent, glewlwyd, apache, use_browser, row):
    """mod_oauth2 judges each proof, by the key that Glewlwyd's introspection names."""
    line, server = row("Apache + mod_oauth2 (`type=dpop`), tokens of Glewlwyd", "`oauthctl curl`"), glewlwyd()
    there = apache(server.introspection_endpoint)
    use_browser("glewlwyd_person", WORLD_CA=server.ca_file)
    home.oauthctl(
        "login", "work", server.issuer, "--client-id", "native-app", "--scope", "openid read", "--ca", server.ca_file,
        "--port", server.redirect_port, "--dpop", "--host", there.base)
    assert curl(home, there, there.proved).stdout == '{"hello": "dpop"}\n'
    assert curl(home, there, there.proved + "?page=2", "--request", "GET").stdout == '{"hello": "dpop"}\n'
    shown = json.loads(home.oauthctl("get-token", "work", "--url", there.proved, "--format", "headers").stdout)
    assert there.ask(there.proved, headers=shown).status_code == 200
    line.seen("200, a new proof for each request; the two headers of `get-token --url` work too")
    for wrong in ({"Authorization": shown["Authorization"]},
                  {"Authorization": shown["Authorization"].replace("DPoP", "Bearer")}, shown):
        assert there.ask(there.proved, headers=wrong).status_code == 401
    line.seen("401 without a proof, as Bearer, and for a proof that was used before")


def revoke(server, token):
    """RFC 7009, by somebody else: our agent is not told."""
    data = {"token": token, "token_type_hint": "access_token"}
    path = "/revoke" if server.issuer.endswith("/oidc") else "/revoke_token/"
    answer = server.http("POST", server.issuer + path, data=data, auth=("legacy", "legacy-secret"))
    assert answer.ok, answer.text


def end_access(server, token):
    """The server ends an access token and nothing else."""
    if server.issuer.endswith("/oidc"):
        return revoke(server, token)
    # Its revocation would end the refresh token too, whose life is counted from the end of the access token's.
    just_now = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=2)
    with contextlib.closing(sqlite3.connect(server.directory / "site.sqlite3", timeout=20)) as site, site:
        changed = site.execute(
            "UPDATE oauth2_provider_accesstoken SET expires = ? WHERE token = ?",
            [just_now.strftime("%Y-%m-%d %H:%M:%S"), token])
        assert changed.rowcount == 1
