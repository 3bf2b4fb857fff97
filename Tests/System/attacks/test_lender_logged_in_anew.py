"""A lender that is logged in anew, as somebody else, while an account's login is made of its token."""

import contextlib
import threading
import time

import pytest

from attacks.test_lending import Remembers, unsigned
from login.provider import Provider, use_silent_browser
from login.test_exchange import borrow, log_in
from support.accounts import define, edit
from support.dev_server import consenting
from support.login import wait_until
from support.terminal import run_at_terminal


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def test_a_lender_that_is_logged_in_anew_while_its_token_is_on_its_way_is_not_the_one_that_was_agreed_to(
        home, agent):
    """Nobody has said who it was before; now it is bob's."""
    with consenting(home) as server, Remembers() as exchange:
        home.oauthctl("login", "company", server.issuer, "--client-id", "dev", "--scope", "read")
        edit(home, "company", hosts=f'["{server.issuer}", "{exchange.issuer}"]',
             scope='["openid", "profile", "read"]')
        home.oauthctl("account", "accept", "company", "--yes")
        borrow(home, exchange)
        gate = exchange.hold("/token")
        login = home.start(home.programs / "oauthctl", "login", "api", "--accept-changes")
        wait_until(lambda: exchange.got_with, 30, "the exchange")
        server.script(users=["bob"])
        home.oauthctl("login", "company")
        gate.set()
        refused = login.communicate(timeout=60)[1]
        assert login.returncode != 0 and "nothing of this one is kept" in refused, refused
        for words in ([], ["--force"]):
            assert home.oauthctl("get-token", "api", *words, check=False).status != 0
        assert len(exchange.got_with) == 1


class People(Provider):
    """Logs in alice, of whom it says nothing; then bob, whom it names. Refreshes wait for `gate`, and are cut off."""

    def __init__(self):
        self.user, self.gate, self.life = "alice", None, 3600
        super().__init__()

    def serve(self, connection):
        with contextlib.suppress(ConnectionAbortedError):
            super().serve(connection)

    def answer(self, method, url, fields, body):
        if url.path == "/token" and self.gate and "grant_type=refresh_token" in body:
            self.seen.append(("refresh_token", {}))
            self.gate.wait(50)
            raise ConnectionAbortedError
        answer = super().answer(method, url, fields, body)
        if url.path == "/token":
            answer[2]["expires_in"] = self.life
            if self.user == "bob":
                now = int(time.time())
                answer[2]["id_token"] = unsigned({
                    "iss": self.issuer, "sub": "bob", "aud": "mine", "iat": now, "exp": now + 600,
                    "nonce": self.form("authorize").get("nonce")})
        return answer

    def log_in_alice(self, home, exchange):
        home.oauthctl("vault", "create")
        define(home, "company", f'issuer = "{self.issuer}"', 'client_id = "mine"', 'scope = ["openid"]',
               'keep = "on-demand"', f'hosts = ["{self.issuer}", "{exchange.issuer}"]')
        home.oauthctl("login", "company")

    def begin_bob(self, home):
        """A login as bob, whose code is at the server."""
        self.user, self.life = "bob", 3600
        login = home.start(home.programs / "oauthctl", "login", "company")
        wait_until(lambda: self.kinds().count("authorization_code") == 2, 30, "the code")
        return login


def test_a_login_of_the_lender_that_was_under_way_is_not_the_one_that_was_agreed_to(home, agent):
    with People() as company, Remembers() as exchange:
        company.log_in_alice(home, exchange)
        gate = company.hold("/token")
        login = company.begin_bob(home)
        log_in(home, exchange)
        gate.set()
        assert login.wait(60) == 0, login.stderr.read()
        refused = home.oauthctl("get-token", "api", "--force", check=False)
        assert refused.status == 3 and "bob is logged in there now" in refused.stderr, refused
        assert len(exchange.got_with) == 1


def test_a_login_that_waits_for_its_lender_is_not_made_of_another_login_of_that(home, agent):
    with People() as company, Remembers() as exchange:
        company.life = 1
        company.log_in_alice(home, exchange)
        company.gate = threading.Event()
        borrow(home, exchange)

        # Its token lasts one second, and the lender refreshes then.
        time.sleep(1)
        asks = home.start(home.programs / "oauthctl", "get-token", "company")
        wait_until(lambda: "refresh_token" in company.kinds(), 30, "the lender's refresh")
        borrower = home.start(home.programs / "oauthctl", "login", "api", "--accept-changes")
        wait_until(
            lambda: '"login_pending"' in home.oauthctl("account", "show", "api", "--json").stdout, 30, "it waits")
        login = company.begin_bob(home)
        company.gate.set()
        assert login.wait(60) == 0, login.stderr.read()
        refused = borrower.communicate(timeout=60)[1]
        assert borrower.returncode != 0 and "nothing of this one is kept" in refused, refused
        assert exchange.got_with == {}
        asks.communicate(timeout=60)


@pytest.mark.parametrize("asked", ["login", "accept"])
def test_a_yes_to_a_lender_is_none_to_another_login_of_it(home, agent, asked):
    """Neither server has said whose it is, so that both look alike."""
    with People() as people, Remembers() as exchange:
        people.log_in_alice(home, exchange)
        if asked == "accept":
            define(home, "firm", f'issuer = "{people.issuer}"', 'client_id = "mine"',
                   f'hosts = ["{people.issuer}", "{exchange.issuer}"]')
            home.oauthctl("login", "firm")
        borrow(home, exchange)
        if asked == "accept":
            home.oauthctl("login", "api", "--accept-changes")
            edit(home, "api", subject_account='"firm"')
        lender = "firm" if asked == "accept" else "company"

        def answer():
            home.oauthctl("login", lender)
            return "y\n"

        words = ["login", "api"] if asked == "login" else ["account", "accept", "api"]
        status, shown = run_at_terminal(
            home, home.programs / "oauthctl", *words, answers={"[y/N]": answer}, seconds=60)
        assert status != 0 and "changed since it was shown" in shown, shown
        assert len(exchange.got_with) == (asked == "accept")
