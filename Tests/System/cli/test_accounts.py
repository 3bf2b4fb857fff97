"""Account files, edited by people: what is listed, what a change stops, and what is told of a mistake."""

import json

from cli.account_steps import accounts, show
from support.accounts import account_file, define
from support.login import get_token, log_in
from network.namespaces import isolated, needs_root, run
from world.guard import mark_of


# Listing and forgetting

def test_list_has_the_worst_first(home, agent, dot):
    log_in(home, dot, "fine")
    define(home, "a-new-one", f'issuer = "{dot.issuer}"', 'client_id = "native-app"')
    lines = home.oauthctl("account", "list").lines
    assert [line.split()[:2] for line in lines] == [["ACCOUNT", "STATE"], ["a-new-one", "new"], ["fine", "ok"]]
    assert lines[2].split()[2:] == ["authorization_code", dot.issuer, "read"]


def test_list_of_nothing_says_how_to_begin(home, agent):
    result = home.oauthctl("account", "list")
    assert result.stdout == "" and "oauthctl login" in result.stderr


def test_show_tells_everything_but_secrets(home, agent, dot):
    log_in(home, dot, client="web-app")
    token = get_token(home)
    shown = home.oauthctl("account", "show", "work").stdout
    assert dot.token_endpoint in shown and "web-app" in shown and dot.issuer in shown
    details = show(home)
    assert sorted(details["secrets"]) == ["client_secret", "refresh_token"]
    assert details["fingerprint"] == "sha256:" + mark_of(token)
    secrets = [token, *[it for _, it, _ in dot.issued()]]
    assert not any(secret in shown + json.dumps(details) for secret in secrets)


def test_forget_deletes_the_account_here_and_tells_the_server_nothing(home, agent, dot):
    log_in(home, dot)
    token, mark = get_token(home), dot.mark()
    home.oauthctl("account", "forget", "work", "--yes")
    assert not account_file(home).exists() and accounts(home) == {}
    result = home.oauthctl("get-token", "work", check=False)
    assert (result.status, result.stdout) == (3, "")
    assert dot.log_entries(mark) == [] and dot.say_hello(token) == 200
    agent.restart()
    assert accounts(home) == {}
    # Under the same name it is another account.
    log_in(home, dot)
    assert get_token(home) != token


@needs_root
def test_forget_deletes_nothing_where_the_file_cannot_be_removed(home, agent, dot):
    log_in(home, dot)
    folder = account_file(home).parent

    def story():
        run("mount", "--bind", folder, folder)
        run("mount", "-o", "remount,bind,ro", folder)
        return home.oauthctl("account", "forget", "work", "--yes", check=False)

    refused = isolated(story)
    assert refused.status == 3 and "nothing is forgotten" in refused.stderr
    assert dot.say_hello(get_token(home)) == 200


def test_forget_does_nothing_before_somebody_agrees(home, agent, dot):
    log_in(home, dot)
    assert home.oauthctl("account", "forget", "work", check=False).status != 0
    assert account_file(home).exists() and get_token(home)


def test_a_file_that_is_deleted_stops_the_account_and_one_that_comes_back_goes_on(home, agent, dot):
    log_in(home, dot)
    token, text = get_token(home), account_file(home).read_text()
    account_file(home).unlink()
    home.oauthctl("reload")
    assert home.oauthctl("get-token", "work", check=False).status == 3
    define(home, "work", *text.splitlines())
    assert get_token(home) == token
