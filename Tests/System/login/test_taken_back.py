"""A login that fails takes its change of the account's file back, and no other."""

import signal
import time

import pytest

from login.registered import home, provider, renew, start
from support.accounts import account_file
from support.login import wait_until
from support.terminal import run_at_terminal


def replacing(home, provider):
    """A second login that has replaced the account's file and waits for its browser: that file, what was in it, the
    command, and what lets the browser be answered."""
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    before = file.read_text()
    gate = provider.hold("/authorize")
    login = start(home, "one", provider.url, "--replace", "--accept-changes")
    wait_until(lambda: provider.kinds().count("authorize") == 2, 30, "the browser")
    return file, before, login, gate


@pytest.mark.parametrize("milliseconds", [0, 12, 16, 20, 24, 28, 40])
def test_an_interrupt_at_the_end_of_a_login_takes_back_no_file_that_somebody_is_logged_in_by(
        home, agent, provider, milliseconds):
    file, before, login, gate = replacing(home, provider)
    gate.set()
    # The login ends within some 30 ms: an interrupt comes before, in the middle and after.
    time.sleep(milliseconds / 1_000)
    login.send_signal(signal.SIGINT)
    said = login.communicate(timeout=30)[1]
    is_logged_in = "Logged in as one" in said or "it has been finished" in said
    assert (file.read_text() == before) == (not is_logged_in), said
    assert renew(home).status == 0, said


@pytest.mark.parametrize("way", ["renewed", "replaced", "another scope"])
def test_a_lock_in_the_middle_of_a_login_takes_its_change_of_the_file_back(home, agent, provider, way):
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    before = file.read_text()
    gate = provider.hold("/authorize")
    arguments = {
        "renewed": [], "replaced": [provider.url, "--replace"], "another scope": ["--add-scope", "write"]}[way]
    count = 2
    if way == "renewed":
        # The login that finds the client unknown ends at once.
        gate.set()
        provider.rejects, count = 1, 3
        plain = provider.answer

        def answer(method, url, fields, body):
            nonlocal gate
            if url.path == "/authorize" and "client-2" in url.query:
                gate = provider.hold("/authorize")
            return plain(method, url, fields, body)

        provider.answer = answer
    login = start(home, "one", *arguments, "--accept-changes")
    wait_until(lambda: provider.kinds().count("authorize") == count, 30, "the browser")
    assert file.read_text() != before
    home.oauthctl("vault", "lock")
    said = login.communicate(timeout=60)[1]
    gate.set()
    assert login.returncode == 5 and "is as it was" in said, said
    assert file.read_text() == before
    home.oauthctl("vault", "unlock")
    assert renew(home).status == 0


@pytest.mark.parametrize("way", ["file gone", "wrong secret"])
def test_a_login_that_fails_after_a_logout_costs_no_client_and_no_secret(home, agent, provider, way):
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    before = file.read_text()
    home.oauthctl("logout", "one")
    if way == "file gone":
        file.unlink()
        # A no: there is nobody to ask.
        failed = home.oauthctl("login", "one", provider.url, check=False)
        file.write_text(before)
        file.chmod(0o600)
        home.oauthctl("reload")
    else:
        failed = home.oauthctl("login", "one", "--client-secret-stdin", stdin="wrong\n", check=False)
    assert failed.status != 0 and file.read_text() == before
    home.oauthctl("login", "one", "--accept-changes")
    sent = provider.form("authorization_code")
    assert (sent["client_id"], sent["client_secret"]) == ("client-1", "secret-of-client-1")


def test_a_lock_puts_no_file_back_under_a_login_that_another_command_has_finished(home, agent, provider):
    """It was taken for the end of the login."""
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    before = file.read_text()

    def log_in_and_lock():
        home.oauthctl("login", "one", "--accept-changes")
        home.oauthctl("vault", "lock")
        return "n\n"

    status, text = run_at_terminal(
        home, home.programs / "oauthctl", "login", "one", provider.url, "--replace",
        answers={"[y/N]": log_in_and_lock})
    assert status != 0 and "what was there before is in" in text, text
    assert file.read_text() != before and file.with_name("one.toml.old").read_text() == before
    assert {path.name for path in file.parent.iterdir()} == {"one.toml", "one.toml.old"}
    home.oauthctl("vault", "unlock")
    assert renew(home).status == 0


@pytest.mark.parametrize("ended", ["before the lock", "by the lock"])
def test_a_login_that_ended_while_its_command_was_stopped_keeps_its_file(home, agent, provider, ended):
    file, before, login, gate = replacing(home, provider)
    login.send_signal(signal.SIGSTOP)
    if ended == "by the lock":
        home.oauthctl("vault", "lock")
        home.oauthctl("vault", "unlock")
        gate.set()
        home.oauthctl("login", "one", "--accept-changes")
    else:
        # Longer than one waiting for the login lasts (30 s): what came meanwhile is asked for again.
        time.sleep(31)
        gate.set()
        wait_until(lambda: provider.kinds().count("authorization_code") == 2, 30, "the login")
    wait_until(lambda: provider.deleted, 30, "the former client to go")
    if ended == "before the lock":
        home.oauthctl("vault", "lock")
    login.send_signal(signal.SIGCONT)
    said = login.communicate(timeout=60)[1]
    assert "is as it was" not in said and file.read_text() != before, said
    if ended == "before the lock":
        home.oauthctl("vault", "unlock")
    assert renew(home).status == 0


def test_what_a_second_command_has_changed_under_the_first_is_kept_beside_the_file(home, agent, provider):
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    with file.open("a") as lines:
        lines.write("# mine\n")
    before = file.read_text()
    provider.hold("/authorize")
    logins = []
    for count in (2, 3):
        logins.append(start(home, "one", provider.url, "--replace", "--accept-changes"))
        wait_until(lambda: provider.kinds().count("authorize") == count, 30, "the browser")
    said = logins[0].communicate(timeout=60)[1]
    assert "what was there before is in" in said, said
    logins[1].send_signal(signal.SIGINT)
    logins[1].communicate(timeout=60)
    assert file.with_name("one.toml.old").read_text() == before
