"""An API wants more than a login's scope: what is told, and the login that asks for it."""

import json

import pytest

from network.listeners import Portal
from support.accounts import account_file
from support.dev_server import consenting
from support.login import get_token
from support.wire import WireError


@pytest.fixture
def server(home, agent):
    with consenting(home) as started:
        home.oauthctl("login", "work", started.issuer, "--client-id", "dev", "--scope", "read")
        yield started


def granted(home):
    return json.loads(home.oauthctl("get-token", "work", "--json").stdout)["scope"]


@pytest.mark.parametrize("options", [[], ["--no-clobber"]], ids=["tried again", "not tried again"])
def test_curl_tells_the_scope_that_is_missing_and_the_login_that_asks_for_it(home, server, options):
    url = f"{server.issuer}/api/scope/write"
    told = home.oauthctl("curl", "work", "-sS", *options, url, check=False)
    assert told.status == 0, "curl's own"
    assert "oauthctl login work --add-scope write" in told.stderr
    assert server.refreshes() == []
    home.oauthctl("login", "work", "--add-scope", "write")
    again = home.oauthctl("curl", "work", "-sS", *options, url)
    assert "oauthctl" not in again.stderr and json.loads(again.stdout)["hello"] == "alice"


@pytest.mark.parametrize(
    "spelled", [str, str.upper, ".".join, lambda token: token[:9] + " " + token[9:]],
    ids=["as it is", "in capitals", "dotted", "in two"])
def test_a_token_that_an_api_names_as_the_missing_scope_is_shown_to_nobody(home, server, spelled):
    token = get_token(home)
    scope = spelled(token)
    challenge = f'WWW-Authenticate: Bearer error="insufficient_scope", scope="{scope}"'
    with Portal("403 Forbidden", "no", [challenge]) as api:
        told = home.oauthctl("curl", "--any-host", "work", "-sS", f"http://127.0.0.1:{api.port}/", check=False)
    assert "wants a scope that this token lacks" in told.stderr and scope[:9] not in told.stdout + told.stderr, told


@pytest.mark.parametrize("spelled", [str, str.upper, ".".join], ids=["as it is", "in capitals", "dotted"])
def test_a_token_that_was_renewed_before_an_api_named_it_is_shown_to_nobody(home, server, spelled):
    """The agent no longer has it; only the caller knows what the API was sent."""
    token = get_token(home)
    scope = spelled(token)

    class Late(Portal):
        def serve(self, connection):
            home.oauthctl("get-token", "work", "--force")
            super().serve(connection)

    challenge = f'WWW-Authenticate: Bearer error="insufficient_scope", scope="{scope}"'
    with Late("403 Forbidden", "no", [challenge]) as api:
        told = home.oauthctl("curl", "--any-host", "work", "-sS", f"http://127.0.0.1:{api.port}/", check=False)
    assert get_token(home) != token
    assert "wants a scope that this token lacks" in told.stderr and scope[:9] not in told.stdout + told.stderr, told


def test_curl_keeps_to_the_scope_that_it_was_asked_with_over_a_401_and_a_403(home, server):
    home.oauthctl("login", "work", "--add-scope", "write")
    url = f"{server.issuer}/api/scope/write"
    asked = ["curl", "--scope", "read", "work", "-sS"]
    narrow = ["get-token", "work", "--scope", "read", "--json"]
    first = json.loads(home.oauthctl(*narrow).stdout)
    assert first["scope"] == ["read"]
    told = home.oauthctl(*asked, url)
    assert "wants write" in told.stderr and "oauthctl curl --scope read --scope write work" in told.stderr
    server.script(revoke_access_tokens=True, clear_log=True)
    again = home.oauthctl(*asked, f"{server.issuer}/api/scope/read")
    assert json.loads(again.stdout)["hello"] == "alice" and again.stderr == ""
    second = json.loads(home.oauthctl(*narrow).stdout)
    assert second["scope"] == ["read"] and second["access_token"] != first["access_token"]
    assert len(server.refreshes()) == 1, "the token of this scope alone was got anew"
    # The login's own token is another one.
    assert json.loads(home.oauthctl("curl", "work", "-sS", url).stdout)["hello"] == "alice"


def test_the_scope_is_added_where_the_person_sees_it(home, server):
    before = account_file(home).read_text()
    result = home.oauthctl("login", "work", "--add-scope", "write", "--add-scope", "profile")
    assert '+ scope = ["read", "write", "profile"]' in result.stderr
    assert account_file(home).read_text() == before.replace('["read"]', '["read", "write", "profile"]')
    assert set(granted(home)) == {"read", "write", "profile"}
    assert "asks for that already" in home.oauthctl("login", "work", "--add-scope", "write").stderr


def test_the_file_behind_a_link_is_named_where_the_scope_is_added_to_it(home, server):
    notes = account_file(home).rename(home.root / "notes.toml")
    account_file(home).symlink_to(notes)
    result = home.oauthctl("login", "work", "--add-scope", "write")
    assert "work.toml (a link to ~/notes.toml)" in result.stderr and '"write"' in notes.read_text(), result


def test_a_login_that_fails_takes_the_scope_back(home, server):
    before, token = account_file(home).read_text(), get_token(home)
    failed = home.oauthctl("login", "work", "--add-scope", "no-such-scope", check=False)
    assert failed.status == 9 and "is as it was" in failed.stderr
    assert account_file(home).read_text() == before and get_token(home) == token


def test_a_scope_that_was_asked_for_and_not_granted_is_not_asked_for_in_a_circle(home, server):
    server.script(answers=[{
        "endpoint": "token", "action": "answer", "status": 200, "grant_type": "authorization_code",
        "body": json.dumps({"access_token": "a" * 43, "token_type": "Bearer", "expires_in": 3600, "scope": "read"})}])
    home.oauthctl("login", "work", "--add-scope", "write")
    with home.agent.connect() as wire:
        with pytest.raises(WireError) as refused:
            wire.call("token.get", account="work", needed_scope=["write"])
    assert refused.value.failure == "server_refused" and refused.value.data["missing_scope"] == ["write"]
    assert "not granted" in home.oauthctl("account", "show", "work").stdout


def test_a_new_account_names_its_scopes_at_once(home, server):
    refused = home.oauthctl("login", "other", server.issuer, "--client-id", "dev", "--add-scope", "write", check=False)
    assert refused.status == 64 and "--scope" in refused.stderr
