"""Revocations that wait, beside logins without a refresh token, logins under way, and in crowds.

The server ends whatever a user has granted a client with any token of it, which RFC 7009 leaves to servers."""

import signal
import threading
import time

import pytest

from login.provider import use_silent_browser
from login.whole_provider import Whole
from network.accounts import endpoints, log_in_by_password, write_account
from support.login import wait_until


class Bare(Whole):
    """While `bare` it gives tokens that last 5 s, and nothing to renew them with."""

    bare = False

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/token" and self.bare:
            answer = {name: value for name, value in answer.items() if name != "refresh_token"} | {"expires_in": 5}
        return status, headers, answer


@pytest.mark.parametrize("restart", [False, True])
def test_a_login_without_refresh_token_holds_a_revocation_until_its_token_ends(home, agent, restart):
    use_silent_browser(home)
    with Bare() as provider:
        home.oauthctl("login", "one", provider.issuer, "--client-id", "app")
        provider.busy = True
        home.oauthctl("logout", "one")
        provider.bare = True
        home.oauthctl("login", "two", provider.issuer, "--client-id", "app")
        ends = time.monotonic() + 5
        provider.busy = False
        if restart:
            home.agent.restart()
        wait_until(lambda: "refresh-1" in provider.revoked, 90, "the first logout to be told")
        assert time.monotonic() >= ends - 1


class Quiet(Whole):
    """Its revocations are never answered."""

    def __init__(self):
        self.over, self.asked = threading.Event(), 0
        super().__init__()

    def answer(self, method, url, fields, body):
        if url.path == "/revoke":
            self.asked += 1
            self.over.wait(120)
        return super().answer(method, url, fields, body)

    def __exit__(self, *error):
        self.over.set()
        return super().__exit__(*error)


def test_logouts_that_a_server_does_not_answer_take_no_place_of_its_logins(home, agent):
    with Quiet() as provider:
        names = [f"a{number:02}" for number in range(60)]
        keys = {
            **endpoints(provider.issuer), "token_endpoint": provider.issuer + "/token",
            "revocation_endpoint": provider.issuer + "/revoke", "client_id": "app"}
        for name in names:
            write_account(home, name, **keys)
        write_account(home, "last", **keys | {"client_id": "other"})
        for name in names:
            log_in_by_password(home, name)
        logouts = [home.start(home.programs / "oauthctl", "logout", name) for name in names]
        wait_until(lambda: provider.asked == 16, 30, "the places of revocations to be taken")
        log_in_by_password(home, "last")
        # All of them are still silent.
        assert provider.asked == 16 and provider.log[-1][0] == "password", provider.log[-2:]
        assert home.oauthctl("get-token", "last", "--force").status == 0
        for logout in logouts:
            logout.communicate(timeout=60)


class Slow(Whole):
    """Its refreshes wait for `gate`."""

    gate = None

    def answer(self, method, url, fields, body):
        if url.path == "/token" and "grant_type=refresh_token" in body and self.gate:
            self.log.append(("asked", None))
            self.gate.wait(50)
        return super().answer(method, url, fields, body)


def test_a_logout_while_a_login_of_another_account_waits_to_be_kept_does_not_end_it(home, agent):
    use_silent_browser(home)
    with Slow() as provider:
        for name in "one", "two":
            home.oauthctl("login", name, provider.issuer, "--client-id", "app")
        provider.gate = threading.Event()
        refresh = home.start(home.programs / "oauthctl", "get-token", "two", "--force")
        wait_until(lambda: ("asked", None) in provider.log, 30, "the refresh")
        login = home.start(home.programs / "oauthctl", "login", "two")
        wait_until(lambda: [kind for kind, _ in provider.log].count("authorization_code") == 3, 30, "the code")
        # The login stands behind the refresh.
        assert "could not be told yet" in home.oauthctl("logout", "one").stderr and login.poll() is None
        provider.gate.set()
        provider.gate = None
        assert login.wait(60) == 0, login.stderr.read()
        refresh.communicate(timeout=60)
        home.agent.restart()
        assert home.oauthctl("get-token", "two", "--force", check=False).status == 0, provider.log
        assert provider.revoked == []
        home.oauthctl("logout", "two")
        wait_until(lambda: "refresh-1" in provider.revoked, 60, "the first logout to be told")


@pytest.mark.parametrize("third", [False, True])
def test_a_logout_beside_a_login_that_is_given_up_is_told_when_that_has_ended(home, agent, third):
    use_silent_browser(home)
    with Whole() as provider:
        for name in ["one", "three"][:1 + third]:
            home.oauthctl("login", name, provider.issuer, "--client-id", "app")
        provider.hold("/authorize")
        login = home.start(home.programs / "oauthctl", "login", "two", provider.issuer, "--client-id", "app")
        wait_until(lambda: '"login_pending"' in home.oauthctl("account", "show", "two", "--json", check=False).stdout,
                   30, "the login")
        assert "could not be told yet" in home.oauthctl("logout", "one").stderr and provider.revoked == []
        login.send_signal(signal.SIGINT)
        login.wait(30)
        wait_until(lambda: "refresh-1" in provider.revoked, 60, "the logout to be told")
