"""The client of a living login is deleted by nothing that happens beside it."""

import json

import pytest

from login.registered import Strict, home, provider, renew, start
from login.test_registration import deletion
from support.accounts import account_file, edit
from support.login import wait_until
from support.terminal import run_at_terminal


@pytest.mark.parametrize("count", [2, 3])
def test_of_commands_that_make_one_account_at_once_one_logs_in(home, agent, provider, count):
    home.oauthctl("vault", "create")
    gate = provider.hold("/register")
    provider.busy = True
    logins = [start(home, "one", provider.url) for _ in range(count)]
    wait_until(lambda: provider.kinds().count("register") == count, 30, "all to register")
    gate.set()
    errors = [login.communicate(timeout=60)[1] for login in logins]
    assert [login.returncode for login in logins].count(0) == 1, errors
    assert renew(home).status == 0
    provider.busy = False
    # Only those of the others, when they can be.
    used = int(provider.form("refresh_token")["client_id"].removeprefix("client-"))
    others = {deletion(number) for number in range(1, count + 1) if number != used}
    wait_until(lambda: set(provider.deleted) == others, 30, "the other clients to be deleted")
    assert renew(home).status == 0


def test_of_commands_that_renew_one_client_at_once_none_has_the_other_s_deleted(home, agent, provider):
    home.oauthctl("login", "one", provider.url)
    provider.deleted.append(("/clients/client-1", "by itself"))
    gate = provider.hold("/register")
    logins = [start(home, "one", "--accept-changes") for _ in range(2)]
    # One of them may have joined the login of the other.
    wait_until(
        lambda: provider.kinds().count("register") == 3 or None not in [login.poll() for login in logins[:1]], 30,
        "new clients")
    gate.set()
    errors = [login.communicate(timeout=60)[1] for login in logins]
    assert 0 in [login.returncode for login in logins], errors
    assert renew(home).status == 0


@pytest.mark.parametrize("way", ["login", "copy"])
def test_a_server_that_has_got_another_address_is_not_told_to_delete_the_client_in_use(home, agent, provider, way):
    home.oauthctl("login", "one", provider.url)
    other = f'"http://localhost:{provider.port}"'
    if way == "login":
        edit(home, "one", issuer=other)
        home.oauthctl("login", "one", "--accept-changes", "--client-secret-stdin", stdin="secret-of-client-1\n")
        name = "one"
    else:
        name = "two"
        text = account_file(home, "one").read_text()
        account_file(home, name).write_text(text)
        account_file(home, name).chmod(0o600)
        edit(home, name, issuer=other)
        home.oauthctl("login", name, "--client-secret-stdin", stdin="secret-of-client-1\n")
        assert "stays" in home.oauthctl("account", "forget", "one", "--yes").stderr
    assert renew(home, name).status == 0
    home.agent.restart()
    assert renew(home, name).status == 0 and provider.deleted == []
    home.oauthctl("account", "forget", name, "--yes")
    # Under the other address it may be another server's client of that id.
    assert provider.deleted == ([deletion(1)] if way == "login" else [])


@pytest.mark.parametrize("way", ["forget", "replace"])
def test_a_deletion_that_waits_is_not_made_where_the_client_is_used_again(home, agent, provider, way):
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    before = file.read_text()
    provider.busy = True
    if way == "forget":
        home.oauthctl("account", "forget", "one", "--yes")
    else:
        home.oauthctl("login", "one", provider.url, "--replace", "--accept-changes")
    file.write_text(before)
    file.chmod(0o600)
    home.oauthctl("reload")
    home.oauthctl(
        "login", "one", "--accept-changes", "--client-secret-stdin", stdin="secret-of-client-1\n")
    provider.busy = False
    home.agent.restart()
    others = [] if way == "forget" else [deletion(2)]
    wait_until(lambda: provider.deleted == others, 30, "what is used no more to be deleted")
    # What waited has been looked at again, and came back.
    shown = lambda: json.loads(home.oauthctl("account", "show", "one", "--json").stdout)
    wait_until(lambda: shown().get("client_registered"), 60, "the client to be the account's again")
    assert renew(home).status == 0 and provider.deleted == others
    home.oauthctl("account", "forget", "one", "--yes")
    assert deletion(1) in provider.deleted


def test_a_client_that_two_accounts_are_known_by_is_deleted_where_both_are_forgotten_at_once(home, agent, provider):
    home.oauthctl("login", "one", provider.url)
    text = account_file(home, "one").read_text()
    account_file(home, "two").write_text(text)
    account_file(home, "two").chmod(0o600)
    home.oauthctl("login", "two", "--client-secret-stdin", stdin="secret-of-client-1\n")
    ends = [home.start(home.programs / "oauthctl", "account", "forget", name, "--yes") for name in ("one", "two")]
    for end in ends:
        end.communicate(timeout=60)
    wait_until(lambda: provider.deleted == [deletion(1)], 60, "the client to be deleted")
    wait_until(lambda: "0 records" in home.oauthctl("vault", "check").stderr, 30, "nothing to be kept of it")


def test_clients_with_one_address_for_all_are_told_apart(home, agent, provider):
    """Their tokens say which is meant (RFC 7592)."""
    plain = provider.answer

    def answer(method, url, fields, body):
        status, headers, answer = plain(method, url, fields, body)
        if url.path == "/register":
            answer |= {
                "registration_client_uri": f"{provider.issuer}/clients/self",
                "registration_access_token": "token-of-" + answer["client_id"]}
        return status, headers, answer

    provider.answer = answer
    home.oauthctl("login", "one", provider.url)
    home.oauthctl("login", "one", provider.url, "--replace", "--accept-changes")
    wait_until(lambda: provider.deleted == [("/clients/self", "Bearer token-of-client-1")], 30, "the first to go")
    home.oauthctl("account", "forget", "one", "--yes")
    assert provider.deleted[1:] == [("/clients/self", "Bearer token-of-client-2")]


def test_a_client_of_another_server_with_the_same_id_is_nobody_else_s(home, agent, provider):
    with Strict() as other:
        home.oauthctl("login", "one", provider.url)
        home.oauthctl("login", "two", other.url)
        forgotten = home.oauthctl("account", "forget", "one", "--yes")
        assert "two has a client of that id" in forgotten.stderr, forgotten
        assert renew(home, "two").status == 0
        home.oauthctl("account", "forget", "two", "--yes")
        assert (provider.deleted, other.deleted) == ([], [deletion(1)])


def test_the_question_of_forget_is_about_the_client_too(home, agent, provider):
    home.oauthctl("login", "one", provider.url)
    account_file(home, "two").write_text(account_file(home, "one").read_text())
    account_file(home, "two").chmod(0o600)
    home.oauthctl("login", "two", "--client-secret-stdin", stdin="secret-of-client-1\n")

    def forget_the_other():
        home.oauthctl("account", "forget", "two", "--yes")
        return "y\n"

    status, text = run_at_terminal(
        home, home.programs / "oauthctl", "account", "forget", "one", answers={"[y/N]": forget_the_other})
    assert status == 3 and "has changed since it was shown" in text, text
    assert provider.deleted == [] and renew(home).status == 0


def test_tokens_are_revoked_before_a_client_whose_deletion_waits_for_another_account(home, agent, provider):
    home.oauthctl("login", "one", provider.url)
    # Whoever logs in by this file would need the client.
    account_file(home, "two").write_text(account_file(home, "one").read_text())
    account_file(home, "two").chmod(0o600)
    home.oauthctl("login", "one", provider.url, "--replace", "--accept-changes")
    assert provider.deleted == []
    out = home.oauthctl("logout", "one")
    assert "the server revoked the tokens" in out.stderr, out
    assert "revoke" in provider.kinds() and provider.deleted == []
    account_file(home, "two").unlink()
    home.oauthctl("account", "forget", "one", "--yes")
    wait_until(lambda: set(provider.deleted) == {deletion(1), deletion(2)}, 60, "both clients to be deleted")
