"""Who is logged in: ID tokens of real logins, and a login that ends as somebody else than the one before."""

import base64
import json

import pytest

from support.accounts import account_file
from support.dev_server import consenting
from support.login import get_token, wait_until
from support.terminal import run_at_terminal


@pytest.fixture
def server(home, agent):
    with consenting(home) as started:
        yield started


def log_in(home, server, *arguments, scope="openid profile email read", check=True):
    return home.oauthctl(
        "login", "work", server.issuer, "--client-id", "dev", "--scope", scope, *arguments, check=check)


def who(home):
    [account] = json.loads(home.oauthctl("status", "--json").stdout)["accounts"]
    return account.get("who")


def id_token(home):
    return home.oauthctl("get-token", "work", "--type", "id").stdout.strip()


def claims(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def test_a_login_tells_who_it_is_and_status_keeps_it(home, server):
    assert "The server knows you as alice." in log_in(home, server).stderr
    head, account, *_ = home.oauthctl("status").lines
    assert head.split()[-1] == "WHO" and account.split()[-1] == "alice"
    home.agent.restart()
    assert who(home) == "alice"


def test_the_id_token_is_printed_and_refreshed_when_it_has_ended(home, server):
    server.script(id_token_life_s=3)
    log_in(home, server)
    first = id_token(home)
    assert claims(first)["sub"] == "alice" and first != get_token(home)
    whole = json.loads(home.oauthctl("get-token", "work", "--type", "id", "--json").stdout)
    assert whole["subject"] == "alice" and whole["issuer"] == server.issuer
    assert claims(id_token(home))["iat"] >= claims(first)["iat"]
    assert len(server.refreshes()) >= 1, "one that ends in three seconds is of no use to anybody"


def test_without_openid_there_is_none_and_the_way_to_it_works(home, server):
    log_in(home, server, scope="read")
    none = home.oauthctl("get-token", "work", "--type", "id", check=False)
    assert none.status == 4 and none.stdout == "" and "oauthctl login work --add-scope openid" in none.stderr
    home.oauthctl("login", "work", "--add-scope", "openid")
    assert claims(id_token(home))["sub"] == "alice"


@pytest.mark.parametrize("options", [["--url", "http://127.0.0.1/"], ["--force"], ["--scope", "read"],
                                     ["--format", "header"], ["--format", "headers"]])
def test_an_id_token_is_for_no_api(home, server, options):
    log_in(home, server)
    refused = home.oauthctl("get-token", "work", "--type", "id", *options, check=False)
    assert refused.status == 64 and refused.stdout == ""


@pytest.mark.parametrize("claim", [{"nonce": "of-another-login"}, {"aud": "another-client"},
                                   {"iss": "https://evil.example"}])
def test_an_id_token_of_another_login_ends_the_login(home, server, claim):
    log_in(home, server)
    token = get_token(home)
    server.script(id_token_claims=claim)
    failed = home.oauthctl("login", "work", check=False)
    assert failed.status == 9 and "ID token" in failed.stderr
    assert get_token(home) == token, "the login before stays"


def test_a_refresh_that_names_somebody_else_keeps_the_login(home, server):
    log_in(home, server)
    server.script(id_token_claims={"sub": "mallory"})
    token = home.oauthctl("get-token", "work", "--force").stdout.strip()
    assert server.say_hello(token) == 200 and who(home) == "alice"
    assert "somebody else" in home.oauthctl("account", "show", "work").stdout


def test_a_script_s_login_as_somebody_else_is_refused_and_revoked(home, server):
    log_in(home, server)
    token = get_token(home)
    server.script(users=["bob"])
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 4 and "bob" in refused.stderr and "--user" in refused.stderr
    assert get_token(home) == token and who(home) == "alice"
    assert [entry for entry in server.log() if entry["endpoint"] == "revoke"]


@pytest.mark.parametrize(("user", "status"), [("bob", 0), ("bob@dev.example", 0), ("alice", 4), ("carol", 4)])
def test_who_is_expected_is_taken_and_nobody_else(home, server, user, status):
    log_in(home, server)
    server.script(users=["bob"])
    assert home.oauthctl("login", "work", "--user", user, check=False).status == status
    assert who(home) == ("bob" if status == 0 else "alice")


@pytest.mark.parametrize(("answer", "left"), [("y\n", "bob"), ("n\n", "alice"), ("\x03", "alice")])
def test_a_person_is_asked_before_somebody_else_s_login_is_replaced(home, server, answer, left):
    log_in(home, server)
    server.script(users=["bob"])
    status, shown = run_at_terminal(
        home, "env", "--default-signal=INT", home.programs / "oauthctl", "login", "work", answers={"[y/N]": answer})
    assert "bob" in shown and "alice" in shown
    assert (status == 0) == (left == "bob") and who(home) == left
    if left == "alice":
        wait_until(lambda: any(entry["endpoint"] == "revoke" for entry in server.log()), 20, "the other's end")


@pytest.mark.parametrize("change", ["removed", "not UTF-8"])
def test_no_yes_replaces_a_login_by_a_file_that_cannot_be_read_now(home, server, change):
    log_in(home, server)
    server.script(users=["bob"])

    def spoil():
        if change == "removed":
            account_file(home).unlink()
        else:
            account_file(home).write_bytes(b"\xff\xfe")
        home.oauthctl("reload", check=False)
        return "y\n"

    status, shown = run_at_terminal(home, home.programs / "oauthctl", "login", "work", answers={"[y/N]": spoil})
    assert status == 3 and "Logged in" not in shown and who(home) == "alice", shown
    wait_until(lambda: any(entry["endpoint"] == "revoke" for entry in server.log()), 20, "the other's end")


def test_a_no_tells_that_another_command_has_said_yes(home, server):
    log_in(home, server)
    server.script(users=["bob"])

    def agree_elsewhere():
        status, _ = run_at_terminal(home, home.programs / "oauthctl", "login", "work", answers={"[y/N]": "y\n"})
        assert status == 0
        return "n\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work", answers={"[y/N]": agree_elsewhere})
    assert status == 1 and "nothing was changed" not in shown, shown
    assert "another command has agreed" in shown and "oauthctl logout work" in shown and who(home) == "bob"


def test_somebody_else_of_the_same_name_is_told_apart_by_what_he_did_not_choose(home, server):
    """His name was that of the login before, so the question read as a renewal."""
    log_in(home, server)
    server.script(users=["bob"], id_token_claims={"preferred_username": None, "email": None, "name": "alice"})
    _, shown = run_at_terminal(home, home.programs / "oauthctl", "login", "work", answers={"[y/N]": "n\n"})
    assert "knows you as id bob, alice (not verified)." in shown and "Replace the login of alice by" in shown, shown


def test_wishes_of_one_login_leave_the_file_as_it_is(home, server):
    log_in(home, server)
    text = account_file(home).read_text()
    home.oauthctl("login", "work", "--prompt", "login", "--max-age", "60", "--login-hint", "alice")
    assert account_file(home).read_text() == text
    server.script(session_age_s=10_000)
    old = home.oauthctl("login", "work", "--max-age", "60", check=False)
    assert old.status == 9 and who(home) == "alice"


def test_no_age_that_an_account_file_asks_for_stops_the_agent(home, server):
    home.oauthctl(
        "login", "work", server.issuer, "--client-id", "dev", "--scope", "openid read", "--param",
        f"max_age={2 ** 63 - 1}")
    assert home.agent.is_running and who(home)
