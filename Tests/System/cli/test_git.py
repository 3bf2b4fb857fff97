"""git's credential helper: clone, pull and push with the installed git, and what git writes to it, by hand.

OAUTHCTL_TEST_GIT names another git to test with than the one in PATH.
"""

import os
import re
import secrets
import subprocess

import pytest

from cli.git_steps import GIT, git, helper, remote
from support.login import get_token, log_in, wait_until
from support.terminal import run_at_terminal


def version():
    """Of git, as (major, minor)."""
    text = subprocess.run([GIT, "--version"], check=True, capture_output=True, text=True).stdout
    return tuple(int(part) for part in re.search(r"(\d+)\.(\d+)", text).groups())


@pytest.fixture
def work(home, agent, dot):
    """A home that is logged in and whose git asks oauthctl."""
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes")
    return home


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


@pytest.mark.parametrize("place", ["after", "before"])
def test_a_helper_that_comes_beside_ours_keeps_no_token(work, dot, place):
    if place == "before":
        # Behind the empty one that switches all others off.
        key = f"credential.{dot.issuer}.helper"
        own = git(work, "config", "--global", "--get-all", key).stdout.splitlines()
        git(work, "config", "--global", "--unset-all", key)
        for helper in ["", "store", *filter(None, own)]:
            git(work, "config", "--global", "--add", key, helper)
    else:
        git(work, "config", "--global", "--add", f"credential.{dot.issuer}.helper", "store")
    git(work, "clone", dot.repository, "one")
    kept = work.root / ".git-credentials"
    if version() >= (2, 46):
        assert not kept.exists() or get_token(work) not in kept.read_text()
    # An older git cannot be kept from it: who sets up or asks is told.
    if place == "after":
        assert "git before 2.46" in work.oauthctl("setup", "git", "--dry-run").stderr or version() >= (2, 46)
    assert "git has store beside oauthctl" in work.oauthctl("doctor", check=False).stdout


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
