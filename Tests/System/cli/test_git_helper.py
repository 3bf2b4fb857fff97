"""What git writes to its credential helper, by hand."""

import socket
import subprocess
import threading
import time

import pytest

from cli.git_steps import BASIC, BEARER, NEWER, basic, helper, remote, state
from support.accounts import account_file, edit
from support.login import get_token, log_in
from support.processes import stopped


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
    assert result.stdout == "quit=1\n" and result.status != 0 and len(result.stderr.splitlines()) == 1
    assert get_token(home)


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


@pytest.mark.parametrize("change", ["forgotten", "without a file"])
def test_git_is_told_to_quit_whatever_file_git_config_would_read(home, agent, dot, helper, change):
    """By GIT_CONFIG `git config` reads another file than git does, which would ask for a password and send it."""
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes", environment={**home.environment, "GIT_CONFIG": "/dev/null"})
    assert dot.issuer in (home.root / ".gitconfig").read_text()
    if change == "forgotten":
        home.oauthctl("account", "forget", "work", "--yes")
    else:
        account_file(home).unlink()
    told = helper("get", *remote(dot), check=False, environment={**home.environment, "GIT_CONFIG": "/dev/null"})
    assert told.lines == ["quit=1"], told
