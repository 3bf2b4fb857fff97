"""Logins without a browser of one's own: device flow, client credentials, password; and what is refused."""

import json

import pytest

from login.clients import LEGACY, MACHINE, start_device_login
from login.provider import Provider
from support.accounts import account_file, define
from support.login import get_token, log_in, wait_until
from support.terminal import run_at_terminal
from world.accounts import CLIENTS, PASSWORD


# Client credentials (RFC 6749 section 4.4)

def machine_login(home, server, secret=CLIENTS["machine"].secret, **options):
    return home.oauthctl("login", "machine", server.issuer, *MACHINE, stdin=secret + "\n", **options)


def test_client_credentials(home, agent, dot):
    mark = dot.mark()
    assert "Logged in as machine" in machine_login(home, dot).stderr
    assert dot.say_hello(get_token(home, "machine")) == 200
    [request] = dot.token_requests("client_credentials", mark)
    assert request["authorization"] == "basic" and not request["secret_in_body"]


def test_client_credentials_are_asked_for_anew_instead_of_refreshed(home, agent, world):
    server = world(access_ttl=2)
    machine_login(home, server)
    first, mark = get_token(home, "machine"), server.mark()
    wait_until(lambda: get_token(home, "machine") != first, 20, "another token")
    assert server.say_hello(get_token(home, "machine")) == 200
    assert server.token_requests("client_credentials", mark) and server.refreshes(mark) == []


def test_client_credentials_need_no_login_after_a_restart(home, agent, dot):
    machine_login(home, dot)
    token = get_token(home, "machine")
    agent.restart()
    answer = home.oauthctl("get-token", "machine", "--rejected-stdin", stdin=token)
    assert dot.say_hello(answer.lines[0]) == 200 and answer.lines[0] != token


def test_a_wrong_client_secret_is_told_and_can_be_put_right(home, agent, dot):
    failed = machine_login(home, dot, "not-the-secret", check=False)
    assert (failed.status, failed.stdout) == (9, "")
    assert "invalid_client" in failed.stderr and "--client-authentication client_secret_post" in failed.stderr
    assert "not-the-secret" not in failed.stderr
    options = MACHINE[:-1]
    define(
        home, "machine", f'issuer = "{dot.issuer}"', f'client_id = "{options[1]}"', 'scope = "read"',
        'grant = "client_credentials"')
    home.oauthctl("secret", "set", "machine", "client_secret", stdin="not-the-secret\n")
    failed = home.oauthctl("login", "machine", check=False)
    assert failed.status == 9 and "secret set machine client_secret" in failed.stderr
    home.oauthctl("secret", "set", "machine", "client_secret", stdin=CLIENTS["machine"].secret + "\n")
    home.oauthctl("login", "machine")
    assert dot.say_hello(get_token(home, "machine")) == 200


def test_without_its_secret_a_machine_is_not_logged_in(home, agent, dot):
    mark = dot.mark()
    arguments = [word for word in MACHINE if word != "--client-secret-stdin"]
    result = home.oauthctl("login", "machine", dot.issuer, *arguments, check=False)
    assert result.status != 0 and "again with --client-secret-stdin" in result.stderr
    assert dot.token_requests("client_credentials", mark) == []


# Confidential clients (RFC 6749 section 2.3.1)

@pytest.mark.parametrize("method, authorization, in_body", [
    ("client_secret_basic", "basic", False), ("client_secret_post", None, True)])
def test_a_confidential_client_authenticates_as_its_file_says(home, agent, dot, method, authorization, in_body):
    """A secret with characters that have to be form-urlencoded before Basic, and in the body."""
    define(
        home, "work", f'issuer = "{dot.issuer}"', 'client_id = "web-app"', 'scope = ["read"]',
        f'client_authentication = "{method}"')
    home.oauthctl("secret", "set", "work", "client_secret", stdin=CLIENTS["web-app"].secret + "\n")
    home.use_browser(dot.user, dot.password)
    mark = dot.mark()
    home.oauthctl("login", "work")
    home.oauthctl("get-token", "work", "--force")
    requests = dot.token_requests("authorization_code", mark) + dot.refreshes(mark)
    assert [(it["status"], it["authorization"], it["secret_in_body"]) for it in requests] == [
        (200, authorization, in_body)] * 2


# Resource owner password (RFC 6749 section 4.3)

@pytest.fixture
def legacy(home, agent, dot):
    """legacy(*options, password) -> Result: log in by password; the client secret is known already."""
    first = home.oauthctl(
        "login", "legacy", dot.issuer, *LEGACY, "--client-secret-stdin", stdin=CLIENTS["legacy"].secret, check=False)
    # Standard input holds one secret: the next step is told.
    assert first.status != 0 and "oauthctl login legacy --password-stdin" in first.stderr

    def log_in_by_password(*options, password=PASSWORD, check=True):
        return home.oauthctl("login", "legacy", "--password-stdin", *options, stdin=password + "\n", check=check)

    return log_in_by_password


def refresh(home, name="legacy"):
    return home.oauthctl("get-token", name, "--force", check=False)


def test_password(home, dot, legacy):
    mark = dot.mark()
    assert "Logged in as legacy" in legacy().stderr
    assert dot.say_hello(get_token(home, "legacy")) == 200
    assert len(dot.token_requests("password", mark)) == 1
    assert refresh(home).status == 0 and len(dot.refreshes(mark)) == 1


def test_a_password_is_used_once_and_not_kept(home, dot, legacy):
    legacy()
    details = json.loads(home.oauthctl("account", "show", "legacy", "--json").stdout)
    assert sorted(details["secrets"]) == ["client_secret", "refresh_token"]
    dot.end_grants()
    mark = dot.mark()
    result = refresh(home)
    assert (result.status, result.stdout) == (4, "") and "oauthctl login legacy" in result.stderr
    assert dot.token_requests("password", mark) == []


def test_a_kept_password_logs_in_again_when_the_refresh_token_is_dead(home, dot, legacy):
    legacy("--keep-password")
    dot.end_grants()
    mark = dot.mark()
    result = refresh(home)
    assert result.status == 0 and dot.say_hello(result.lines[0]) == 200
    assert [entry["status"] for entry in dot.refreshes(mark)] == [400]
    assert [entry["status"] for entry in dot.token_requests("password", mark)] == [200]


def test_a_kept_password_stays_where_a_login_with_another_one_fails(home, dot, legacy):
    legacy("--keep-password")
    step = ["login", "legacy", "--password-stdin", "--keep-password"]
    failed = home.oauthctl(*step, stdin="wrong\n", check=False)
    assert failed.status == 9 and "secret set" not in failed.stderr, failed
    dot.end_grants()
    assert refresh(home).status == 0


def test_a_kept_password_that_is_wrong_is_tried_once(home, dot, legacy):
    """Or a server would lock the user out."""
    legacy()
    home.oauthctl("secret", "set", "legacy", "password", stdin="was-changed\n")
    dot.end_grants()
    mark = dot.mark()
    for _ in range(3):
        assert refresh(home).status == 4
    assert [entry["status"] for entry in dot.token_requests("password", mark)] == [400]


def test_a_forgotten_password_is_not_used(home, dot, legacy):
    legacy("--keep-password")
    home.oauthctl("secret", "forget", "legacy", "password")
    dot.end_grants()
    mark = dot.mark()
    assert refresh(home).status == 4 and dot.token_requests("password", mark) == []


def test_a_wrong_password_is_told(home, dot, legacy):
    mark = dot.mark()
    result = legacy(password="not-the-password", check=False)
    assert (result.status, result.stdout) == (9, "") and "invalid_grant" in result.stderr
    assert "not-the-password" not in result.stderr
    assert "the server does not take that user name and password" in result.stderr and "expired" not in result.stderr
    assert len(dot.token_requests("password", mark)) == 1
    assert home.oauthctl("get-token", "legacy", check=False).status == 4


def test_a_password_is_asked_for_at_a_terminal_and_not_shown(home, dot, legacy):
    status, text = run_at_terminal(
        home, home.programs / "oauthctl", "login", "legacy", answers={"Password for legacy, for ": PASSWORD + "\n"})
    assert status == 0 and "Logged in as legacy" in text and PASSWORD not in text


# Refused

@pytest.mark.parametrize("name", ["implicit", "token"])
def test_the_implicit_grant_is_refused_with_the_reason(home, agent, dot, name):
    mark = dot.mark()
    result = home.oauthctl("login", "work", dot.issuer, "--client-id", "native-app", "--grant", name, check=False)
    assert (result.status, result.stdout) == (64, "") and dot.log_entries(mark) == []
    assert "implicit" in result.stderr and "RFC 9700" in result.stderr
    assert "authorization_code" in result.stderr, "what instead"
    assert not account_file(home, "work").exists()


def test_the_implicit_grant_is_refused_in_a_file_too(home, agent, dot):
    define(home, "work", f'issuer = "{dot.issuer}"', 'client_id = "native-app"', 'grant = "implicit"')
    result = home.oauthctl("login", "work", check=False)
    assert (result.status, result.stdout) == (3, "")
    assert "work.toml:3: grant" in result.stderr and "authorization_code" in result.stderr


def test_a_server_that_is_down_is_no_verdict(home, agent, dot):
    machine_login(home, dot)
    with dot.down():
        result = home.oauthctl("login", "machine", check=False)
    assert (result.status, result.stdout) == (6, "")
    assert dot.say_hello(get_token(home, "machine")) == 200, "the login before holds"


def test_a_login_of_another_account_goes_on_beside_a_waiting_one(home, agent, dot):
    waiting = start_device_login(home, dot)
    assert any("Waiting" in line for line in waiting.stderr)
    log_in(home, dot)
    assert dot.say_hello(get_token(home)) == 200 and waiting.poll() is None
    waiting.terminate()
    waiting.communicate(timeout=20)


# Any other grant (RFC 6749 section 4.5)

def test_a_grant_of_ones_own_is_sent_with_its_parameters(home, agent):
    with Provider() as provider:
        home.oauthctl("vault", "create", check=False)
        provider.define(home, 'grant = "extension"', 'grant_type = "urn:example:machine"', 'scope = "read"',
                        "[token_parameters]", 'machine = "build-7"')
        home.oauthctl("login", "work")
        assert get_token(home) == "access-1"
        assert provider.form("urn:example:machine") == {
            "grant_type": "urn:example:machine", "scope": "read", "machine": "build-7", "client_id": "mine"}
        home.oauthctl("get-token", "work", "--force")
        assert provider.kinds() == ["urn:example:machine", "refresh_token"]
        # Asked anew when the refresh token is dead.
        provider.seen.clear()
        provider.refuses = True
        refused = home.oauthctl("get-token", "work", "--force", check=False)
        assert refused.status == 4 and provider.kinds() == ["refresh_token", "urn:example:machine"]


def test_one_command_makes_an_account_with_a_grant_of_ones_own(home, agent):
    with Provider() as provider:
        command = ["login", "work", provider.issuer, "--client-id", "mine", "--grant", "extension"]
        refused = home.oauthctl(*command, check=False)
        assert refused.status == 64 and "--grant-type URI" in refused.stderr and not account_file(home).exists()
        home.oauthctl(*command[:-2], "--grant-type", "urn:example:machine", "--token-param", "machine=build-7")
        assert get_token(home) == "access-1"
        assert provider.form("urn:example:machine") == {
            "grant_type": "urn:example:machine", "machine": "build-7", "client_id": "mine"}
        shown = json.loads(home.oauthctl("account", "show", "work", "--json").stdout)
        assert shown["grant_type"] == "urn:example:machine"


def test_a_grant_of_ones_own_is_bound_to_its_type(home, agent):
    with Provider() as provider:
        home.oauthctl("vault", "create", check=False)
        provider.define(home, 'grant = "extension"', 'grant_type = "urn:example:machine"')
        home.oauthctl("login", "work")
        provider.define(home, 'grant = "extension"', 'grant_type = "urn:example:root"')
        refused = home.oauthctl("get-token", "work", "--force", check=False)
        assert refused.status == 3 and "grant_type" in refused.stderr
        assert provider.kinds() == ["urn:example:machine"]


@pytest.mark.parametrize("lines, words", [
    (['grant = "extension"'], "grant_type: it is missing"),
    (['grant = "extension"', 'grant_type = "machine"'], "not an absolute URI"),
    (['grant = "extension"', 'grant_type = "urn:ietf:params:oauth:grant-type:token-exchange"'],
     'that is grant = "token_exchange"'),
    (['grant_type = "urn:example:machine"'], 'it belongs to grant = "extension"'),
])
def test_a_grant_without_its_uri_is_refused(home, agent, lines, words):
    assert words in define(home, "work", 'issuer = "https://as.example"', 'client_id = "mine"', *lines).stderr
