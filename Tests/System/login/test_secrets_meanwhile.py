"""What is kept, changed or forgotten while a login is under way that brings a client secret."""

import json
import subprocess

import pytest

from login.provider import Provider, use_silent_browser
from support.accounts import define, edit
from support.login import wait_until
from support.wire import WireError


class Secretive(Provider):
    """Takes the client secrets in `good`."""

    def __init__(self):
        self.good = {"first"}
        super().__init__()

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/token" and self.seen[-1][1].get("client_secret") not in self.good:
            return "401 Unauthorized", {}, {"error": "invalid_client"}
        return status, headers, answer


@pytest.fixture
def provider():
    with Secretive() as provider:
        provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"]}
        yield provider


@pytest.fixture
def account(home, agent, provider):
    use_silent_browser(home)
    home.oauthctl(
        "login", "one", provider.issuer, "--client-id", "app", "--client-secret-stdin", "--client-authentication",
        "client_secret_post", stdin="first\n")


def in_browser(home, provider, *options, secret=None):
    """A second login, whose page is not answered yet. Returns it and what lets the page be answered."""
    gate = provider.hold("/authorize")
    login = home.start(home.programs / "oauthctl", "login", "one", *options, stdin=subprocess.PIPE)
    login.stdin.write(f"{secret}\n" if secret else "")
    login.stdin.close()
    wait_until(lambda: provider.kinds().count("authorize") == 2, 30, "the browser")
    return login, gate


@pytest.mark.parametrize("kept", ["secret", "nothing", "key"])
def test_what_was_done_meanwhile_stays(home, account, provider, kept):
    login, gate = in_browser(home, provider, "--client-secret-stdin", secret="second")
    provider.good = {"second", "third"}
    if kept == "secret":
        home.oauthctl("secret", "set", "one", "client_secret", stdin="third\n")
    else:
        edit(home, "one", client_authentication='"private_key_jwt"')
        home.oauthctl("secret", "forget", "one", "client_secret")
    if kept == "key":
        home.oauthctl("key", "create", "one")
        key = home.oauthctl("key", "show", "one").stdout
    gate.set()
    assert login.wait(30) == 0, login.stderr.read()
    if kept == "secret":
        provider.good = {"third"}
        assert home.oauthctl("get-token", "one", "--force").status == 0
    elif kept == "key":
        assert home.oauthctl("key", "show", "one").stdout == key
    else:
        shown = json.loads(home.oauthctl("account", "show", "one", "--json").stdout)
        assert "client_secret" not in shown["secrets"]


def test_a_secret_for_a_login_joins_no_other_that_is_under_way(home, account, provider):
    login, gate = in_browser(home, provider)
    refused = home.oauthctl("login", "one", "--client-secret-stdin", stdin="second\n", check=False)
    assert refused.status == 4 and "another login is under way, begun with other secrets" in refused.stderr, refused
    gate.set()
    assert login.wait(30) == 0
    # It was for that login alone.
    home.oauthctl("login", "one")
    assert provider.form("authorization_code")["client_secret"] == "first"


def test_of_two_logins_at_once_each_goes_by_its_own_secret_or_not_at_all(home, account, provider):
    for number in range(2):
        logins = []
        for secret in ("first", f"wrong-{number}"):
            login = home.start(
                home.programs / "oauthctl", "login", "one", "--client-secret-stdin", stdin=subprocess.PIPE)
            login.stdin.write(secret + "\n")
            login.stdin.close()
            logins.append(login)
        ends = [(login.wait(60), login.stderr.read()) for login in logins]
        assert ends[1][0] != 0, ends
        assert home.oauthctl("get-token", "one", "--force").status == 0


def test_a_secret_of_a_login_that_was_refused_is_sent_by_no_other(home, account, provider):
    edit(home, "one", client_id='"other"')
    refused = home.oauthctl("login", "one", "--client-secret-stdin", stdin="mistyped\n", check=False)
    assert refused.status == 64, refused
    home.oauthctl("login", "one", "--accept-changes")
    assert provider.form("authorization_code")["client_secret"] == "first"


def test_a_secret_that_comes_later_joins_no_first_login_without_one(home, agent, provider):
    use_silent_browser(home)
    gate = provider.hold("/authorize")
    words = ["login", "one", provider.issuer, "--client-id", "app", "--client-authentication", "client_secret_post"]
    first = home.start(home.programs / "oauthctl", *words, "--client-secret-stdin", stdin=subprocess.PIPE)
    first.stdin.write("wrong\n")
    first.stdin.close()
    wait_until(lambda: "authorize" in provider.kinds(), 30, "the browser")
    later = home.oauthctl("login", "one", "--client-secret-stdin", stdin="first\n", check=False)
    assert later.status == 4 and "begun with other secrets" in later.stderr, later
    gate.set()
    assert first.wait(30) == 9


def test_secrets_that_wait_for_logins_are_bounded_together(home, agent, provider):
    """Four of an account, where the first one goes, and 256 of all of them, where another one is refused."""
    home.oauthctl("vault", "create")
    names = [f"a{number}" for number in range(65)]
    for name in names:
        define(home, name, f'issuer = "{provider.issuer}"', 'client_id = "mine"')
    home.oauthctl("reload")

    def give(wire, name, secrets_id):
        wire.call(
            "secret.set", account=name, kind="client_secret", value="s" * 1000, secrets_id=secrets_id)

    with agent.connect() as wire:
        for name in names[:64]:
            for number in range(4):
                give(wire, name, str(number))
        with pytest.raises(WireError, match="secrets wait for 256 logins already") as refused:
            give(wire, names[64], "one more")
        assert refused.value.failure == "overloaded"
        with pytest.raises(WireError, match="is gone: .* other logins came between"):
            give(wire, names[0], "5")
            wire.call("login.start", account=names[0], request_id="1", secrets_id="0")
        wire.call("secret.forget", account=names[0], kind="client_secret")
        give(wire, names[64], "one more")
