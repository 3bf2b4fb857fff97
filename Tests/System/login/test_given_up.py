"""A question that is given up: what was done before it is taken back."""

import signal

import pytest

from login.provider import use_silent_browser
from login.test_pushed import Pushing
from support.accounts import account_file
from support.login import wait_until
from support.terminal import run_at_terminal
from support.unattended import log_in, refresh, server_of

SECOND = "shown? [y/N]"


@pytest.fixture
def server(home):
    server = server_of(home, "strict")
    home.agent.start()
    yield server
    server.stop()


def command(home, server, verb):
    """Replaces the account's file with another client's, then asks whether the login may be bound to that."""
    if verb == "login":
        words = f"login work {server.issuer} --client-id other --scope read"
    else:
        file = home.root / "login.json"
        file.write_text('{"refresh_token": "theirs"}')
        words = f"account import work {server.issuer} --client-id other < '{file}'"
    # Whoever runs the tests may ignore the signals, and hand that on.
    return "env", "--default-signal=INT,QUIT,HUP", "sh", "-c", f"exec '{home.programs}/oauthctl' {words}"


@pytest.mark.parametrize(("verb", "key", "status"), [
    ("login", "\x03", 130), ("login", "\x1c", 131), ("account import", "\x03", 130)])
def test_a_key_that_ends_the_second_question_leaves_the_file_as_it_was(home, server, verb, key, status):
    log_in(home, server)
    before = account_file(home).read_text()
    code, shown = run_at_terminal(
        home, *command(home, server, verb), answers={".toml? [y/N]": "y\n", SECOND: key})
    assert (code, "is as it was" in shown) == (status, True), shown
    assert account_file(home).read_text() == before
    assert refresh(home).status == 0


def test_a_terminal_closed_at_the_second_question_leaves_the_file_as_it_was(home, server):
    log_in(home, server)
    before = account_file(home).read_text()
    # The shell that the terminal belongs to is ended with it.
    *program, words = command(home, server, "login")
    run_at_terminal(
        home, *program, words.removeprefix("exec ") + "; true", answers={".toml? [y/N]": "y\n"}, until=SECOND)
    wait_until(lambda: account_file(home).read_text() == before, 10, "the file as it was")
    assert refresh(home).status == 0


@pytest.mark.parametrize("words", [
    "login work {other} --client-id mine --scope read --replace --accept-changes",
    "login fresh {other} --client-id mine --scope read", "login work --add-scope more"],
    ids=["replaced", "new", "scope"])
def test_an_interrupt_while_the_server_is_silent_leaves_the_files_as_they_were(home, words):
    """It is put off until the server has answered, or its time is over: nobody else could take the file back."""
    home.agent.start()
    use_silent_browser(home)
    with Pushing() as first, Pushing() as second:
        home.oauthctl("login", "work", first.issuer, "--client-id", "mine", "--scope", "read")
        before = {file.name: file.read_text() for file in account_file(home).parent.iterdir()}
        provider = first if "--add-scope" in words else second
        pushes = provider.kinds().count("push")
        answers = provider.hold("/par")
        command = home.start(
            "env", "--default-signal=INT", home.programs / "oauthctl", *words.format(other=second.issuer).split())
        wait_until(lambda: provider.kinds().count("push") > pushes, 20, "the authorization request")
        command.send_signal(signal.SIGINT)
        wait_until(lambda: "ends when the server has answered" in command.stderr.readline(), 20, "the word of it")
        answers.set()
        assert command.wait(20) == 130
        assert {file.name: file.read_text() for file in account_file(home).parent.iterdir()} == before
        assert home.oauthctl("get-token", "work", "--force").status == 0
