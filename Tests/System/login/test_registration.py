"""A client that was registered dynamically is deleted at its server with its account (RFC 7592)."""

import json
import signal
import subprocess
import threading

import pytest

from network.namespaces import isolated, needs_root, run
from login.provider import Provider, use_silent_browser
from support.accounts import account_file
from support.login import wait_until

TOKEN = "registration-token-6c1e"


class Managing(Provider):
    """Gives what deletes a client. `deletion` is its answer to that, `elsewhere` where it says that one does it."""

    def __init__(self):
        self.deletion, self.elsewhere, self.deleted = "204 No Content", None, []
        super().__init__()

    def answer(self, method, url, fields, body):
        if method == "DELETE":
            self.deleted.append((url.path, fields.get("authorization")))
            return self.deletion, {}, None
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/register":
            answer["client_id"] = f"client-{self.kinds().count('register')}"
            answer |= {
                "registration_client_uri": f"{self.elsewhere or self.issuer}/clients/{answer['client_id']}",
                "registration_access_token": TOKEN}
        return status, headers, answer


@pytest.fixture
def provider():
    with Managing() as provider:
        yield provider


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def deletion(number):
    return f"/clients/client-{number}", f"Bearer {TOKEN}"


@pytest.mark.parametrize("end", ["lock", "kill"])
def test_what_was_registered_for_a_login_that_did_not_end_is_kept_and_forgotten_as_the_account_s(
        home, agent, provider, end):
    """It was sealed without the account's name: lost after a lock or a restart, and never deleted."""
    home.oauthctl("vault", "create")
    provider.secret = True
    consent = provider.hold("/authorize")
    login = home.start(
        home.programs / "oauthctl", "login", "tool", provider.url, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: "authorize" in provider.kinds(), 30, "the browser")
    if end == "lock":
        home.oauthctl("vault", "lock")
        login.wait(30)
        home.oauthctl("vault", "unlock")
    else:
        login.kill()
        login.wait(30)
        home.agent.kill()
        home.agent.start()
    consent.set()
    shown = json.loads(home.oauthctl("account", "show", "tool", "--json").stdout)
    assert shown["secrets"] == ["client_secret"] and shown["client_registered"], shown
    home.oauthctl("account", "forget", "tool", "--yes")
    assert provider.deleted == [deletion(1)]
    assert "0 records" in home.oauthctl("vault", "check").stderr


def test_the_client_of_a_forgotten_account_is_deleted_at_its_server(home, agent, provider):
    home.oauthctl("login", "tool", provider.url)
    home.agent.restart()
    home.oauthctl("logout", "tool")
    assert provider.deleted == []
    forgotten = home.oauthctl("account", "forget", "tool", "--yes")
    assert "is deleted at its server" in forgotten.stderr + forgotten.stdout
    assert provider.deleted == [deletion(1)]
    # Nothing of it is anywhere in the clear.
    texts = [path.read_bytes() for path in home.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not any(TOKEN.encode() in text for text in texts)


def test_a_login_that_failed_leaves_no_client_behind(home, agent, provider):
    provider.refuses = True
    refused = home.oauthctl("login", "tool", provider.url, "--timeout", "5", check=False)
    assert refused.status != 0 and not account_file(home, "tool").exists()
    assert provider.deleted == [deletion(1)]


def test_an_interrupt_while_a_client_is_registered_leaves_none_behind(home, agent, provider):
    """The command ends when the server has answered, and the client is deleted there."""
    registered = provider.holds["/register"] = threading.Event()
    login = home.start(home.programs / "oauthctl", "login", "tool", provider.url, "--no-browser")
    wait_until(lambda: provider.kinds().count("register"), 20, "the registration")
    login.send_signal(signal.SIGTERM)
    assert any("This ends when the server has answered" in line for line in login.stderr)
    registered.set()
    assert login.wait(30) == 128 + signal.SIGTERM
    assert provider.deleted == [deletion(1)] and not account_file(home, "tool").exists()


@needs_root
def test_a_login_that_has_lost_its_file_is_kept_where_a_new_client_s_account_cannot_be_written(home, provider):
    def story():
        home.agent.start()
        home.oauthctl("login", "tool", provider.url)
        folder = account_file(home, "tool").parent
        run("mount", "-t", "tmpfs", "-o", "ro,mode=700", "tmpfs", folder)
        home.oauthctl("reload")
        refused = home.oauthctl("login", "tool", provider.url, check=False)
        assert refused.status != 0 and provider.kinds().count("register") == 2, refused
        run("umount", folder)
        home.oauthctl("reload")
        assert home.oauthctl("get-token", "tool", "--force").stdout.strip()
        home.agent.stop()

    isolated(story)


@needs_root
def test_a_client_whose_account_cannot_be_written_is_deleted(home, agent, provider):
    def story():
        folder = account_file(home, "tool").parent
        folder.mkdir(parents=True, exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", "ro,mode=700", "tmpfs", folder)
        refused = home.oauthctl("login", "tool", provider.url, check=False)
        assert refused.status != 0 and provider.kinds().count("register") == 1, refused
        assert provider.deleted == [deletion(1)]

    isolated(story)


def test_a_client_whose_place_another_took_is_deleted_when_that_one_is_logged_in(home, agent, provider):
    home.oauthctl("login", "tool", provider.url)
    home.oauthctl("login", "tool", provider.url, "--replace", "--accept-changes", "--scope", "read")
    wait_until(lambda: provider.deleted, 30, "the first client to be deleted")
    assert provider.deleted == [deletion(1)]
    home.oauthctl("get-token", "tool", "--force")


def test_a_deletion_that_the_server_does_not_take_is_told_and_tried_again(home, agent, provider):
    home.oauthctl("login", "tool", provider.url)
    provider.deletion = "503 Service Unavailable"
    forgotten = home.oauthctl("account", "forget", "tool", "--yes")
    assert "must still be told to delete the client" in forgotten.stderr + forgotten.stdout
    assert "status 503" in forgotten.stderr + forgotten.stdout
    provider.deletion = "204 No Content"
    # What is owed is sealed: another agent tells it.
    home.agent.restart()
    home.oauthctl("status", check=False)
    wait_until(lambda: len(provider.deleted) > 1, 60, "the deletion to be tried again")
    assert set(provider.deleted) == {deletion(1)}


def test_a_deletion_that_the_server_refuses_is_told_once(home, agent, provider):
    home.oauthctl("login", "tool", provider.url)
    provider.deletion = "405 Method Not Allowed"
    forgotten = home.oauthctl("account", "forget", "tool", "--yes")
    assert "stays at its server" in forgotten.stderr + forgotten.stdout
    assert provider.deleted == [deletion(1)]


def test_the_registration_token_goes_to_no_other_server(home, agent, provider):
    with Managing() as stranger:
        provider.elsewhere = stranger.issuer
        told = home.oauthctl("login", "tool", provider.url)
        assert "cannot be deleted at its server from here" in told.stderr + told.stdout
        assert f":{stranger.port}" in told.stderr + told.stdout
        home.oauthctl("account", "forget", "tool", "--yes")
        assert stranger.deleted == [] and provider.deleted == []


def test_a_client_that_two_accounts_are_known_by_is_deleted_with_the_second(home, agent, provider):
    home.oauthctl("login", "one", provider.url)
    account_file(home, "one").rename(account_file(home, "two"))
    home.oauthctl("login", "two")
    kept = home.oauthctl("account", "forget", "one", "--yes").stderr
    assert "two is known there by the same client" in kept and provider.deleted == []
    home.agent.restart()
    home.oauthctl("account", "forget", "two", "--yes")
    assert provider.deleted == [deletion(1)]
    assert "0 records" in home.oauthctl("vault", "check").stderr


def test_the_question_before_an_account_is_forgotten_names_what_happens_to_its_client(home, agent, provider):
    home.oauthctl("login", "tool", provider.url)
    with home.agent.connect() as wire:
        kept = wire.call("account.forget", account="tool", dry_run=True)
    assert kept["client_hosts"] == [f"127.0.0.1:{provider.port}"] and "client" not in kept and provider.deleted == []
    assert TOKEN not in json.dumps(kept)
