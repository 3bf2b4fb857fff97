"""Servers that answer otherwise than the RFCs advise, and what they ask of oauthctl."""

import json
import re
import time
import urllib.parse

import pytest

from login.provider import Provider, use_silent_browser
from support.accounts import account_file, define
from support.dev_server import consenting
from support.login import get_token


@pytest.fixture
def server(home, agent):
    with consenting(home) as started:
        yield started


def log_in(home, server, *options, scope="read", **how):
    return home.oauthctl("login", "work", server.issuer, "--client-id", "dev", "--scope", scope, *options, **how)


def asked(result):
    """The parameters of the authorization request that a login has shown."""
    [url] = re.findall(r"(?m)^  (http\S+response_type=\S+)$", result.stderr)
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))


def token_answer(server, status, body=None, times=1, grant_type="refresh_token"):
    server.script(answers=[{
        "endpoint": "token", "action": "answer", "status": status, "times": times, "grant_type": grant_type,
        "headers": {"Content-Type": "application/json"}, "body": json.dumps(body) if body else ""}])


def test_invalid_request_for_a_refresh_token_may_pass_and_says_what_helps_if_not(home, server):
    log_in(home, server)
    token_answer(server, 400, {"error": "invalid_request"}, times=9)
    failed = home.oauthctl("get-token", "work", "--force", check=False)
    assert failed.status == 6 and "if it stays so: oauthctl login work" in failed.stderr, failed
    [account] = json.loads(home.oauthctl("status", "--json").stdout)["accounts"]
    assert account["state"] == "retrying" and account["hint"] == "if it stays so: oauthctl login work"
    doctor = home.oauthctl("doctor", check=False)
    assert doctor.status == 1 and "oauthctl login work" in doctor.stdout


@pytest.mark.parametrize("arguments", [[], ["--timeout", "30"], ["--format", "json", "--timeout", "30"]])
def test_one_answer_of_a_proxy_in_trouble_fails_no_script(home, server, arguments):
    log_in(home, server)
    token = get_token(home)
    server.script(revoke_access_tokens=True)
    token_answer(server, 502)
    before = len(server.refreshes())
    result = home.oauthctl("get-token", "work", "--rejected-stdin", *arguments, stdin=token)
    assert result.stdout and token not in result.stdout
    assert [entry["status"] for entry in server.refreshes()[before:]] == [502, 200]


def test_a_server_that_stays_in_trouble_is_told_and_asked_no_more_often_than_the_agent_allows(home, server):
    log_in(home, server)
    token_answer(server, 502, times=50)
    before = len(server.refreshes())
    failed = home.oauthctl("get-token", "work", "--force", "--timeout", "8", check=False)
    assert failed.status == 6 and "502" in failed.stderr
    # At once, and after at least 0.75, 1.5 and 3 s more.
    assert len(server.refreshes()) - before <= 5


@pytest.mark.parametrize("status, error", [(503, None), (400, "invalid_scope"), (401, "invalid_client")])
def test_an_answer_of_no_use_opens_no_new_window_after_a_lost_one(home, server, status, error):
    """The window counts from the lost answer: what is sent after it is taken for theft, and ends a login that lives."""
    define(home, "work", f'issuer = "{server.issuer}"', 'client_id = "dev"', 'scope = ["read"]', "reuse_grace_s = 5")
    home.oauthctl("login", "work")
    token = get_token(home)
    server.script(answers=[
        {"endpoint": "token", "action": "act_then_drop"},
        {"endpoint": "token", "action": "answer", "status": status, "times": 50,
         "headers": {"Content-Type": "application/json"}, "body": json.dumps({"error": error}) if error else ""}])
    before, begun = len(server.refreshes()), time.monotonic()
    home.oauthctl("get-token", "work", "--force", "--timeout", "4", check=False)
    assert len(server.refreshes()) - before > 1, "one is answered, and of no use"
    # The window is real time, by the agent's clock and the server's: it has to pass.
    time.sleep(max(0, begun + 6 - time.monotonic()))
    server.script(answers=[])
    sent = len(server.refreshes())
    # As a person does who mends the account: what held it back is forgotten, and not what was lost.
    define(home, "work", f'issuer = "{server.issuer}"', 'client_id = "dev"', 'scope = ["read"]', "reuse_grace_s = 5",
           'keep = "always"')
    home.oauthctl("reload")
    told = home.oauthctl("get-token", "work", "--force", check=False)
    assert told.status == 4 and "answer to a refresh was lost" in told.stderr, told
    assert len(server.refreshes()) == sent and get_token(home) == token
    assert server.say_hello(token) == 200


def test_a_public_client_that_may_not_revoke_is_told_so_for_good(home, server):
    log_in(home, server)
    server.script(answers=[{
        "endpoint": "revoke", "action": "answer", "status": 401, "times": 9,
        "body": json.dumps({"error": "invalid_client"}), "headers": {"Content-Type": "application/json"}}])
    told = home.oauthctl("logout", "work").stderr
    assert "refused to revoke" in told and "clients with a secret only" in told and "secret set" not in told


def test_an_access_token_that_lives_on_is_named(home, server):
    log_in(home, server)
    body = json.dumps({"error": "unsupported_token_type"})
    server.script(answers=[
        {"endpoint": "revoke", "action": "pass"},
        {"endpoint": "revoke", "action": "answer", "status": 400, "body": body,
         "headers": {"Content-Type": "application/json"}}])
    told = home.oauthctl("logout", "work").stderr
    assert re.search(r"revoked the refresh token, but an access token may live on for 3[56]\d\d s", told), told


def test_offline_access_asks_for_consent_and_counts_as_granted_with_a_refresh_token(home, server):
    told = log_in(home, server, scope="openid offline_access read")
    assert asked(told)["prompt"] == "consent" and "offline_access" not in told.stderr.partition("Logged in")[2]
    told = log_in(
        home, server, "--param", "prompt=login", "--replace", "--accept-changes", scope="openid offline_access")
    assert asked(told)["prompt"] == "login"
    told = log_in(home, server, "--replace", "--accept-changes", scope="openid")
    assert "prompt" not in asked(told)


def test_a_grant_that_the_server_narrows_is_told(home, server):
    log_in(home, server, scope="read write")
    narrow = {"access_token": "narrow-1", "token_type": "Bearer", "expires_in": 3600, "scope": "read"}
    token_answer(server, 200, narrow)
    home.oauthctl("get-token", "work", "--force")
    [account] = json.loads(home.oauthctl("status", "--json").stdout)["accounts"]
    assert account["scope"] == ["read"] and "gives no write any more" in account["hint"]
    token_answer(server, 200, {**narrow, "access_token": "narrow-2"})
    asked_for = home.oauthctl("get-token", "work", "--scope", "write")
    assert asked_for.lines == ["narrow-2"] and "this token lacks write" in asked_for.stderr


def test_client_authentication_and_the_redirect_address_are_chosen_at_login(home, server):
    home.oauthctl(
        "login", "work", server.issuer, "--client-id", "dev-web", "--client-authentication", "client-secret-post",
        "--client-secret-stdin", "--redirect-uri", "http://127.0.0.1:8914/callback", stdin="dev-web-secret\n")
    text = account_file(home).read_text()
    assert 'client_authentication = "client_secret_post"' in text
    assert 'redirect_uri = "http://127.0.0.1:8914/callback"' in text
    refused = log_in(home, server, "--redirect-uri", "http://127.0.0.1/x", "--port", "1", check=False)
    assert refused.status == 64 and "--redirect-uri" in refused.stderr


def test_a_rejected_client_is_told_of_the_other_way_to_send_its_secret(home, server):
    failed = home.oauthctl(
        "login", "work", server.issuer, "--client-id", "dev-machine", "--grant", "client-credentials",
        "--client-secret-stdin", stdin="wrong\n", check=False)
    assert failed.status == 9 and "--client-authentication client_secret_post" in failed.stderr


def test_a_failure_is_json_where_json_is_asked_for(home, agent):
    failed = home.oauthctl("account", "show", "nobody", "--json", check=False)
    told = json.loads(failed.stdout)["error"]
    assert (told["exit"], told["failure"]) == (failed.status, "account_unknown") and told["message"] in failed.stderr


def test_status_says_what_to_do_and_check_sets_the_exit_status(home, server):
    assert home.oauthctl("status", "--check").status == 0
    log_in(home, server)
    assert home.oauthctl("status", "--check").status == 0
    home.oauthctl("logout", "work")
    told = home.oauthctl("status", "--check", check=False)
    assert told.status == 4 and "oauthctl login work" in told.stdout
    assert home.oauthctl("status").status == 0


def test_a_locale_without_other_characters_gets_none(home, agent):
    for variables in ({"LANG": "C"}, {"LC_ALL": "POSIX"}):
        assert home.oauthctl("status", environment=variables).stdout.isascii()
    assert "\N{MIDDLE DOT}" in home.oauthctl("status").stdout


class OddTokens(Provider):
    """Its refresh tokens are all `token`."""

    def __init__(self, token):
        self.token = token
        super().__init__()

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        return status, headers, answer | {"refresh_token": self.token} if url.path == "/token" else answer


@pytest.mark.parametrize("token", ["é\t\n\x7f", 12345678901234567890])
def test_a_refresh_token_is_kept_whatever_its_characters(home, agent, token):
    """RFC 6749 allows printable ASCII alone. The one before it is spent, and would be taken for stolen."""
    use_silent_browser(home)
    with OddTokens("first") as provider:
        home.oauthctl("login", "work", provider.issuer, "--client-id", "mine", "--scope", "read")
        provider.token = token
        home.oauthctl("get-token", "work", "--force")
        agent.restart()
        home.oauthctl("get-token", "work", "--force")
        sent = [form["refresh_token"] for kind, form in provider.seen if kind == "refresh_token"]
        assert sent == ["first", str(token)]


@pytest.mark.parametrize("token", [["R"], "r" * 32_769], ids=["a list", "too long"])
def test_a_refresh_token_that_cannot_be_kept_counts_as_a_lost_answer(home, agent, token):
    """The one that was sent may be spent: where the server ends every login on reuse, it is not sent once more."""
    use_silent_browser(home)
    with OddTokens("first") as provider:
        define(home, "work", f'issuer = "{provider.issuer}"', 'client_id = "mine"', 'ambiguous_retry = "never"')
        home.oauthctl("login", "work")
        provider.token = token
        for _ in range(2):
            refused = home.oauthctl("get-token", "work", "--force", check=False)
            assert refused.status == 4 and "unconfirmed" in refused.stderr
        sent = [form["refresh_token"] for kind, form in provider.seen if kind == "refresh_token"]
        assert sent == ["first"]


@pytest.mark.parametrize("token", [None, False, "", [], {}], ids=repr)
def test_an_empty_or_false_refresh_token_is_none(home, agent, token):
    """A server that does not rotate may say so in that way: the token before it goes on."""
    use_silent_browser(home)
    with OddTokens("first") as provider:
        home.oauthctl("login", "work", provider.issuer, "--client-id", "mine", "--scope", "read")
        provider.token = token
        for _ in range(2):
            home.oauthctl("get-token", "work", "--force")
        sent = [form["refresh_token"] for kind, form in provider.seen if kind == "refresh_token"]
        assert sent == ["first", "first"]
