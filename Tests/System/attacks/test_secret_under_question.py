"""A secret that is kept for one server while a question stands about another. Each test is the attack."""

import pytest

from attacks.test_late import Server
from network.accounts import endpoints, write_account
from support.terminal import run_at_terminal
from support.wire import WireError
from world.accounts import PASSWORD

SECRETS = {"client_secret": "secret-of-the-first", "password": "password-of-the-first"}


@pytest.fixture
def servers(home, agent):
    with Server("first") as first, Server("second") as second:
        yield first, second
        first.goes_on.set()
        second.goes_on.set()


def write(home, server, **keys):
    write_account(
        home, "work", **endpoints(server.url), client_authentication="client_secret_post", **keys)
    home.oauthctl("reload")


def set_secret(home, kind, value):
    home.oauthctl("secret", "set", "work", kind, stdin=value + "\n")


def log_in(home):
    set_secret(home, "client_secret", "before")
    home.oauthctl("login", "work", "--password-stdin", stdin=PASSWORD + "\n")


@pytest.mark.parametrize("restarts", [False, True], ids=["", "the agent starts anew"])
@pytest.mark.parametrize("kind", list(SECRETS))
@pytest.mark.parametrize("question", ["login", "accept"])
def test_a_secret_for_the_first_goes_to_the_first_alone(home, servers, question, kind, restarts):
    first, second = servers
    write(home, first)
    log_in(home)
    write(home, second)

    def give():
        write(home, first)
        set_secret(home, kind, SECRETS[kind])
        write(home, second)
        if restarts:
            home.agent.restart()
        return "y\n"

    command = {"login": ("login", "work"), "accept": ("account", "accept", "work")}[question]
    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", *command, answers={"[y/N]": give, "assword": PASSWORD + "\n"})
    # What was typed for the login ends with the agent.
    assert "has changed since it was shown" in shown or question == "login" and restarts and status == 4
    second.refuses = True
    second.goes_on.set()
    home.oauthctl("get-token", "work", "--force", check=False)
    assert SECRETS[kind] not in {value for form in second.seen for value in form.values()}


def test_a_login_that_is_taken_over_has_the_secrets_of_when_it_was_looked_at(home, servers):
    def write_code(server):
        write(home, server, grant="authorization_code", username=None, authorization_endpoint=server.url + "/authorize")

    first, second = servers
    home.oauthctl("vault", "create")
    write_code(first)
    set_secret(home, "client_secret", "before")
    with home.agent.connect() as wire:
        def take_over(**more):
            return wire.call("account.import", account="work", refresh_token="refresh-0", **more)

        take_over(binding_digest=take_over(dry_run=True)["binding_digest"])
        write_code(second)
        shown = take_over(dry_run=True)
        write_code(first)
        set_secret(home, "client_secret", SECRETS["client_secret"])
        write_code(second)
        with pytest.raises(WireError, match="definition_changed"):
            take_over(binding_digest=shown["binding_digest"], replaces=shown.get("login", ""))
