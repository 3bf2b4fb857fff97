"""What is imported, deleted or begun with is what a person has agreed to. Each test is the attack."""

import json
import os
import threading

import pytest

from login.provider import Provider, use_silent_browser
from login.assertion_judge import Judge
from login.test_assertions import define as define_with_key
from network.identities import Authority
from support.accounts import account_file, define
from support.terminal import run_at_terminal
from support.wire import Wire

GOOD, OTHER = "good-secret-5f21", "other-secret-8c04"


class Strict(Provider):
    """Takes token requests with one client secret alone."""

    def answer(self, method, url, fields, body):
        if url.path == "/token" and f"client_secret={GOOD}" not in body:
            return "401 Unauthorized", {}, {"error": "invalid_client"}
        return super().answer(method, url, fields, body)


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


@pytest.fixture
def strict(home, agent):
    with Strict() as provider:
        take(home, provider, client_secret=GOOD, refresh_token="first")
        yield provider


def take(home, provider, *arguments, check=True, **credential):
    text = json.dumps({"client_id": "mine", "issuer": provider.issuer, **credential})
    return home.oauthctl("account", "import", "work", *arguments, stdin=text, check=check)


def test_a_refused_import_changes_no_client_secret(home, strict):
    """Nobody has said yes to the new login, and the old one needs the secret that it was made with."""
    text = json.dumps({
        "client_id": "mine", "issuer": strict.issuer, "refresh_token": "second", "client_secret": OTHER})
    refused = home.run("setsid", home.programs / "oauthctl", "account", "import", "work", stdin=text, check=False)
    assert refused.status == 64 and "--replace" in refused.stderr
    assert home.oauthctl("get-token", "work", "--force").stdout.startswith("access-")


def test_a_secret_of_a_login_that_was_given_up_takes_the_place_of_no_newer_one(home, agent):
    with Strict() as provider:
        lines = [f'issuer = "{provider.issuer}"', 'client_id = "mine"', 'grant = "client_credentials"',
                 'client_authentication = "client_secret_post"']
        define(home, "work", *lines)
        home.oauthctl("vault", "create")
        home.oauthctl("secret", "set", "work", "client_secret", stdin=GOOD + "\n")
        home.oauthctl("login", "work")
        with Wire(home.socket) as wire:
            # As `login --client-secret-stdin` gives it, for one login.
            wire.call("secret.set", account="work", kind="client_secret", value=OTHER, secrets_id="given up")
        home.oauthctl("secret", "set", "work", "client_secret", stdin=GOOD + "\n")
        home.oauthctl("login", "work")


def test_an_access_token_that_has_ended_takes_the_place_of_no_login(home, strict):
    refused = take(home, strict, "--replace", check=False, access_token="old", expires_at=1000)
    assert refused.status != 0 and "has ended" in refused.stderr
    assert home.oauthctl("get-token", "work", "--force").stdout.startswith("access-")


def test_a_refresh_token_of_another_token_endpoint_is_not_sent(home, agent):
    """The account was never logged in, so that only the server's metadata tells its token endpoint."""
    with Provider() as ours, Provider() as theirs:
        define(home, "work", f'issuer = "{ours.issuer}"', 'client_id = "mine"')
        text = json.dumps({
            "refresh_token": "of-theirs", "client_id": "mine", "token_endpoint": theirs.issuer + "/token"})
        refused = home.oauthctl("account", "import", "work", stdin=text, check=False)
        assert refused.status == 3 and "token endpoint" in refused.stderr
        assert ours.seen == [] and theirs.seen == []


def test_no_other_key_is_deleted_than_the_one_shown(home, agent):
    """While the question stands, another key takes the place of the one in it."""
    with Judge() as provider:
        define_with_key(home, provider)
        home.oauthctl("key", "create", "work")
        made = []

        def replace():
            made.append(home.oauthctl("key", "create", "work", "--replace").stdout)
            return "y\n"

        status, shown = run_at_terminal(
            home, home.programs / "oauthctl", "key", "delete", "work", answers={"[y/N]": replace})
        assert status == 3 and "Deleted" not in shown
        assert home.oauthctl("key", "show", "work").stdout == made[0]


def test_a_preset_that_is_put_there_under_its_questions_begins_no_login(home, agent):
    """The first question was the program's own preset's; then a file of that name comes before it."""
    folder = home.config / "oauthctl" / "providers.d"
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with Provider() as evil:
        def plant():
            file = folder / "keycloak.toml"
            asks = "".join(f'[ask.{name}]\ntext = "It"\nexample = "one"\n' for name in ("host", "realm"))
            file.write_text(
                f'title = "Keycloak"\n{asks}[account]\nissuer = "{evil.issuer}"\nclient_id = "evil"\n')
            file.chmod(0o600)
            return "main\n"

        status, shown = run_at_terminal(
            home, home.programs / "oauthctl", "login", "work", "--provider", "keycloak",
            answers={"Host": "sso.example.com\n", "Realm": plant})
        assert status == 3 and "has changed meanwhile" in shown
        assert evil.seen == [] and not account_file(home).exists()


def test_a_login_that_comes_under_the_question_is_not_forgotten_with_its_account(home, agent):
    """The agent did not know the account when the question was asked: its authority's file was missing."""
    authority = home.root / "authority.pem"
    home.oauthctl("vault", "create")
    with Provider() as provider:
        define(home, "work", f'issuer = "{provider.issuer}"', 'client_id = "mine"', f'ca_file = "{authority}"')

        def log_in():
            authority.write_text(Authority(home.root / "ca").file.read_text())
            home.oauthctl("reload")
            home.oauthctl("login", "work")
            return "y\n"

        status, shown = run_at_terminal(
            home, home.programs / "oauthctl", "account", "forget", "work", answers={"[y/N]": log_in})
        assert status != 0 and "Forgot" not in shown, shown
        assert home.oauthctl("get-token", "work").stdout.startswith("access-")


def test_a_login_with_another_scope_goes_by_what_its_command_has_written(home, agent):
    """Somebody adds a line as soon as the scope is there. Nobody has logged in by the account."""
    file = account_file(home)
    with Provider() as good, Provider() as evil:
        for _ in range(6):
            define(home, "work", f'issuer = "{good.issuer}"', 'client_id = "mine"', 'scope = ["read"]')
            home.oauthctl("reload")

            def add_a_line(over):
                while not over.is_set():
                    text = file.read_text()
                    if "more" in text and text.endswith("\n"):
                        file.write_text(text + f'token_endpoint = "{evil.issuer}/token"\n')
                        return

            over = threading.Event()
            thread = threading.Thread(target=add_a_line, args=[over])
            thread.start()
            told = home.oauthctl("login", "work", "--add-scope", "more", check=False)
            over.set()
            thread.join()
            assert evil.seen == [], told
            home.oauthctl("account", "forget", "work", "--yes", check=False)
            file.unlink(missing_ok=True)


def test_an_account_whose_file_cannot_be_removed_is_not_forgotten(home, agent):
    file = account_file(home)
    with Provider() as provider:
        define(home, "work", f'issuer = "{provider.issuer}"', 'client_id = "mine"')
        home.oauthctl("login", "work")
        text = file.read_text()
        file.unlink()
        file.mkdir()
        refused = home.oauthctl("account", "forget", "work", "--yes", check=False)
        assert refused.status == 3 and "is a folder" in refused.stderr and "  run: mv " in refused.stderr, refused
        file.rmdir()
        file.write_text(text)
        file.chmod(0o600)
        assert home.oauthctl("get-token", "work").stdout.startswith("access-")


def test_a_file_that_comes_under_the_question_is_not_deleted(home, agent):
    """The account's file was gone, so the question named none."""
    file = account_file(home)
    with Provider() as provider:
        define(home, "work", f'issuer = "{provider.issuer}"', 'client_id = "mine"')
        home.oauthctl("login", "work")
        text = file.read_text()
        file.unlink()
        home.oauthctl("reload")

        def write():
            file.write_text(text + "# mine\n")
            return "y\n"

        status, shown = run_at_terminal(
            home, home.programs / "oauthctl", "account", "forget", "work", answers={"[y/N]": write})
        assert status == 3 and "# mine" in file.read_text(), shown
