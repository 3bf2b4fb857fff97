"""Somebody who may write account files moves an account between two servers: the secret of one never reaches the other.

Each test is the attack: it was seen to succeed before the programs were mended.
"""

import pytest

from attacks.recording_server import RecordingServer
from support.accounts import define, edit
from support.login import wait_until
from support.terminal import run_at_terminal
from support.wire import WireError
from world.accounts import PASSWORD


@pytest.fixture
def first():
    with RecordingServer("first") as server:
        yield server


@pytest.fixture
def second():
    with RecordingServer("second") as server:
        yield server


def point(home, server, authentication="client_secret_basic", issuer=None, revocation=None):
    define(
        home, "work", f'issuer = "{(issuer or server).url}"', f'token_endpoint = "{server.url}/token"',
        f'revocation_endpoint = "{(revocation or server).url}/revoke"', 'client_id = "c"', 'username = "u"',
        'grant = "password"', f'client_authentication = "{authentication}"')


def set_secret(home, value, kind="client_secret"):
    home.oauthctl("secret", "set", "work", kind, stdin=value + "\n")


def log_in(home, *options, password=PASSWORD):
    home.oauthctl("login", "work", "--password-stdin", *options, stdin=password + "\n")


@pytest.fixture
def account(home, agent, first):
    """Logged in at the first server."""
    point(home, first)
    home.oauthctl("vault", "create")
    set_secret(home, "secret-of-first")
    log_in(home)


def test_what_is_still_to_be_revoked_is_told_with_its_own_secret(home, agent, account, first, second):
    first.revocation = 503
    home.oauthctl("logout", "work")
    assert first.revoked("secret-of-first") > 0
    point(home, second)
    set_secret(home, "secret-of-second")
    log_in(home, "--accept-changes")
    first.revocation, before = 200, first.revoked("secret-of-first")
    # A restart forgets how long the server was to be left alone.
    agent.restart()
    home.oauthctl("status", check=False)
    wait_until(lambda: first.revoked("secret-of-first") > before, 60, "it is told again")
    assert "secret-of-second" not in first.text and "secret-of-first" not in second.text


@pytest.mark.parametrize("restarted", [False, True], ids=["at once", "after a restart"])
def test_a_refresh_takes_no_client_secret_of_another_server(home, agent, account, first, second, restarted):
    point(home, second)
    set_secret(home, "secret-of-second")
    point(home, first)
    if restarted:
        agent.restart()
    first.requests.clear()
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert first.requests == []
    assert refused.status == 9 and "oauthctl secret set work client_secret" in refused.stderr
    assert second.url in refused.stderr and first.url in refused.stderr
    assert "client_rejected" in home.oauthctl("status", "--json", check=False).stdout
    # The login lives on, and its own secret mends it.
    set_secret(home, "secret-of-first")
    assert home.oauthctl("get-token", "work", "--force").stdout == "token-2-of-first\n"
    assert "secret-of-second" not in first.text


def test_what_is_accepted_moves_no_secret_of_another_server(home, agent, account, first, second):
    """Another host is shown and accepted; the client secret that is kept was given for the second server."""
    point(home, second)
    set_secret(home, "secret-of-second")
    point(home, first)
    edit(home, "work", hosts=f'["{first.url}", "http://127.0.0.1:9"]')
    home.oauthctl("account", "accept", "work", "--yes")
    home.oauthctl("get-token", "work", "--force", check=False)
    assert "secret-of-second" not in first.text


def test_what_is_accepted_moves_the_secrets_of_the_login(home, agent, account, first, second):
    point(home, second, issuer=first)
    home.oauthctl("account", "accept", "work", "--yes")
    assert home.oauthctl("get-token", "work", "--force").stdout == "token-1-of-second\n"
    assert "secret-of-first" in second.text


def test_a_refresh_token_is_for_the_server_of_the_file(home, agent, account, first, second):
    point(home, second)
    refused = home.oauthctl(
        "secret", "set", "work", "refresh_token", "--replace", stdin="refresh-token-of-second\n", check=False)
    assert refused.status == 3 and "definition" in refused.stderr
    point(home, first)
    home.oauthctl("get-token", "work", "--force")
    assert "refresh-token-of-second" not in first.text


def test_a_logout_takes_no_client_secret_of_another_server(home, agent, account, first, second):
    point(home, second)
    set_secret(home, "secret-of-second")
    said = home.oauthctl("logout", "work").stderr
    assert first.revoked("secret-of-second") == 0
    assert "oauthctl secret set work client_secret" in said
    point(home, first)
    set_secret(home, "secret-of-first")
    wait_until(lambda: first.revoked("secret-of-first"), 60, "it is told")
    assert "secret-of-second" not in first.text


def test_a_kept_password_goes_to_no_other_server(home, agent, first, second):
    point(home, first, authentication="none")
    log_in(home, "--keep-password", password="password-of-first")
    point(home, second, authentication="none")
    set_secret(home, "password-of-second", kind="password")
    point(home, first, authentication="none")
    first.refuses_refresh = True
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert "password-of-second" not in first.text
    assert refused.status == 4 and "oauthctl login work" in refused.stderr
    # Its own is used as before.
    set_secret(home, "password-of-first", kind="password")
    assert home.oauthctl("get-token", "work", "--force").stdout.startswith("token-")
    assert first.text.count("password-of-first") == 2 and "password-of-second" not in first.text


@pytest.mark.parametrize("logged_in", [True, False], ids=["a login exists", "before the first login"])
def test_a_client_secret_that_is_typed_is_for_the_server_in_the_question(home, agent, first, second, logged_in):
    point(home, first)
    home.oauthctl("vault", "create")
    if logged_in:
        set_secret(home, "secret-of-first")
        log_in(home)

    def change():
        point(home, second, issuer=first)
        return "typed-secret\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "secret", "set", "work", "client_secret",
        answers={f"client secret of work, for {first.url}: ": change})
    assert status == 3 and "Kept" not in shown and "another server" in shown
    log_in_anyhow = home.oauthctl("login", "work", "--password-stdin", stdin=PASSWORD + "\n", check=False)
    assert "typed-secret" not in second.text and "typed-secret" not in first.text, log_in_anyhow


@pytest.mark.parametrize("before", ["nothing", "a logout"])
def test_a_password_that_is_typed_is_for_the_server_in_the_question(home, agent, first, second, before):
    point(home, first, authentication="none")
    home.oauthctl("vault", "create")
    if before == "a logout":
        log_in(home)
        home.oauthctl("logout", "work")

    def change():
        point(home, second, authentication="none", issuer=first)
        return "typed-password\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work",
        answers={f"Password for work, for {first.url}: ": change, "[y/N]": "n\n"})
    assert status == 3 and second.requests == [] and "another server" in shown


def test_the_client_secret_of_a_login_is_for_the_server_in_the_question(home, agent, first, second):
    point(home, first)
    home.oauthctl("vault", "create")

    def change():
        point(home, second, issuer=first)
        return "typed-secret\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work",
        answers={f"Client secret of work, for {first.url}: ": change, "Password for": "pw\n", "[y/N]": "n\n"})
    assert status == 3 and second.requests == [] and "another server" in shown


def test_a_refresh_token_takes_the_place_of_the_login_alone_that_was_there_when_it_was_asked_for(
        home, agent, account, first):
    def log_in_anew():
        home.oauthctl("logout", "work")
        log_in(home)
        return "another-refresh-token\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "secret", "set", "work", "refresh_token", "--replace",
        answers={"refresh token of work": log_in_anew})
    assert status == 3 and "has changed since it was shown" in shown.replace("\r\n    ", " "), shown
    assert home.oauthctl("get-token", "work", "--force").status == 0
    assert "another-refresh-token" not in first.text


def test_the_question_names_every_server_that_gets_the_secret(home, agent, first, second):
    point(home, first, revocation=second)
    home.oauthctl("vault", "create")
    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "secret", "set", "work", "client_secret",
        answers={f"{second.url}/revoke): ": "typed-secret\n"})
    # It is broken to the terminal's width.
    assert f"for {first.url} (it goes to {second.url}/revoke): " in " ".join(shown.split()) + " "
    assert status == 0 and "Kept" in shown


def test_a_password_that_waits_for_its_login_stays_with_its_server(home, agent, first, second):
    """A program of before hands it over without a word about the server."""
    point(home, first, authentication="none")
    home.oauthctl("vault", "create")
    with agent.connect() as wire:
        wire.call("secret.set", account="work", kind="password", value="given-password", secrets_id="s")
    point(home, second, authentication="none", issuer=first)
    with agent.connect() as wire, pytest.raises(WireError) as refused:
        wire.call("login.start", account="work", request_id="1", secrets_id="s")
    assert refused.value.failure == "definition_changed" and second.requests == []


def test_a_program_that_names_no_server_is_served_as_before(home, agent, first):
    point(home, first)
    home.oauthctl("vault", "create")
    with agent.connect() as wire:
        wire.call("secret.set", account="work", kind="client_secret", value="given-secret")
    log_in(home)
    assert first.requests[0][:2] == ("/token", "c:given-secret")


@pytest.mark.parametrize("restarted", [False, True])
def test_a_client_secret_that_a_failed_login_sent_goes_nowhere_else_by_metadata(home, agent, first, second, restarted):
    """The issuer names the endpoint; after a login that failed it names another."""
    first.token_endpoint, first.refuses = f"{first.url}/token", True
    define(home, "work", f'issuer = "{first.url}"', 'client_id = "c"', 'grant = "client_credentials"')
    home.oauthctl("vault", "create")
    set_secret(home, "secret-of-first")
    assert home.oauthctl("login", "work", check=False).status != 0 and "secret-of-first" in first.text
    if restarted:
        agent.restart()
    first.token_endpoint = f"{second.url}/token"
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 64 and "token_endpoint" in refused.stderr, refused.stderr
    assert second.requests == []
    first.refuses, first.token_endpoint = False, f"{first.url}/token"
    home.oauthctl("login", "work")
