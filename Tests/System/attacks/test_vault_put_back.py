"""The newest vault, put back over an older one that the running agent has open, while something is under way."""

import contextlib
import socket
import threading

import pytest

from attacks.test_vault_put_over import define_anew, end_and_open, newest_and_older, put_over
from login.provider import Provider, use_silent_browser
from login.whole_provider import Whole
from refresh.test_cut_answers import Kept
from support import ports
from support.accounts import account_file, edit
from support.login import wait_until
from support.unattended import refresh
from support.vault import made_vault, status, vault_command

ENDS = ["stop", "kill", "lock"]


class Losing(Provider):
    """While it `loses`, it sends no answers."""

    loses = False

    def serve(self, connection):
        super().serve(Kept(connection) if self.loses else connection)


@pytest.fixture
def provider(home):
    use_silent_browser(home)
    with Losing() as provider:
        home.agent.start()
        made_vault(home)
        provider.define(home, 'scope = "read"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        yield provider


@pytest.mark.parametrize("end", ENDS)
def test_two_vaults_that_are_put_over_during_one_refresh_lose_no_login(home, provider, end):
    """The second has the record of the first, and a login that is newer than that of the agent."""
    older, newest, present = (home.root / name for name in ("older", "newest", "present"))
    vault_command(home, "backup", older)
    log_in_anew(home, True)
    vault_command(home, "backup", present)
    for copy, saved in ((older, newest), (present, None)):
        home.agent.stop()
        put_over(home, copy)
        home.agent.start()
        vault_command(home, "accept-rollback", "--yes", check=False)
        if saved:
            home.oauthctl("login", "work")
            vault_command(home, "backup", saved)
    newest_token = provider.tokens
    held = Held(home, provider)
    for copy in (older, newest):
        put_over(home, copy)
        vault_command(home, "status")
    held.end()
    end_and_open(home, end)
    refresh_sends_newest(home, provider, newest_token)


def log_in_anew(home, is_other_record):
    if is_other_record:
        define_anew(home)
    home.oauthctl("login", "work")


def is_sent_once(home):
    """The account becomes one whose refresh token is sent once, whatever becomes of that."""
    with account_file(home).open("a") as file:
        file.write('ambiguous_retry = "never"\n')
    home.oauthctl("login", "work", "--accept-changes")


def lose_an_answer(home, provider):
    provider.loses = True
    assert refresh(home).status != 0
    provider.loses = False


def refresh_sends_newest(home, provider, newest_token):
    vault_command(home, "accept-rollback", "--yes", check=False)
    assert refresh(home).status == 0
    assert provider.form("refresh_token")["refresh_token"] == f"refresh-{newest_token}"


@contextlib.contextmanager
def refusing(provider):
    """Nothing listens on its port."""
    with contextlib.suppress(OSError):
        provider.socket.shutdown(socket.SHUT_RDWR)
    provider.socket.close()
    yield
    provider.socket = ports.listening("127.0.0.1", provider.port)
    threading.Thread(target=provider.accept, daemon=True).start()


class Held:
    """A forced refresh whose request the server holds."""

    def __init__(self, home, provider):
        go_on, self.told = provider.hold("/token"), []
        thread = threading.Thread(target=lambda: self.told.append(refresh(home)))
        thread.start()
        wait_until(lambda: "refresh_token" in provider.kinds(), 20, "it is sent")
        self.end = lambda: (go_on.set(), thread.join())


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("is_other_record", [False, True], ids=["one record", "another record"])
def test_a_refresh_under_way_does_not_bring_an_older_login_back(home, provider, end, is_other_record):
    newest = newest_and_older(home, lambda: log_in_anew(home, is_other_record))
    newest_token = provider.tokens
    provider.refuses = "503 Service Unavailable"
    held = Held(home, provider)
    put_over(home, newest)
    vault_command(home, "status")
    held.end()
    provider.refuses = False
    end_and_open(home, end)
    refresh_sends_newest(home, provider, newest_token)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("is_other_record", [False, True], ids=["one record", "another record"])
def test_a_refresh_that_is_the_first_to_meet_it_writes_nothing_older(home, provider, end, is_other_record):
    newest = newest_and_older(home, lambda: log_in_anew(home, is_other_record))
    newest_token = provider.tokens
    put_over(home, newest)
    assert refresh(home).status != 0
    end_and_open(home, end)
    refresh_sends_newest(home, provider, newest_token)


@pytest.mark.parametrize("end", ENDS)
def test_a_token_of_an_older_login_that_is_the_first_to_meet_it_does_not_bring_that_login_back(home, provider, end):
    newest = newest_and_older(home, lambda: log_in_anew(home, False))
    newest_token = provider.tokens
    held = Held(home, provider)
    put_over(home, newest)
    held.end()
    end_and_open(home, end)
    refresh_sends_newest(home, provider, newest_token)


def test_a_rollback_that_is_accepted_while_a_refresh_is_under_way_is_accepted(home, provider):
    newest = newest_and_older(home, lambda: log_in_anew(home, False))
    provider.refuses = "503 Service Unavailable"
    held = Held(home, provider)
    put_over(home, newest)
    assert status(home)["rolled_back"]
    vault_command(home, "accept-rollback", "--yes")
    held.end()
    provider.refuses = False
    wait_until(lambda: refresh(home).status == 0, 20, "it is refreshed")


@pytest.mark.parametrize("older", ["held", "accepted"])
@pytest.mark.parametrize("met_by", ["status", "a refresh"])
def test_a_refresh_token_that_was_sent_once_for_all_is_not_sent_again(home, provider, older, met_by):
    is_sent_once(home)
    newest = newest_and_older(home, lambda: lose_an_answer(home, provider), older)
    put_over(home, newest)
    if met_by == "status":
        vault_command(home, "status")
    vault_command(home, "accept-rollback", "--yes", check=False)
    assert refresh(home).status != 0
    assert provider.kinds().count("refresh_token") == 1


@pytest.mark.parametrize("logs_in", [True, False])
def test_a_logout_that_it_has_still_to_tell_is_told(home, agent, logs_in):
    use_silent_browser(home)
    with Whole() as provider:
        home.oauthctl("login", "work", provider.issuer, "--client-id", "app")

        def log_out():
            home.oauthctl("get-token", "work", "--force")
            provider.busy = True
            home.oauthctl("logout", "work")

        newest = newest_and_older(home, log_out)
        if logs_in:
            home.oauthctl("login", "work")
        put_over(home, newest)
        vault_command(home, "accept-rollback", "--yes", check=False)
        provider.busy = False
        home.agent.restart()
        if logs_in:
            home.oauthctl("logout", "work")
        wait_until(lambda: "refresh-2" in provider.revoked, 20, "the server is told")


def test_an_older_vault_that_nobody_accepts_tells_no_logout(home, agent):
    """The newer one has a login that this would end."""
    use_silent_browser(home)
    with Whole() as provider:
        home.oauthctl("login", "work", provider.issuer, "--client-id", "app")
        provider.busy = True
        home.oauthctl("logout", "work")
        newest = newest_and_older(home, lambda: home.oauthctl("login", "work"), "held")
        provider.busy = False
        vault_command(home, "status")
        home.agent.restart()
        put_over(home, newest)
        vault_command(home, "status")
        home.oauthctl("get-token", "work", "--force")


@pytest.mark.parametrize("change", ["secret set", "account accept", "logout"])
def test_a_change_that_is_the_first_to_meet_it_is_made_in_what_counts(home, provider, change):
    newest = newest_and_older(home, lambda: home.oauthctl("login", "work"))
    newest_token = provider.tokens
    if change == "account accept":
        edit(home, "work", hosts=f'["{provider.issuer}", "https://other.example"]')
    put_over(home, newest)
    if change == "secret set":
        with home.agent.connect() as wire:
            wire.call("secret.set", account="work", kind="client_secret", value="a-secret")
    else:
        home.oauthctl(*change.split(), "work", *(["--yes"] if change == "account accept" else []), check=False)
    if change == "logout":
        assert provider.form("revoke")["token"] in (f"refresh-{newest_token}", f"access-{newest_token}")
    else:
        end_and_open(home, "kill")
        vault_command(home, "accept-rollback", "--yes", check=False)
        home.oauthctl("account", "accept", "work", "--yes", check=False)
        refresh_sends_newest(home, provider, newest_token)


def test_a_sending_that_it_alone_knows_of_counts_where_the_agent_has_sent_nothing_since(home, provider):
    is_sent_once(home)
    newest = newest_and_older(home, lambda: lose_an_answer(home, provider))
    with refusing(provider):
        assert refresh(home).status != 0
    put_over(home, newest)
    vault_command(home, "accept-rollback", "--yes", check=False)
    assert refresh(home).status != 0
    assert provider.kinds().count("refresh_token") == 1
