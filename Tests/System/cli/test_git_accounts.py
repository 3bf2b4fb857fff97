"""Several accounts for one host: which of them answers git."""

import json

from cli.git_steps import BASIC, NEWER, basic, git, helper, remote, settings, state
from support.accounts import account_file, define, edit
from support.login import get_token, log_in


def test_two_accounts_for_one_host_are_told_and_git_stops(home, agent, dot, helper):
    log_in(home, dot, "work")
    log_in(home, dot, "other")
    result = helper("get", *remote(dot))
    assert result.lines == ["quit=1"] and "other, work" in result.stderr
    # What to do is git's own way of saying who one is.
    assert f"git config --global credential.{dot.issuer}.username other" in result.stderr
    assert "//other@" in result.stderr


def test_an_account_that_was_never_logged_in_is_in_nobody_s_way(home, agent, dot, helper):
    log_in(home, dot, "work")
    define(home, "aborted", *account_file(home).read_text().splitlines())
    assert f"password={get_token(home, 'work')}" in helper("get", *remote(dot)).lines
    assert home.oauthctl("get-token", "--url", dot.resource).lines == [get_token(home, "work")]
    # Who asks for that one by name is told, and not given another's token.
    named = helper("get", *remote(dot, username="aborted"))
    assert named.lines == ["quit=1"] and "oauthctl login aborted" in named.stderr


def test_an_imported_login_that_never_worked_is_in_nobody_s_way(home, agent, dot, helper):
    log_in(home, dot, "work")
    login = json.dumps({"refresh_token": "of nobody", "issuer": dot.issuer, "client_id": "native-app"})
    refused = home.oauthctl("account", "import", "taken", stdin=login, check=False)
    assert refused.status == 4, refused
    assert f"password={get_token(home, 'work')}" in helper("get", *remote(dot)).lines
    assert "hello" in home.oauthctl("curl", "-s", dot.resource).stdout


def test_a_file_that_no_longer_names_its_login_s_host_is_what_git_and_curl_hear_of(home, agent, dot, helper):
    log_in(home, dot, "work")
    edit(home, "work", hosts='["https://else.example"]')
    told = helper("get", *remote(dot))
    assert told.lines == ["quit=1"] and "work: its definition changed" in told.stderr, told
    result = home.oauthctl("curl", "-s", dot.resource, check=False)
    assert "oauthctl account accept work" in result.stderr, result


def test_the_user_name_chooses_between_two_accounts(home, agent, dot, helper):
    log_in(home, dot, "work")
    log_in(home, dot, "other")
    edit(home, "other", username='"bob"')
    tokens = {name: get_token(home, name) for name in ("work", "other")}
    for username, account in {"work": "work", "other": "other", "bob": "other"}.items():
        assert f"password={tokens[account]}" in helper("get", *remote(dot, username=username)).lines
        newer = helper("get", *NEWER, *remote(dot, username=username), BASIC).lines
        assert {basic(tokens[account]), state(tokens[account], account=account)} <= set(newer)
        # The second round of one command, in which git may have another user name: the state says whose it was.
        again = helper(
            "get", *NEWER, *remote(dot, username="oauth2", path=username), BASIC,
            state(tokens[account], account=account))
        tokens[account] = get_token(home, account)
        assert basic(tokens[account]) in again.lines
    # All that an older git says is the token.
    for account in ("work", "other"):
        helper("erase", *remote(dot, username="oauth2", password=tokens[account]))
        assert get_token(home, account) != tokens[account]


def test_a_user_name_that_no_account_answers_to_gets_no_other_s_token(home, agent, dot, helper):
    log_in(home, dot, "work")
    log_in(home, dot, "other")
    result = helper("get", *remote(dot, username="carol"))
    assert result.lines == ["quit=1"] and "answers to the user name carol" in result.stderr
    assert "other, work" in result.stderr and len(result.stderr.splitlines()) == 1
    # One account that says whose it is, too.
    home.oauthctl("logout", "other")
    edit(home, "work", username='"alice"')
    assert helper("get", *remote(dot, username="carol")).lines == ["quit=1"]
    assert f"password={get_token(home, 'work')}" in helper("get", *remote(dot, username="alice")).lines


def test_the_path_and_the_default_choose_between_two_accounts(home, agent, dot, helper):
    log_in(home, dot, "work")
    log_in(home, dot, "other")
    edit(home, "other", paths='["git/team"]')
    edit(home, "work", default="true")
    tokens = {name: get_token(home, name) for name in ("work", "other")}
    for path, account in {
            "git/team/app.git": "other", "git/teams/app.git": "work", "git/team": "other", "git/demo.git": "work",
            "git/x/../team/app.git": "work", None: "work"}.items():
        assert f"password={tokens[account]}" in helper("get", *remote(dot, path=path)).lines, path
    # curl the same.
    assert home.oauthctl("curl", "-sS", dot.issuer + "/git/team/app.git/info/refs", check=False).status == 0
    assert home.oauthctl("get-token", "--url", dot.issuer + "/git/team/x").lines == [tokens["other"]]
    assert home.oauthctl("get-token", "--url", dot.issuer + "/").lines == [tokens["work"]]


def test_the_helper_s_account_chooses_between_two_accounts(home, agent, dot):
    log_in(home, dot, "work")
    log_in(home, dot, "other")
    home.oauthctl("setup", "git", "--account", "other", "--yes")
    git(home, "clone", dot.repository, "one")
    filled = git(home, "credential", "fill", stdin="".join(line + "\n" for line in remote(dot)) + "\n")
    assert f"password={get_token(home, 'other')}" in filled.lines
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert settings(home) == []


def test_real_git_chooses_by_the_address_and_by_its_configuration(home, agent, dot):
    log_in(home, dot, "work")
    log_in(home, dot, "other")
    home.oauthctl("setup", "git", "--yes")
    refused = git(home, "clone", dot.repository, "none", check=False)
    assert refused.status == 128 and "2 accounts fit" in refused.stderr and "Username" not in refused.stderr
    for name in ("work", "other"):
        git(home, "clone", dot.repository.replace("://", f"://{name}@"), name)
    git(home, "config", "--global", f"credential.{dot.issuer}.username", "other")
    git(home, "clone", dot.repository, "third")
    unknown = git(home, "clone", dot.repository.replace("://", "://carol@"), "fourth", check=False)
    assert unknown.status == 128 and "answers to the user name carol" in unknown.stderr


def test_a_host_of_plain_http_is_named_as_such(home, agent, dot):
    """The address without its scheme is one of https, where git would get nothing."""
    log_in(home, dot)
    host = dot.issuer.removeprefix("http://")
    before = settings(home)
    refused = home.oauthctl("setup", "git", "--host", host, "--yes", check=False)
    assert refused.status == 64 and f"run: oauthctl setup git --yes --host {dot.issuer}\n" in refused.stderr, refused
    assert settings(home) == before
