"""Account files, edited by people: what is listed, what a change stops, and what is told of a mistake."""

import json
import os
import shutil

import pytest

from support.accounts import account_file, define, edit
from support.listener import Listener
from support.login import get_token, log_in, wait_until
from support.watch import files_with
from support.wire import WireError
from world.guard import mark_of


def accounts(home):
    """`account list` as a dictionary of name and summary."""
    listed = json.loads(home.oauthctl("account", "list", "--json").stdout)["accounts"]
    return {account["account"]: account for account in listed}


def show(home, name="work"):
    return json.loads(home.oauthctl("account", "show", name, "--json").stdout)


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


# A definition that changed

def other_name(url):
    """The same server by its address."""
    return url.replace("localhost", "127.0.0.1")


CHANGES = {
    "token_endpoint": '"{elsewhere}token"',
    "authorization_endpoint": '"{elsewhere}authorize"',
    "revocation_endpoint": '"{elsewhere}revoke"',
    "hosts": '["{issuer}", "{elsewhere}"]',
    "issuer": '"{elsewhere}"',
    "client_id": '"web-app"',
    "redirect_uri": '"http://127.0.0.1/other"',
    "client_authentication": '"client_secret_post"',
    "proxy": '"{elsewhere}"',
    "ca_file": '"{ca}"',
}


def change(home, server, elsewhere, key):
    """Edit one key of the account `work`; returns the file's text before."""
    authority = home.root / "authority.pem"
    authority.write_text("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")
    places = {"elsewhere": elsewhere.url, "issuer": server.issuer, "ca": authority}
    return edit(home, "work", **{key: CHANGES[key].format(**places)})


@pytest.mark.parametrize("key", CHANGES)
def test_a_change_of_what_decides_where_secrets_go_sends_nothing(home, agent, dot, elsewhere, key):
    log_in(home, dot)
    token = get_token(home)
    change(home, dot, elsewhere, key)
    mark = dot.mark()
    # What is still valid is served, as before the change.
    assert get_token(home) == token
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert (refused.status, refused.stdout) == (3, "")
    assert key in refused.stderr and "oauthctl account accept work" in refused.stderr
    assert home.oauthctl("get-token", "work", "--rejected-stdin", stdin=token, check=False).status == 3
    assert dot.log_entries(mark) == [] and elsewhere.seen == []
    assert accounts(home)["work"]["state"] == "definition_changed"
    # The issuer is the default of `hosts`, and a file has content.
    assert [difference["key"] for difference in show(home)["differences"]][0] == key


def test_a_host_that_was_added_gets_no_token_before_it_is_accepted(home, agent, dot, elsewhere):
    log_in(home, dot)
    change(home, dot, elsewhere, "hosts")
    result = home.oauthctl("curl", "work", elsewhere.url, check=False)
    assert (result.status, elsewhere.seen) == (125, [])
    assert home.oauthctl("curl", "work", dot.resource).stdout == '{"hello": "alice"}'
    home.oauthctl("account", "accept", "work", "--yes")
    assert home.oauthctl("curl", "work", elsewhere.url).stdout == "elsewhere\n"
    assert elsewhere.seen[0]["Authorization"] == f"Bearer {get_token(home)}"


def test_a_host_that_was_taken_out_gets_no_token_any_more(home, agent, dot, elsewhere):
    """By no way that names a URL, while the same token goes on to be given for the hosts that are left."""
    log_in(home, dot, arguments=["--host", dot.issuer, "--host", elsewhere.url])
    token = get_token(home)
    assert home.oauthctl("curl", "work", elsewhere.url).stdout == "elsewhere\n"
    assert [headers["Authorization"] for headers in elsewhere.seen] == [f"Bearer {token}"]
    before = edit(home, "work", hosts=f'["{dot.issuer}"]')
    assert elsewhere.url[:-1] in before
    for account in (["work"], []):
        result = home.oauthctl("curl", *account, elsewhere.url, check=False)
        assert result.status == 125 and token not in result.stdout + result.stderr
    with agent.connect() as wire:
        for names in ({"account": "work"}, {}):
            with pytest.raises(WireError) as refused:
                wire.call("token.get", url=elsewhere.url, **names)
            assert refused.value.failure == ("not_permitted" if names else "account_unknown")
        assert wire.call("token.get", url=dot.resource)["access_token"] == token
    assert len(elsewhere.seen) == 1
    assert home.oauthctl("curl", "work", dot.resource).stdout == '{"hello": "alice"}'
    define(home, "work", *before.splitlines())
    assert home.oauthctl("curl", "work", elsewhere.url).stdout == "elsewhere\n"


def test_curl_s_second_try_asks_for_its_host_again(home, agent, dot):
    """The host is taken out while the first answer, a 401, is on its way: the newer token does not go there."""
    def refresh_and_take_out():
        home.oauthctl("get-token", "work", "--force")
        edit(home, "work", hosts=f'["{dot.issuer}"]')

    with Listener(before_answer=refresh_and_take_out, status=401) as other:
        log_in(home, dot, arguments=["--host", dot.issuer, "--host", other.url])
        result = home.oauthctl("curl", "work", other.url, check=False)
        assert len(other.seen) == 1 and "may not go to" in result.stderr, result


def test_nothing_is_refreshed_by_plan_either(home, agent, world, elsewhere):
    server = world(access_ttl=3)
    log_in(home, server)
    token = get_token(home)
    change(home, server, elsewhere, "token_endpoint")
    mark = server.mark()
    wait_until(lambda: server.say_hello(token) == 401, 20, "the token expires")
    result = wait_until(
        lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 20, "no token any more")
    assert result.status == 3 and elsewhere.seen == []
    assert {entry["path"] for entry in server.log_entries(mark)} == {"/api/hello"}


def test_a_change_while_the_agent_was_not_running_is_found(home, agent, dot, elsewhere):
    log_in(home, dot)
    agent.stop()
    change_file = account_file(home)
    change_file.write_text(change_file.read_text() + f'token_endpoint = "{elsewhere.url}token"\n')
    agent.start()
    mark = dot.mark()
    assert home.oauthctl("get-token", "work", "--force", check=False).status == 3
    assert dot.log_entries(mark) == [] and elsewhere.seen == []


def test_a_change_that_is_taken_back_needs_no_word(home, agent, dot, elsewhere):
    log_in(home, dot)
    text = change(home, dot, elsewhere, "token_endpoint")
    define(home, "work", *text.splitlines())
    assert home.oauthctl("get-token", "work", "--force").status == 0
    assert accounts(home)["work"]["state"] == "ok"


@pytest.mark.parametrize("key, value", [("git_username", '"me"'), ("keep", '"always"'), ("allowed_scope", '["write"]')])
def test_what_does_not_decide_where_secrets_go_may_change(home, agent, dot, key, value):
    log_in(home, dot)
    edit(home, "work", **{key: value})
    assert home.oauthctl("get-token", "work", "--force").status == 0


def test_accept_shows_the_change_and_binds_it(home, agent, dot):
    log_in(home, dot)
    edit(home, "work", token_endpoint=f'"{other_name(dot.token_endpoint)}"')
    assert home.oauthctl("get-token", "work", "--force", check=False).status == 3
    accepted = home.oauthctl("account", "accept", "work", "--yes")
    assert f"token_endpoint: {dot.token_endpoint} → {other_name(dot.token_endpoint)}" in accepted.stderr
    mark = dot.mark()
    assert home.oauthctl("get-token", "work", "--force").status == 0
    assert [entry["status"] for entry in dot.refreshes(mark)] == [200]
    assert "nothing to accept" in home.oauthctl("account", "accept", "work").stderr


def test_accept_does_nothing_before_somebody_agrees(home, agent, dot):
    log_in(home, dot)
    edit(home, "work", token_endpoint=f'"{other_name(dot.token_endpoint)}"')
    assert home.oauthctl("account", "accept", "work", check=False).status != 0
    assert home.oauthctl("get-token", "work", "--force", check=False).status == 3


def test_a_new_login_binds_the_change_too(home, agent, dot):
    log_in(home, dot)
    edit(home, "work", token_endpoint=f'"{other_name(dot.token_endpoint)}"')
    shown = home.oauthctl("login", "work", "--accept-changes").stderr
    assert f"token_endpoint: {dot.token_endpoint} → {other_name(dot.token_endpoint)}" in shown
    assert home.oauthctl("get-token", "work", "--force").status == 0


def test_another_authority_under_the_same_name_is_a_change(home, agent, world):
    server = world(tls=True)
    authority = home.root / "ca.pem"
    shutil.copy(server.ca_file, authority)
    define(
        home, "work", f'issuer = "{server.issuer}"', 'client_id = "native-app"', 'scope = ["read"]',
        f'ca_file = "{authority}"')
    home.use_browser(server.user, server.password, ca_file=server.ca_file)
    home.oauthctl("login", "work")
    authority.write_text(authority.read_text() + authority.read_text())
    home.oauthctl("reload")
    mark = server.mark()
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert refused.status == 3 and "ca_file" in refused.stderr and server.log_entries(mark) == []
    home.oauthctl("account", "accept", "work", "--yes")
    assert home.oauthctl("get-token", "work", "--force").status == 0


# Mistakes

GOOD = ['issuer = "https://as.example"', 'client_id = "me"']


@pytest.mark.parametrize("lines, line, key, words", [
    (['issuer = "https://as.example"'], None, "client_id", "missing"),
    (["isuer = 1", *GOOD], 1, "isuer", "did you mean issuer"),
    ([*GOOD, "scope = 5"], 3, "scope", "string or an array"),
    ([*GOOD, 'grant = "pasword"'], 3, "grant", 'did you mean "password"'),
    ([*GOOD, 'grant = "implicit"'], 3, "grant", "authorization_code"),
    ([*GOOD, 'token_endpoint = "http://as.example/token"'], 3, "token_endpoint", "https"),
    ([*GOOD, 'hosts = ["a b"]'], 3, "hosts", ""),
    ([*GOOD, 'redirect_uri = "http://127.0.0.1/callback#here"'], 3, "redirect_uri", ""),
    ([*GOOD, "[authorize_parameters]", 'state = "mine"'], 4, "authorize_parameters.state", ""),
    ([*GOOD, 'ca_file = "relative.pem"'], 3, "ca_file", "absolute"),
    ([*GOOD, 'ca_file = "/no/such/file.pem"'], 3, "ca_file", "does not exist"),
    ([*GOOD, 'keep = "forever"'], 3, "keep", ""),
    ([*GOOD, 'refresh_revokes_access_token = "yes"'], 3, "refresh_revokes_access_token", "true or false"),
    (['issuer = "https://as.example', 'client_id = "me"'], 1, None, ""),
    ([*GOOD, 'client_id = "you"'], 3, None, ""),
    ([*GOOD, "= 1"], 3, None, ""),
    ([*GOOD, "\x00"], 3, None, ""),
], ids=lambda value: value[-1] if isinstance(value, list) else None)
def test_a_mistake_is_told_with_file_line_and_key(home, agent, lines, line, key, words):
    result = define(home, "work", *lines)
    assert (result.status, result.stdout) == (3, "")
    with agent.connect() as wire:
        problems = wire.call("config.reload")["problems"]
        assert wire.call("agent.hello")["protocol"] == 1
    assert [(it["file"], it.get("line"), it.get("key")) for it in problems][:1] == [
        (str(account_file(home)), line, key)]
    first = result.stderr.splitlines()[0]
    assert words in first and "work.toml" in first
    assert line is None or f":{line}" in first or f"line {line}" in first
    assert key is None or key in first


@pytest.mark.parametrize("key", ["client_secret", "password", "refresh_token", "access_token"])
def test_a_secret_in_the_file_is_refused_and_not_repeated(home, agent, key):
    result = define(home, "work", *GOOD, f'{key} = "hunter2-hunter2"')
    assert result.status == 3 and key in result.stderr and "hunter2" not in result.stderr
    for arguments in (["status"], ["account", "list"], ["get-token", "work"], ["login", "work"]):
        other = home.oauthctl(*arguments, check=False)
        assert "hunter2" not in other.stdout + other.stderr
    agent.stop()
    assert files_with(home, "hunter2-hunter2") == {"config/oauthctl/accounts.d/work.toml"}


def test_a_half_edited_file_keeps_the_last_good_definition(home, agent, dot):
    log_in(home, dot)
    good = account_file(home).read_text()
    result = define(home, "work", *good.splitlines(), 'token_endpoint = "http')
    assert result.status == 3 and "last good definition" in result.stderr
    mark = dot.mark()
    assert home.oauthctl("get-token", "work", "--force").status == 0 and len(dot.refreshes(mark)) == 1
    assert accounts(home)["work"]["state"] == "config_invalid"
    assert "work.toml" in home.oauthctl("status").stdout + home.oauthctl("status").stderr
    define(home, "work", *good.splitlines())
    assert accounts(home)["work"]["state"] == "ok"


def test_after_a_restart_a_broken_file_is_an_error_that_names_it_and_the_login_is_kept(home, agent, dot):
    log_in(home, dot)
    good = account_file(home).read_text()
    agent.stop()
    account_file(home).write_text(good + "nonsense")
    agent.start()
    result = home.oauthctl("get-token", "work", check=False)
    assert (result.status, result.stdout) == (3, "") and "work.toml" in result.stderr
    # Listed from its sealed record, with file and line; git is told in one line.
    account = accounts(home)["work"]
    line = len(good.splitlines()) + 1
    assert account["state"] == "config_invalid" and account["issuer"] == dot.issuer
    assert account["reason"].startswith(f"line {line}: ") and account["hint"] == f"mend {account_file(home)}"
    assert "file invalid" in home.oauthctl("status").stdout
    assert home.oauthctl("status", "--check", check=False).status == 3
    host = dot.resource.split("//")[1].split("/")[0]
    told = home.oauthctl("git-credential", "get", stdin=f"protocol=http\nhost={host}\n\n", check=False)
    assert "password=" not in told.stdout and len(told.stderr.splitlines()) == 1, told
    assert told.stderr.count("work.toml") == 1 and f"line {line}: " in told.stderr, told
    define(home, "work", *good.splitlines())
    assert dot.say_hello(get_token(home)) == 200


def two_with_one_broken(home, agent, dot, **other):
    """`work`, which nobody can read since the agent started, and `other`; asks git's helper with further lines."""
    for name in ("work", "other"):
        log_in(home, dot, name)
    edit(home, "other", **other)
    agent.stop()
    with open(account_file(home), "a") as file:
        file.write("nonsense")
    agent.start()
    host = dot.resource.split("//")[1].split("/")[0]
    return lambda *lines: home.oauthctl(
        "git-credential", "get", stdin="".join(f"{line}\n" for line in ("protocol=http", f"host={host}", *lines, "")),
        check=False)


def test_a_broken_file_stops_no_healthy_account_of_its_host(home, agent, dot):
    """Neither git nor curl nor a script; that it may have been the one that was meant is a word beside the token."""
    ask = two_with_one_broken(home, agent, dot)
    token = get_token(home, "other")
    told = ask()
    assert f"password={token}" in told.stdout
    [line] = told.stderr.splitlines()
    assert line.startswith("oauthctl: work: its file cannot be used: line ") and "other is taken" in line
    result = home.oauthctl("get-token", "--url", dot.resource)
    assert result.lines == [token] and result.stderr == told.stderr
    result = home.oauthctl("curl", "-s", dot.resource)
    assert "hello" in result.stdout and result.stderr == told.stderr
    named = ask("username=other")
    assert f"password={token}" in named.stdout and named.stderr == ""


def test_another_account_does_not_stand_in_for_one_that_a_user_name_means(home, agent, dot):
    ask = two_with_one_broken(home, agent, dot)
    for name in ("work", "alice"):
        told = ask(f"username={name}")
        assert "password=" not in told.stdout and told.stderr.count("work.toml") == 1, told


def test_another_account_does_not_stand_in_for_one_that_a_path_means(home, agent, dot):
    ask = two_with_one_broken(home, agent, dot, paths='["team"]')
    told = ask("path=team/app.git")
    assert "password=" in told.stdout and told.stderr == ""
    told = ask("path=else/app.git")
    assert "password=" not in told.stdout and told.stderr.count("work.toml") == 1, told


def test_one_broken_file_does_not_stop_the_others(home, agent, dot):
    log_in(home, dot)
    define(home, "other", "nonsense")
    assert dot.say_hello(get_token(home)) == 200
    assert home.oauthctl("get-token", "work", "--force").status == 0


@pytest.mark.parametrize("what", ["writable by others", "a folder", "a pipe", "another's", "too large"])
def test_a_file_that_others_may_have_written_is_not_used(home, agent, dot, what):
    log_in(home, dot)
    file = account_file(home, "other")
    content = account_file(home).read_text()
    if what == "a folder":
        file.mkdir()
    elif what == "a pipe":
        os.mkfifo(file)
    else:
        file.write_text(content + ("#" * 70_000 if what == "too large" else ""))
        if what == "writable by others":
            file.chmod(0o666)
        if what == "another's":
            make_another_s(file)
    result = home.oauthctl("reload", check=False)
    assert result.status == 3 and "other.toml" in result.stderr
    assert set(accounts(home)) == {"work"} and get_token(home)


def make_another_s(file):
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(file, 65534, 65534)


def test_a_file_whose_mode_is_put_right_is_read_without_a_word_to_the_agent(home, agent, dot):
    log_in(home, dot)
    file = account_file(home)
    file.chmod(0o666)
    wait_until(lambda: accounts(home)["work"]["state"] == "config_invalid", 60, "the fault is seen")
    file.chmod(0o600)
    wait_until(lambda: accounts(home)["work"]["state"] == "ok", 60, "the repair is seen")
    file.parent.chmod(0o777)
    wait_until(lambda: json.loads(home.oauthctl("status", "--json").stdout)["problems"], 60, "the folder is seen")
    file.parent.chmod(0o700)
    wait_until(lambda: not json.loads(home.oauthctl("status", "--json").stdout)["problems"], 60, "its repair is seen")
