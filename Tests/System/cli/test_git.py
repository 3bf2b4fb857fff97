"""git's credential helper: clone, pull and push with the installed git, and what git writes to it, by hand.

OAUTHCTL_TEST_GIT names another git to test with than the one in PATH.
"""

import base64
import os
import re
import secrets
import socket
import subprocess
import threading
import time

import pytest

from support.accounts import account_file, define, edit
from support.login import get_token, log_in, wait_until
from support.processes import stopped
from support.terminal import run_at_terminal
from world.guard import digest

GIT = os.environ.get("OAUTHCTL_TEST_GIT", "git")
IDENTITY = {
    "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.org"}


def version():
    """Of git, as (major, minor)."""
    text = subprocess.run([GIT, "--version"], check=True, capture_output=True, text=True).stdout
    return tuple(int(part) for part in re.search(r"(\d+)\.(\d+)", text).groups())


def git(home, *arguments, **options):
    return home.run(GIT, *arguments, environment={**IDENTITY, **options.pop("environment", {})}, **options)


def settings(home):
    """git's global configuration as (key, value), in order."""
    if not (home.root / ".gitconfig").exists():
        return []
    entries = git(home, "config", "--global", "--null", "--list").stdout.split("\0")[:-1]
    return [tuple(entry.split("\n", 1)) for entry in entries]


@pytest.fixture
def work(home, agent, dot):
    """A home that is logged in and whose git asks oauthctl."""
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes")
    return home


@pytest.fixture
def helper(home):
    """helper(operation, *lines) -> Result: the helper by its own name, as git runs it; it is not set up."""
    link = home.bin / "git-credential-oauthctl"
    link.symlink_to(home.programs / "oauthctl")

    def run(operation, *lines, **options):
        return home.run(link, operation, stdin="".join(line + "\n" for line in lines) + "\n", **options)

    return run


def remote(server, **changes):
    """What git says of a server: `key=value` lines."""
    protocol, _, host = server.issuer.partition("://")
    values = {"protocol": protocol, "host": host, **changes}
    return [f"{key}={value}" for key, value in values.items() if value is not None]


NEWER = ["capability[]=authtype", "capability[]=state"]
BASIC, BEARER = 'wwwauth[]=Basic realm="test world"', 'wwwauth[]=Bearer realm="test world"'


def state(token, which="first", account="work"):
    return f"state[]=oauthctl:2:{which}:{digest(token)[:32]}:{account}"


def basic(token, username="oauth2"):
    return "credential=" + base64.b64encode(f"{username}:{token}".encode()).decode()


# Setting up

PRESENT = """\
[user]
\tname = Alice
[credential]
\thelper = cache
[credential "https://github.com"]
\thelper =
\thelper = /usr/bin/gh auth git-credential
"""


def test_setup_adds_three_entries_and_remove_takes_exactly_them_away(home, agent, dot):
    log_in(home, dot)
    (home.root / ".gitconfig").write_text(PRESENT)
    before, key = settings(home), f"credential.{dot.issuer}.helper"
    shown = home.oauthctl("setup", "git", "--yes").stderr
    added = settings(home)
    assert added[:len(before)] == before
    (empty_key, empty), (helper_key, helper), path = added[len(before):]
    assert (empty_key, empty, helper_key) == (key, "", key)
    assert path == (f"credential.{dot.issuer}.usehttppath", "true")
    assert helper.startswith(str(home.programs) + "/") and key in shown and helper.split(" ")[0] in shown
    # Nothing is left to do the second time.
    home.oauthctl("setup", "git", "--yes")
    assert settings(home) == added
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert settings(home) == before and (home.root / ".gitconfig").read_text() == PRESENT


def test_setup_does_nothing_before_somebody_agrees(home, agent, dot):
    log_in(home, dot)
    home.oauthctl("setup", "git", "--dry-run")
    assert home.oauthctl("setup", "git", check=False).status != 0
    assert settings(home) == []


def test_setup_names_the_hosts_of_every_account(home, agent, dot, world):
    log_in(home, dot, "work")
    log_in(home, world(access_ttl=298), "other")
    home.oauthctl("setup", "git", "--yes")
    assert {key for key, _ in settings(home) if key.endswith("helper")} == {
        f"credential.{server.issuer}.helper".lower() for server in (dot, world(access_ttl=298))}


def test_a_helper_of_the_user_s_own_for_the_host_stays(home, agent, dot):
    log_in(home, dot)
    git(home, "config", "--global", f"credential.{dot.issuer}.helper", "cache")
    before = settings(home)
    home.oauthctl("setup", "git", "--yes")
    assert settings(home)[:1] == before and len(settings(home)) == 4
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert settings(home) == before


def test_a_private_authority_is_told_to_git(home, agent, world):
    server = world(tls=True)
    log_in(home, server)
    home.oauthctl("setup", "git", "--yes")
    copy = home.state / "oauthctl" / "authorities" / "work.pem"
    assert (f"http.{server.issuer}.sslcainfo", str(copy)) in settings(home)
    assert copy.read_bytes() == server.ca_file.read_bytes() and copy.stat().st_mode & 0o777 == 0o600
    git(home, "clone", server.repository, "one")
    # Nothing is left to do the second time, and all is taken out again.
    assert "already" in home.oauthctl("setup", "git", "--yes").stderr
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert settings(home) == []


# The installed git

def test_clone_pull_and_push(work, dot):
    for name in ("one", "two"):
        git(work, "clone", dot.repository, name)
    # More than git's post buffer of 1 MiB: the push comes in chunks.
    content = secrets.token_bytes(2_000_000)
    (work.root / "one" / "new").write_bytes(content)
    git(work, "-C", "one", "add", "new")
    git(work, "-C", "one", "commit", "-qm", "new")
    git(work, "-C", "one", "push")
    pulled = git(work, "-C", "two", "pull", "--ff-only")
    assert (work.root / "two" / "new").read_bytes() == content and "oauthctl" not in pulled.stderr


def test_the_agent_starts_when_git_needs_it(home, dot):
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes")
    stop_agent_started_on_demand(home)
    git(home, "clone", dot.repository, "one")
    assert (home.root / "one" / "README").exists()


def stop_agent_started_on_demand(home):
    pid = int(re.search(r"pid (\d+)", home.oauthctl("status").stdout).group(1))
    os.kill(pid, 15)

    def is_gone():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        os.waitpid(pid, os.WNOHANG)
        return False

    wait_until(is_gone, 20, "the agent ends")


def test_a_user_name_in_the_address_does_not_matter(work, dot):
    git(work, "clone", dot.repository.replace("://", "://alice@"), "one")


def test_a_token_that_dies_between_two_commands_costs_one_refresh(work, dot):
    git(work, "clone", dot.repository, "one")
    token, mark = get_token(work), dot.mark()
    dot.revoke(token)
    first = git(work, "-C", "one", "fetch", check=False)
    if version() >= (2, 46):
        # Told which token was refused, the helper mends it inside the one command.
        assert first.status == 0, first
    else:
        # All that this git can tell is `erase`; it fails, and the next command has a new token.
        assert first.status == 128 and "Authentication failed" in first.stderr
    git(work, "-C", "one", "fetch")
    assert len(dot.refreshes(mark)) == 1 and get_token(work) != token


def test_a_token_that_expires_between_two_commands_is_not_noticed(home, agent, world):
    server = world(access_ttl=4)
    log_in(home, server)
    home.oauthctl("setup", "git", "--yes")
    git(home, "clone", server.repository, "one")
    token = get_token(home)
    wait_until(lambda: server.say_hello(token) == 401, 20, "the token expires")
    git(home, "-C", "one", "fetch")


def test_a_dead_login_is_told_in_one_line_and_git_asks_nobody(work, dot):
    git(work, "clone", dot.repository, "one")
    dot.end_grants()
    dot.revoke(get_token(work))
    git(work, "-C", "one", "fetch", check=False)
    asked = work.root / "asked"
    askpass = work.bin / "askpass"
    askpass.write_text(f"#!/bin/sh\necho \"$1\" >> '{asked}'\n")
    askpass.chmod(0o700)
    result = git(work, "-C", "one", "fetch", check=False, environment={"GIT_ASKPASS": str(askpass)})
    assert result.status == 128 and not asked.exists()
    [line] = [line for line in result.stderr.splitlines() if not line.startswith("fatal:")]
    assert line.startswith("oauthctl: work: login needed") and "oauthctl login work" in line
    # The same at a terminal, where git would ask by itself.
    status, text = run_at_terminal(work, GIT, "-C", "one", "fetch", environment={"GIT_TERMINAL_PROMPT": "1"})
    assert status == 128 and "login needed" in text and "Username" not in text


def test_an_unknown_host_is_left_to_git(home, agent, dot, world):
    """The helper is there for every host and has nothing to say: git asks as if it were not."""
    log_in(home, dot)
    git(home, "config", "--global", "credential.helper", f"{home.programs}/oauthctl git-credential")
    other = world(access_ttl=298)
    status, text = run_at_terminal(
        home, GIT, "clone", other.repository, "one", until="Username for", environment={"GIT_TERMINAL_PROMPT": "1"})
    assert status is None and "oauthctl" not in text


def test_the_helper_after_ours_is_asked_for_other_hosts(home, agent, dot):
    log_in(home, dot)
    for helper in (f"{home.programs}/oauthctl git-credential", "!echo username=me; echo password=mine; :"):
        git(home, "config", "--global", "--add", "credential.helper", helper)
    filled = git(home, "credential", "fill", stdin="protocol=https\nhost=other.example\n\n")
    assert "password=mine" in filled.lines and filled.stderr == ""
    ours = git(home, "credential", "fill", stdin="".join(line + "\n" for line in remote(dot)) + "\n")
    assert f"password={get_token(home)}" in ours.lines and "username=oauth2" in ours.lines


def test_no_other_helper_learns_the_token(home, agent, dot):
    """`store` and `cache` of the user's own go on for their hosts, and never get ours."""
    kept = "https://me:mine@other.example\n"
    (home.root / ".git-credentials").write_text(kept)
    (home.root / ".git-credentials").chmod(0o600)
    git(home, "config", "--global", "credential.helper", "store")
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes")
    git(home, "clone", dot.repository, "one")
    dot.revoke(get_token(home))
    git(home, "-C", "one", "fetch", check=False)
    git(home, "-C", "one", "fetch")
    assert (home.root / ".git-credentials").read_text() == kept
    filled = git(home, "credential", "fill", stdin="protocol=https\nhost=other.example\n\n")
    assert "password=mine" in filled.lines


def test_the_account_names_git_s_user(home, agent, dot, helper):
    log_in(home, dot, arguments=["--git-username", "x-access-token"])
    assert "username=x-access-token" in helper("get", *remote(dot)).lines


# What git writes, by hand

def test_an_older_git_gets_name_and_password_alone(home, agent, dot, helper):
    """git 2.39 to 2.45: no capabilities, so none of what depends on them."""
    log_in(home, dot)
    result = helper("get", *remote(dot), BASIC, BEARER)
    assert result.stderr == "" and result.lines[:2] == ["username=oauth2", f"password={get_token(home)}"]
    [expiry] = result.lines[2:]
    assert 0 < int(expiry.removeprefix("password_expiry_utc=")) - time.time() <= 300


def test_a_newer_git_gets_basic_where_the_server_offers_it(home, agent, dot, helper):
    log_in(home, dot)
    token = get_token(home)
    lines = helper("get", *NEWER, *remote(dot), BASIC, BEARER).lines
    # No user name and password: those are what a helper that comes after ours would keep.
    assert lines[:4] == [*NEWER, "authtype=Basic", basic(token)]
    assert set(lines[5:]) == {"ephemeral=1", "continue=1", state(token)}


def test_a_newer_git_gets_bearer_where_the_server_offers_nothing_else(home, agent, dot, helper):
    log_in(home, dot)
    token = get_token(home)
    lines = helper("get", *NEWER, *remote(dot), BEARER).lines
    assert lines[:4] == [*NEWER, "authtype=Bearer", f"credential={token}"]
    assert not any(line.startswith(("username=", "password=")) for line in lines)


def test_an_older_git_is_told_that_it_cannot_do_bearer(home, agent, dot, helper):
    log_in(home, dot)
    result = helper("get", *remote(dot), BEARER)
    assert result.stdout == "" and "git 2.46" in result.stderr and len(result.stderr.splitlines()) == 1


def test_the_state_tells_which_token_was_refused(home, agent, dot, helper):
    """The second round of one git command: a new token, and no third round."""
    log_in(home, dot)
    token, mark = get_token(home), dot.mark()
    refused = [BASIC, BEARER + ', error="invalid_token"', state(token)]
    lines = helper("get", *NEWER, *remote(dot), *refused).lines
    new = get_token(home)
    assert basic(new) in lines and new != token
    assert state(new, "last") in lines and not any(line.startswith("continue") for line in lines)
    # Another git process was told of the same token: there is a newer one already.
    assert basic(new) in helper("get", *NEWER, *remote(dot), *refused).lines
    assert len(dot.refreshes(mark)) == 1


def test_another_helper_s_state_is_none_of_ours(home, agent, dot, helper):
    log_in(home, dot)
    mark = dot.mark()
    lines = helper("get", *NEWER, *remote(dot), BASIC, "state[]=other:" + "0" * 32).lines
    assert "continue=1" in lines and dot.log_entries(mark) == []


def test_leftovers_of_a_stored_token_tell_that_it_was_refused(home, agent, dot, helper):
    """Once it has stored a token git forgets the state; then the expiry and the server's words are what is left."""
    log_in(home, dot)
    first = helper("get", *NEWER, *remote(dot), BEARER).lines
    [expiry] = [line for line in first if line.startswith("password_expiry_utc=")]
    token, mark = get_token(home), dot.mark()
    second = helper(
        "get", *NEWER, *remote(dot), "authtype=Bearer", expiry, BEARER + ', error="invalid_token"').lines
    assert f"credential={get_token(home)}" in second and get_token(home) != token and len(dot.refreshes(mark)) == 1
    assert not any(line.startswith("continue") for line in second), "the second question is the last"


def test_store_keeps_nothing(home, agent, dot, helper):
    log_in(home, dot)
    token, mark = get_token(home), dot.mark()
    for password in (token, "something-else"):
        result = helper("store", *remote(dot, username="oauth2", password=password))
        assert (result.status, result.stdout, result.stderr) == (0, "", "")
    assert get_token(home) == token and dot.log_entries(mark) == []


@pytest.mark.parametrize("kind", ["password", "credential", "basic"])
def test_erase_marks_the_token_that_git_tried(home, agent, dot, helper, kind):
    log_in(home, dot)
    token, mark = get_token(home), dot.mark()
    tried = {
        "password": {"password": token}, "credential": {"authtype": "Bearer", "credential": token},
        "basic": {"authtype": "Basic", "credential": basic(token).removeprefix("credential=")}}[kind]
    result = helper("erase", *remote(dot, **tried))
    assert (result.status, result.stdout, result.stderr) == (0, "", "")
    assert dot.refreshes(mark) == [], "erase only marks"
    assert get_token(home) != token and len(dot.refreshes(mark)) == 1


@pytest.mark.parametrize("password", [None, "something-else", ""])
def test_erase_of_anything_else_changes_nothing(home, agent, dot, helper, password):
    """`git credential reject` by hand, or a git that tried an older token."""
    log_in(home, dot)
    token, mark = get_token(home), dot.mark()
    assert helper("erase", *remote(dot, password=password)).status == 0
    assert get_token(home) == token and dot.log_entries(mark) == []


def test_the_capabilities_are_told(helper):
    assert helper("capability").lines == ["version 0", "capability authtype", "capability state"]


def test_an_operation_of_a_git_to_come_is_ignored(home, agent, dot, helper):
    log_in(home, dot)
    result = helper("refresh", *remote(dot))
    assert (result.status, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("changes", [
    {"host": "unknown.example"}, {"protocol": None}, {"host": None}, {"protocol": ""}, {"host": ""},
    {"protocol": "https"}, {"protocol": "imap"}, {"host": "localhost"}, {"host": "localhost:1"},
    {"host": "localhost.evil.example"}, {"host": "127.0.0.1"}, {"host": "loca\u217chost"}, {"host": "alice@{host}"},
    {"host": "{name}.:{port}"}, {"host": "{host}0"}, {"host": "{name}:0{port}"}, {"host": "{host}/"},
    {"protocol": "http", "host": "example.com"},
], ids=repr)
def test_a_server_that_is_not_surely_ours_gets_silence(home, agent, dot, helper, changes):
    log_in(home, dot)
    places = {"host": f"localhost:{dot.port}", "name": "localhost", "port": dot.port}
    asked = {key: value and value.format(**places) for key, value in changes.items()}
    result = helper("get", *remote(dot, **asked), BASIC, check=False)
    assert (result.status, result.stdout, result.stderr) == (0, "", "")
    assert helper("get", *remote(dot)).stdout != ""


def test_a_host_that_was_taken_out_of_the_account_gets_nothing(home, agent, dot, elsewhere, helper):
    log_in(home, dot, arguments=["--host", dot.issuer, "--host", elsewhere.url])
    host = elsewhere.url.removeprefix("http://").removesuffix("/")
    asked = remote(dot, host=host)
    assert f"password={get_token(home)}" in helper("get", *asked).lines
    edit(home, "work", hosts=f'["{dot.issuer}"]')
    result = helper("get", *asked)
    assert (result.stdout, result.stderr) == ("", "")
    assert f"password={get_token(home)}" in helper("get", *remote(dot)).lines


def test_the_host_s_case_does_not_matter(home, agent, dot, helper):
    log_in(home, dot)
    asked = remote(dot, host=f"LocalHost:{dot.port}", path="git/demo.git", username="alice")
    assert f"password={get_token(home)}" in helper("get", *asked).lines


@pytest.mark.parametrize("line", [
    "password=a\rb", "host=evil\0.example", "no equals sign", "host=a\nhost=b", "x" * 70_000 + "=1"],
    ids=["CR", "NUL", "no =", "twice", "too long"])
def test_what_two_readers_could_read_differently_is_refused(home, agent, dot, helper, line):
    log_in(home, dot)
    result = helper("get", *remote(dot), line, check=False)
    assert result.stdout == "" and result.status != 0 and len(result.stderr.splitlines()) == 1
    assert get_token(home)


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


def test_one_repository_that_refuses_every_token_denies_nobody_else(work, dot):
    """For want of rights: two refreshes show that new tokens are refused too, and the account goes on for everybody."""
    mark = dot.mark()
    forbidden = dot.repository.replace("demo.git", "forbidden.git")
    results = [git(work, "ls-remote", forbidden, check=False) for _ in range(5)]
    assert [result.status for result in results] == [128] * 5
    assert len(dot.refreshes(mark)) == 2
    assert "refused a new token too" in results[-1].stderr and "rights" in results[-1].stderr
    for _ in range(3):
        git(work, "ls-remote", dot.repository)
        get_token(work)
    assert len(dot.refreshes(mark)) == 2
    # And another repository's 401 is believed.
    token = get_token(work)
    dot.revoke(token)
    git(work, "ls-remote", dot.repository, check=False)
    git(work, "ls-remote", dot.repository)
    assert get_token(work) != token and len(dot.refreshes(mark)) == 3


def test_a_helper_that_comes_after_ours_keeps_no_token(work, dot):
    git(work, "config", "--global", "--add", f"credential.{dot.issuer}.helper", "store")
    git(work, "clone", dot.repository, "one")
    kept = work.root / ".git-credentials"
    if version() >= (2, 46):
        assert not kept.exists() or get_token(work) not in kept.read_text()
    # An older git cannot be kept from it: who sets up or asks is told.
    assert "git before 2.46" in work.oauthctl("setup", "git", "--dry-run").stderr or version() >= (2, 46)
    assert "store comes after oauthctl" in work.oauthctl("doctor", check=False).stdout


def asks_at(work, *arguments, environment=()):
    """git's result, and whether it asked for a user name or password."""
    asked, askpass = work.root / "asked", work.bin / "askpass"
    askpass.write_text(f"#!/bin/sh\necho \"$1\" >> '{asked}'\necho hunter2\n")
    askpass.chmod(0o700)
    result = git(work, *arguments, check=False, environment={"GIT_ASKPASS": str(askpass), **dict(environment)})
    return result, asked.exists()


def test_no_failure_makes_git_ask_where_setup_has_named_the_server(work, dot):
    """A user name and password that a person types go to the server: there are none to be typed."""
    git(work, "clone", dot.repository, "one")
    nowhere = {"OAUTHCTL_SOCKET": str(work.root / "nobody.sock")}
    result, asked = asks_at(work, "-C", "one", "fetch", environment=nowhere)
    assert result.status == 128 and not asked and "oauthctl: " in result.stderr
    # An account that is gone, too.
    work.oauthctl("account", "forget", "work", "--yes", check=False)
    (work.config / "oauthctl" / "accounts.d" / "work.toml").unlink(missing_ok=True)
    work.oauthctl("reload", check=False)
    result, asked = asks_at(work, "-C", "one", "fetch")
    assert result.status == 128 and not asked and "no account" in result.stderr


def test_a_frozen_agent_holds_erase_up_for_two_seconds_at_most(home, agent, dot, helper):
    log_in(home, dot)
    token = get_token(home)
    with stopped(agent.process.pid):
        # The limit is far from two seconds, so that a busy machine changes nothing, and far below what it took.
        result = helper("erase", *remote(dot, password=token), timeout=25)
    assert (result.status, result.stdout, result.stderr) == (0, "", "")


def test_the_helper_answers_at_the_blank_line(home, agent, dot):
    """Whoever goes on holding its end of the pipe open is answered all the same."""
    log_in(home, dot)
    process = home.start(home.programs / "oauthctl", "git-credential", "get", stdin=subprocess.PIPE)
    try:
        process.stdin.write("".join(line + "\n" for line in remote(dot)) + "\n")
        process.stdin.flush()
        answer = process.stdout.read()
        assert process.wait(20) == 0 and f"password={get_token(home)}" in answer.splitlines()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("is_link", [False, True])
def test_setup_replaces_no_device(home, agent, dot, is_link):
    log_in(home, dot)
    place = home.root / "device"
    os.mkfifo(place)
    link = home.root / "link"
    link.symlink_to(place)
    result = home.oauthctl(
        "setup", "git", "--yes", check=False, environment={"GIT_CONFIG_GLOBAL": str(link if is_link else place)})
    assert result.status == 3 and "no regular file" in result.stderr
    assert place.is_fifo() and link.is_symlink()


@pytest.mark.parametrize(("number", "password"), [(1, ["password=t0ken"]), (2, [])])
def test_an_answer_to_another_question_gives_git_nothing(home, helper, number, password):
    """The quick reader must look at the id as the general one does; a pretended agent answers."""
    answer = (f'{{"jsonrpc":"2.0","id":{number},"result":{{"access_token":"t0ken","account":"work","account_id":"00",'
              '"fingerprint":"f","scope":[],"token_type":"Bearer"}}\n')
    home.socket.parent.mkdir(mode=0o700, parents=True)

    def serve():
        connection, _ = listener.accept()
        with connection:
            connection.makefile().readline()
            connection.sendall(answer.encode())

    with socket.socket(socket.AF_UNIX) as listener:
        listener.settimeout(20)
        listener.bind(str(home.socket))
        listener.listen()
        thread = threading.Thread(target=serve)
        thread.start()
        result = helper("get", "protocol=https", "host=git.example")
        thread.join()
    assert [line for line in result.lines if line.startswith("password=")] == password
    assert bool(result.stderr) == (password == [])
