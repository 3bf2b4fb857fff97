"""Mistakes in account files: told with file, line and key, and no other account is stopped."""

import json
import os

import pytest

from cli.account_steps import accounts
from support.accounts import account_file, define, edit
from support.login import get_token, log_in, wait_until
from support.watch import files_with

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
    assert account["reason"].startswith(f"{account_file(home)}:{line}: ") and "reads it again" in account["hint"]
    assert "file invalid" in home.oauthctl("status").stdout
    assert home.oauthctl("status", "--check", check=False).status == 3
    host = dot.resource.split("//")[1].split("/")[0]
    told = home.oauthctl("git-credential", "get", stdin=f"protocol=http\nhost={host}\n\n", check=False)
    assert "password=" not in told.stdout and len(told.stderr.splitlines()) == 1, told
    assert told.stderr.count("work.toml") == 1 and f"work.toml:{line}: " in told.stderr, told
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
    assert line.startswith(f"oauthctl: work: {home.shown(account_file(home))}:") and "other is taken" in line
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


def test_a_broken_file_beside_two_accounts_that_fit_is_all_that_git_hears_of(home, agent, dot):
    """The broken one may be the default that says which of the two is meant."""
    log_in(home, dot, "third")
    ask = two_with_one_broken(home, agent, dot)
    told = ask()
    assert "password=" not in told.stdout
    [line] = told.stderr.splitlines()
    assert line.startswith(f"oauthctl: work: {home.shown(account_file(home))}:"), line
    assert f"password={get_token(home, 'third')}" in ask("username=third").stdout


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


@pytest.mark.parametrize("above", [0, 1, 2], ids=["accounts.d", "the folder above", "the one above that"])
def test_a_folder_that_cannot_be_used_hides_no_login_and_every_tool_says_what_helps(home, agent, dot, above):
    """Also where the agent has not read the files before: only the vault knows of the account then."""
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes")
    folder = account_file(home).parents[above]
    folder.chmod(0o777)
    agent.restart()
    step = f"run: chmod go-w {home.shown(folder)}"
    by_url = "get-token", "--url", dot.issuer + "/x"
    for command in (("get-token", "work"), ("get-token",), by_url, ("login", "work")):
        told = home.oauthctl(*command, check=False)
        assert told.status == 3 and "may be written by others (mode 777)" in told.stderr, (command, told)
        assert step in told.stderr and "no such account" not in told.stderr, (command, told)
    assert accounts(home)["work"]["state"] == "config_invalid"
    for command in ("status", "reload"):
        told = home.oauthctl(command, check=False)
        assert step in told.stdout + told.stderr, told
    doctor = home.oauthctl("doctor", check=False)
    assert doctor.status != 0 and "chmod go-w" in doctor.stdout, doctor
    assert "there is none yet" not in doctor.stdout and "setup git --remove" not in doctor.stdout, doctor
    home.run("sh", "-c", step.removeprefix("run: "))
    wait_until(lambda: accounts(home)["work"]["state"] == "ok", 60, "the repair is seen")
    assert get_token(home)


def test_a_folder_above_the_configuration_s_that_comes_back_is_seen(home, agent, dot):
    """As after ~/.config was moved, or could not be read."""
    log_in(home, dot)
    elsewhere = home.root / "elsewhere"
    home.config.rename(elsewhere)
    agent.restart()
    assert accounts(home)["work"]["state"] == "config_invalid"
    elsewhere.rename(home.config)
    wait_until(lambda: accounts(home)["work"]["state"] == "ok", 60, "the folder is seen")
    assert get_token(home)


def test_a_new_account_is_not_made_in_a_folder_that_the_agent_does_not_read(home, agent, dot):
    log_in(home, dot)
    folder = account_file(home).parent
    folder.chmod(0o777)
    agent.restart()
    told = log_in(home, dot, "other", check=False)
    assert told.status == 3 and f"run: chmod go-w {home.shown(folder)}" in told.stderr, told
    assert not account_file(home, "other").exists()


@pytest.mark.parametrize("above", [0, 1], ids=["the configuration's folder", "the one above"])
def test_a_first_account_is_not_made_where_the_agent_would_not_read_it(home, agent, dot, above):
    """Nothing of ours is there yet: what counts is the folder that it would be made in, and those above."""
    folder = home.config
    if above:
        folder = home.root / "above"
        folder.mkdir()
        home.environment["XDG_CONFIG_HOME"] = str(folder / "config")
        home.config = folder / "config"
        home.config.mkdir()
    folder.chmod(0o777)
    agent.restart()
    told = log_in(home, dot, check=False)
    assert told.status == 3 and "may be written by others (mode 777)" in told.stderr, told
    assert "run: chmod go-w " in told.stderr, told
    assert list(home.config.iterdir()) == []
    folder.chmod(0o700)
    if above:
        problems = lambda: json.loads(home.oauthctl("status", "--json").stdout)["problems"]
        wait_until(lambda: not problems(), 60, "the repair is seen")
    # At once: the step that was told helps, whatever the agent has seen of it.
    log_in(home, dot)
    assert get_token(home)


def test_a_broken_file_is_named_where_no_account_fits(home, agent, dot):
    """Nobody has logged in by it, so nobody knows which host it is for."""
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes")
    good = account_file(home).read_text()
    home.oauthctl("account", "forget", "work", "--yes")
    define(home, "work", *good.splitlines(), "isuer = 1")
    line = len(good.splitlines()) + 1
    host = dot.resource.split("//")[1].split("/")[0]
    asked = f"protocol=http\nhost={host}\n\n"
    for command in (("get-token", "--url", dot.resource), ("curl", "-s", dot.resource), ("git-credential", "get")):
        told = home.oauthctl(*command, stdin=asked if "get" in command else None, check=False)
        assert f"work.toml:{line}: isuer" in told.stderr, (command, told)
    define(home, "work", *good.splitlines())
    told = home.oauthctl("get-token", "--url", dot.resource, check=False)
    assert "work.toml" not in told.stderr and "oauthctl login work" in told.stderr, told


def test_a_restart_tells_that_all_account_files_are_gone(home, agent, dot):
    log_in(home, dot)
    account_file(home).parents[1].rename(home.root / "elsewhere")
    told = home.oauthctl("agent", "restart")
    assert "work: ~/config/oauthctl is gone with all account files" in told.stderr, told
