"""What is revoked after a logout, or since a login was not kept: where it belongs, and no login beside it.

The server ends whatever a user has granted a client with any token of it, which RFC 7009 leaves to servers."""

import signal
import subprocess
import time

import pytest

from login.provider import use_silent_browser
from login.whole_provider import Whole
from network.namespaces import isolated, needs_root, run
from support.disk import fill
from support.login import wait_until


@pytest.fixture
def provider():
    with Whole() as provider:
        yield provider


@pytest.fixture
def account(home, agent, provider):
    use_silent_browser(home)
    home.oauthctl("login", "one", provider.issuer, "--client-id", "app")


def renews(home):
    return home.oauthctl("get-token", "one", "--force", check=False).status == 0


@pytest.mark.parametrize("ends", ["restart", "lock", "nothing"])
def test_a_logout_that_could_not_be_told_does_not_end_the_next_login(home, account, provider, ends):
    provider.busy = True
    assert "could not be told yet" in home.oauthctl("logout", "one").stderr
    again = home.oauthctl("login", "one").stderr
    assert "could not be told of an earlier logout" in again, again
    provider.busy = False
    if ends == "restart":
        home.agent.restart()
    elif ends == "lock":
        home.oauthctl("vault", "lock")
        home.oauthctl("vault", "unlock")
    assert renews(home) and renews(home) and provider.revoked == [], provider.log
    # It is told with the next logout.
    home.oauthctl("logout", "one")
    wait_until(lambda: len(provider.revoked) == 4, 30, "all to be revoked")
    assert provider.revoked[0] == "refresh-1" and "refresh-4" in provider.revoked[1:], provider.log


def log_in_as(home, provider, name):
    home.oauthctl("login", name, provider.issuer, "--client-id", "app")


@pytest.mark.parametrize("way", ["interrupt", "refusal"])
def test_a_login_that_is_not_kept_ends_no_login_of_another_account(home, account, provider, way):
    gate = provider.hold("/token")
    more = ["--scope", "openid", "--user", "somebody"] if way == "refusal" else []
    login = home.start(
        home.programs / "oauthctl", "login", "two", provider.issuer, "--client-id", "app", *more)
    wait_until(lambda: len(provider.log) == 2, 30, "the tokens")
    if way == "interrupt":
        login.send_signal(signal.SIGINT)
        login.wait(30)
    provider.holds.clear()
    gate.set()
    assert login.wait(30) != 0
    home.agent.restart()
    assert renews(home) and provider.revoked == [], provider.log
    # Then nobody is left who could lose by it.
    home.oauthctl("logout", "one")
    wait_until(lambda: "refresh-2" in provider.revoked, 60, "what was not kept to be revoked")


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_a_logout_that_could_not_be_told_does_not_end_a_later_login_of_another_account(
        home, account, provider, is_forgotten):
    provider.busy = True
    home.oauthctl("logout", "one")
    if is_forgotten:
        home.oauthctl("account", "forget", "one", "--yes")
    log_in_as(home, provider, "two")
    provider.busy = False
    home.agent.restart()
    for _ in range(2):
        assert home.oauthctl("get-token", "two", "--force", check=False).status == 0, provider.log
    assert provider.revoked == []
    home.oauthctl("logout", "two")
    wait_until(lambda: "refresh-1" in provider.revoked, 60, "the first logout to be told")


def test_a_login_that_was_given_up_does_not_end_the_next_one(home, agent, provider):
    use_silent_browser(home)
    home.oauthctl("vault", "create")
    gate = provider.hold("/token")
    words = ["login", "one", provider.issuer, "--client-id", "app"]
    first = home.start(home.programs / "oauthctl", *words)
    wait_until(lambda: len(provider.log) == 1, 30, "the tokens")
    first.send_signal(signal.SIGINT)
    first.wait(30)
    second = home.start(home.programs / "oauthctl", *words)
    wait_until(lambda: len(provider.log) == 2, 30, "the tokens of the second")
    provider.holds.clear()
    gate.set()
    assert second.wait(30) == 0, second.stderr.read()
    assert renews(home) and provider.revoked == [], provider.log


@needs_root
def test_a_login_that_a_full_disk_does_not_take_does_not_end_the_one_that_is_there(home, provider):
    def story():
        use_silent_browser(home)
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home.data)
        home.agent.start()
        log_in_as(home, provider, "one")
        filler = home.data / "filler"
        fill(filler)
        assert home.oauthctl("login", "one", check=False).status == 6
        assert provider.revoked == []
        filler.unlink()
        wait_until(lambda: renews(home), 30, "room")
        home.agent.stop()

    isolated(story)


def test_what_a_logout_could_not_tell_is_told_before_the_next_login(home, account, provider):
    provider.busy = True
    home.oauthctl("logout", "one")
    provider.busy = False
    again = home.oauthctl("login", "one").stderr
    assert "could not be told" not in again and renews(home), again
    assert provider.log[-2] == ("authorization_code", "refresh-2") and "refresh-1" in provider.revoked, provider.log


def test_a_login_waits_with_its_code_for_a_revocation_that_is_under_way(home, account, provider):
    gate = provider.hold("/revoke")
    provider.busy = True
    logout = home.start(home.programs / "oauthctl", "logout", "one")
    wait_until(lambda: "revoke" in provider.kinds(), 30, "the revocation")
    consent = provider.hold("/authorize")
    login = home.start(home.programs / "oauthctl", "login", "one")
    wait_until(lambda: provider.kinds().count("authorize") == 2, 30, "the browser")
    consent.set()
    shown = lambda: '"login_pending"' in home.oauthctl("account", "show", "one", "--json").stdout
    wait_until(shown, 10, "the login")
    assert provider.kinds().count("authorization_code") == 1
    provider.busy = False
    gate.set()
    assert login.wait(60) == 0 and renews(home), provider.log
    logout.communicate(timeout=60)


def test_a_server_that_takes_no_revocation_holds_back_no_other(home, account, provider):
    provider.busy = True
    home.oauthctl("logout", "one")
    with Whole() as other:
        home.oauthctl("login", "one", other.issuer, "--client-id", "app", "--replace", "--accept-changes")
        said = home.oauthctl("logout", "one").stderr
        assert "the server revoked the tokens" in said and len(other.revoked) == 2, said
    provider.busy = False
    home.agent.restart()
    wait_until(lambda: len(provider.revoked) == 2, 30, "the first server to be told")


def test_a_revocation_that_waits_is_told_by_the_secret_of_its_own_client(home, agent, provider):
    use_silent_browser(home)

    def log_in(client, *more):
        home.oauthctl(
            "login", "one", provider.issuer, "--client-id", client, "--client-secret-stdin", *more,
            stdin=f"secret of {client}\n")

    log_in("app")
    provider.busy = True
    home.oauthctl("logout", "one")
    log_in("other", "--replace", "--accept-changes")
    home.oauthctl("secret", "set", "one", "client_secret", stdin="secret of other\n")
    provider.busy = False
    home.agent.restart()
    wait_until(lambda: len(provider.revoked) == 2, 30, "the first client's tokens to be revoked")
    told = {(form["client_id"], form["client_secret"]) for kind, form in provider.seen if kind == "revoke"}
    assert told == {("app", "secret of app")}


@pytest.mark.parametrize("end", ["interrupt", "logout"])
@pytest.mark.parametrize("way", ["browser", "device", "password"])
def test_what_a_login_brings_that_was_given_up_is_revoked(home, agent, provider, way, end):
    use_silent_browser(home)
    home.oauthctl("vault", "create")
    gate = provider.hold("/token")
    more = {"browser": [], "device": ["--device"],
            "password": ["--grant", "password", "--username", "me", "--password-stdin"]}[way]
    login = home.start(
        home.programs / "oauthctl", "login", "one", provider.issuer, "--client-id", "app", *more, stdin=subprocess.PIPE)
    login.stdin.write("secret\n")
    login.stdin.close()
    wait_until(lambda: provider.log, 30, "the tokens")
    if end == "interrupt":
        login.send_signal(signal.SIGINT)
    else:
        home.oauthctl("logout", "one")
    login.wait(30)
    gate.set()
    wait_until(lambda: provider.revoked == ["refresh-1"], 30, "the tokens to be revoked")


def test_a_device_code_that_was_agreed_to_in_time_logs_in_whenever_the_answer_comes(home, agent, provider):
    home.oauthctl("vault", "create")
    provider.device_life = 3
    gate = provider.hold("/token")
    login = home.start(
        home.programs / "oauthctl", "login", "one", provider.issuer, "--client-id", "app", "--device")
    wait_until(lambda: provider.log, 30, "the tokens")
    # Its life ends meanwhile.
    time.sleep(provider.device_life)
    gate.set()
    assert login.wait(30) == 0, login.stderr.read()


@pytest.mark.parametrize("end", ["interrupt", "refusal"])
def test_a_login_that_is_not_kept_does_not_end_the_one_that_is_there(home, account, provider, end):
    gate = provider.hold("/token")
    arguments = ["--add-scope", "openid", "--user", "somebody", "--accept-changes"] if end == "refusal" else []
    login = home.start(home.programs / "oauthctl", "login", "one", *arguments)
    wait_until(lambda: provider.kinds().count("authorization_code") == 2, 30, "the code")
    if end == "interrupt":
        login.send_signal(signal.SIGINT)
        login.wait(30)
    provider.holds.clear()
    gate.set()
    assert login.wait(30) != 0
    assert renews(home) and renews(home) and provider.revoked == [], provider.log
    home.oauthctl("logout", "one")
    wait_until(lambda: "refresh-2" in provider.revoked, 30, "what was not kept to be revoked")
