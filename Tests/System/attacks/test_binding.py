"""What somebody who may write account files tries, while a person looks at something else. Each test is the attack."""

import subprocess

import pytest

from support.accounts import account_file, edit
from support.login import get_token, log_in
from support.terminal import run_at_terminal
from support.wire import WireError
from login.clients import MACHINE
from login.provider import Provider
from world.accounts import CLIENTS


def test_what_is_accepted_is_what_was_shown(home, agent, dot, elsewhere):
    """Another host is shown; while the question stands, the token endpoint changes, too."""
    log_in(home, dot)
    hosts = f'["{dot.issuer}", "http://127.0.0.1:9"]'
    edit(home, "work", hosts=hosts)

    def change_once_more():
        edit(home, "work", token_endpoint=f'"{elsewhere.url}token"')
        return "y\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "account", "accept", "work", answers={"[y/N]": change_once_more})
    home.oauthctl("get-token", "work", "--force", check=False)
    assert elsewhere.seen == []
    assert status == 3 and "hosts" in shown and "Accepted" not in shown


def test_what_is_agreed_to_is_shown_where_it_is_asked(home, agent, dot):
    """Standard error goes elsewhere, or JSON was asked for."""
    log_in(home, dot)
    edit(home, "work", hosts=f'["{dot.issuer}", "http://127.0.0.1:9"]')
    program = home.programs / "oauthctl"
    log = home.root / "log"
    for arguments in (f"account accept work 2>{log}", "account accept work --json", f"login work 2>{log}"):
        _, shown = run_at_terminal(
            home, "sh", "-c", f'"$0" {arguments}', program, answers={"[y/N]": "n\n"})
        assert "hosts: " in shown.split("[y/N]")[0], (arguments, shown)


def test_what_is_shown_is_shown_whole(home, agent, dot):
    """`%` is shown as `%25`: the end of what was bound was cut."""
    log_in(home, dot)
    edit(home, "work", token_parameters="{ " + ", ".join(
        f'a{number} = "{"%" * 1900}"' for number in range(14)) + ', zz = "at-the-end" }')
    _, shown = run_at_terminal(
        home, home.programs / "oauthctl", "account", "accept", "work", answers={"[y/N]": "n\n"})
    # Long lines are broken, and set in.
    assert "at-the-end" in shown.split("[y/N]")[0].replace("\r\n    ", "") and len(shown) > 65_536


def test_a_new_host_stays_on_the_screen_that_the_question_stands_on(home, agent, dot):
    """Rows of blanks below it pushed it off, and ended in a line that said something else; in the locale C all foreign
    letters looked alike."""
    log_in(home, dot)
    blanks = " " * 1000
    values = [f'p{number} = "{blanks}"' for number in range(9)] + [f'z = "{blanks}hosts: (unchanged)"', 'y = "\\u0430"']
    edit(home, "work", hosts=f'["{dot.issuer}", "https://evil.example"]',
         token_parameters="{ " + ", ".join(values) + " }")
    _, shown = run_at_terminal(
        home, home.programs / "oauthctl", "account", "accept", "work", answers={"[y/N]": "n\n"},
        environment={"LC_ALL": "C"})
    rows = shown.split("[y/N]")[0].split("\r\n")
    assert all(len(row) < 80 and row.strip() for row in rows)
    assert "https://evil.example as shown?" in " ".join(row.strip() for row in rows[-3:]), shown
    assert "more than this screen shows" in " ".join(rows[-5:]) and any(row.startswith("hosts: ") for row in rows[-8:])
    assert "y=\\u{430}" in "".join(row.strip() for row in rows)


def test_no_answer_is_taken_that_was_typed_before_the_question(home, agent, dot):
    log_in(home, dot)
    edit(home, "work", hosts=f'["{dot.issuer}", "http://127.0.0.1:9"]')
    typed = home.root / "typed"

    def go_on():
        typed.touch()
        return ""

    status, _ = run_at_terminal(
        home, "sh", "-c", 'echo begin; while [ ! -e "$1" ]; do sleep 0.01; done; exec "$0" account accept work',
        home.programs / "oauthctl", typed, answers={"begin": "y\n", "y\r\n": go_on, "[y/N]": "n\n"})
    assert status == 1


def test_a_change_of_git_made_under_the_question_is_kept(home, agent, dot):
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes")
    key = f"credential.{dot.issuer}.helper"

    def add_helper():
        subprocess.run(["git", "config", "--global", "--add", key, "cache"], env=home.environment, check=True)
        return "y\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "setup", "git", "--remove", answers={"[y/N]": add_helper})
    helpers = subprocess.run(["git", "config", "--global", "--get-all", key], env=home.environment,
                             capture_output=True, text=True).stdout
    assert status == 3 and "changed meanwhile" in shown and "cache" in helpers


def test_nothing_is_accepted_without_the_digest_of_what_was_shown(home, agent, dot, elsewhere):
    log_in(home, dot)
    edit(home, "work", token_endpoint=f'"{elsewhere.url}token"')
    with agent.connect() as wire:
        shown = wire.call("account.accept", account="work", dry_run=True)
        assert shown["endpoints"]["token_endpoint"] == f"{elsewhere.url}token"
        assert shown["endpoints"]["authorization_endpoint"] == dot.authorization_endpoint
        for digest in ({}, {"binding_digest": "0" * 64}):
            with pytest.raises(WireError) as refused:
                wire.call("account.accept", account="work", **digest)
            assert refused.value.failure == "definition_changed"
        digest = shown["binding_digest"]
        assert wire.call("account.accept", account="work", binding_digest=digest)["accepted"] is True


@pytest.mark.parametrize("client", ["native-app", "web-app"])
def test_a_login_sends_no_code_and_no_client_secret_to_a_new_token_endpoint(home, agent, dot, elsewhere, client):
    """The login page is the genuine one."""
    log_in(home, dot, client=client)
    edit(home, "work", token_endpoint=f'"{elsewhere.url}token"')
    refused = home.oauthctl("login", "work", check=False)
    assert elsewhere.seen == []
    assert f"token_endpoint: {dot.token_endpoint} → {elsewhere.url}token" in refused.stderr
    assert refused.status == 64 and "--accept-changes" in refused.stderr


def test_a_question_for_a_secret_names_every_server_that_gets_it(home, agent, dot, elsewhere):
    """A long address before it pushed the last one out of what was shown."""
    log_in(home, dot, client="web-app")
    last = "http://127.0.0.1:9/revoke"
    edit(home, "work", token_endpoint=f'"{elsewhere.url}{"a" * 1000}"', revocation_endpoint=f'"{last}"')
    _, shown = run_at_terminal(
        home, home.programs / "oauthctl", "secret", "set", "work", "client_secret", answers={": ": "typed-secret\n"})
    assert last in shown and "…" not in shown, shown


def test_a_question_for_a_first_secret_names_the_servers_that_the_issuer_s_metadata_name(home, agent, elsewhere):
    with Provider() as provider:
        provider.metadata = {"token_endpoint": elsewhere.url + "token", "grant_types_supported": ["client_credentials"]}
        _, shown = run_at_terminal(
            home, home.programs / "oauthctl", "login", "work", provider.issuer, "--client-id", "mine", "--grant",
            "client_credentials", answers={"Client secret": "typed-secret\n"})
    assert elsewhere.url + "token" in shown.partition("Client secret")[2], shown


def test_a_login_adds_no_host_by_itself(home, agent, dot, elsewhere):
    log_in(home, dot)
    edit(home, "work", hosts=f'["{dot.issuer}", "{elsewhere.url}"]')
    home.oauthctl("login", "work", check=False)
    home.oauthctl("curl", "work", elsewhere.url, check=False)
    assert elsewhere.seen == []


def test_a_login_goes_where_was_agreed_and_nowhere_else(home, agent, dot, elsewhere):
    log_in(home, dot)
    edit(home, "work", git_username='"me"', hosts=f'["{dot.issuer}", "http://127.0.0.1:9"]')

    def change_once_more():
        edit(home, "work", token_endpoint=f'"{elsewhere.url}token"')
        return "y\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work", answers={"[y/N]": change_once_more})
    assert elsewhere.seen == [] and status == 3 and "hosts" in shown


def test_a_login_that_is_agreed_to_goes_on(home, agent, dot, elsewhere):
    log_in(home, dot)
    edit(home, "work", hosts=f'["{dot.issuer}", "{elsewhere.url}"]')
    status, shown = run_at_terminal(home, home.programs / "oauthctl", "login", "work", answers={"[y/N]": "y\n"})
    assert status == 0 and "hosts" in shown and dot.token_endpoint in shown
    assert home.oauthctl("curl", "work", elsewhere.url).stdout == "elsewhere\n"


@pytest.mark.parametrize("restarted", [False, True], ids=["at once", "after a restart"])
def test_a_login_after_a_logout_sends_no_code_elsewhere(home, agent, dot, elsewhere, restarted):
    """No secret is kept; the login page is the genuine one."""
    log_in(home, dot)
    home.oauthctl("logout", "work")
    if restarted:
        agent.restart()
    edit(home, "work", token_endpoint=f'"{elsewhere.url}token"')
    refused = home.oauthctl("login", "work", check=False)
    assert elsewhere.seen == []
    assert f"token_endpoint: {dot.token_endpoint} → {elsewhere.url}token" in refused.stderr
    assert refused.status == 64 and "--accept-changes" in refused.stderr
    edit(home, "work", token_endpoint=None)
    home.oauthctl("login", "work")
    assert dot.say_hello(get_token(home)) == 200


def test_a_login_after_a_logout_adds_no_host_by_itself(home, agent, dot, elsewhere):
    log_in(home, dot)
    home.oauthctl("logout", "work")
    edit(home, "work", hosts=f'["{dot.issuer}", "{elsewhere.url}"]')
    refused = home.oauthctl("login", "work", check=False)
    home.oauthctl("curl", "work", elsewhere.url, check=False)
    assert elsewhere.seen == [] and refused.status == 64 and "hosts" in refused.stderr


def test_an_account_that_is_forgotten_begins_anew(home, agent, dot, elsewhere):
    """What the login was bound to is forgotten with the account, which is said for it."""
    log_in(home, dot)
    home.oauthctl("logout", "work")
    edit(home, "work", hosts=f'["{dot.issuer}", "{elsewhere.url}"]')
    agent.connect().call("account.forget", account="work")
    assert home.oauthctl("login", "work").status == 0


def test_a_client_secret_stays_with_its_server_after_a_logout(home, agent, dot, elsewhere):
    home.oauthctl("login", "machine", dot.issuer, *MACHINE, stdin=CLIENTS["machine"].secret + "\n")
    home.oauthctl("logout", "machine")
    before = edit(home, "machine", token_endpoint=f'"{elsewhere.url}token"')
    refused = home.oauthctl("login", "machine", check=False)
    assert elsewhere.seen == [] and refused.status == 64 and "token_endpoint" in refused.stderr
    edit(home, "machine", token_endpoint=None)
    assert "token_endpoint" not in before
    home.oauthctl("login", "machine")
    assert dot.say_hello(get_token(home, "machine")) == 200


@pytest.mark.parametrize("key, value", [
    ("scope", '["read", "write"]'), ("resource", '["https://api.example"]'), ("audience", '["api"]'),
    ("username", '"bob"')])
def test_an_unattended_grant_asks_for_nothing_else_by_itself(home, agent, dot, key, value):
    home.oauthctl("login", "machine", dot.issuer, *MACHINE, stdin=CLIENTS["machine"].secret + "\n")
    mark = dot.mark()
    edit(home, "machine", **{key: value})
    refused = home.oauthctl("get-token", "machine", "--force", check=False)
    assert dot.token_requests("client_credentials", mark) == []
    assert refused.status == 3 and key in refused.stderr


def test_a_changed_grant_unbinds_nothing(home, agent, dot):
    """`scope` is bound for grants that ask anew: a file that calls itself another grant does not change that."""
    home.oauthctl("login", "machine", dot.issuer, *MACHINE, stdin=CLIENTS["machine"].secret + "\n")
    mark = dot.mark()
    before = edit(home, "machine", grant='"authorization_code"', scope='["read", "write"]')
    refused = home.oauthctl("get-token", "machine", "--force", check=False)
    assert refused.status == 3 and "grant" in refused.stderr and "run: oauthctl login machine\n" in refused.stderr
    assert "  run: oauthctl login machine" in home.oauthctl("status", check=False).lines
    refused = home.oauthctl("account", "accept", "machine", "--yes", check=False)
    assert refused.status == 3 and "oauthctl login machine" in refused.stderr
    account_file(home, "machine").write_text(before)
    edit(home, "machine", scope='["read", "write"]')
    assert home.oauthctl("get-token", "machine", "--force", check=False).status == 3
    assert dot.token_requests("client_credentials", mark) == []


def test_a_login_by_a_person_becomes_none_without_one_by_itself(home, agent, dot):
    log_in(home, dot, client="web-app")
    mark = dot.mark()
    edit(home, "work", grant='"client_credentials"', scope='["read", "write"]')
    refused = home.oauthctl("login", "work", check=False)
    assert dot.token_requests("client_credentials", mark) == []
    assert refused.status == 64 and "grant: authorization_code → client_credentials" in refused.stderr


def test_parameters_that_read_alike_are_not_alike(home, agent, dot):
    home.oauthctl("login", "machine", dot.issuer, *MACHINE, stdin=CLIENTS["machine"].secret + "\n")
    edit(home, "machine", token_parameters='{ a = "x&tenant=other" }')
    home.oauthctl("account", "accept", "machine", "--yes")
    mark = dot.mark()
    edit(home, "machine", token_parameters='{ a = "x", tenant = "other" }')
    refused = home.oauthctl("get-token", "machine", "--force", check=False)
    assert dot.token_requests("client_credentials", mark) == []
    assert refused.status == 3 and "token_parameters" in refused.stderr
