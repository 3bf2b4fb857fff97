"""Which server's word on the time counts, for which account, after a machine stood still."""

import contextlib
import time

import pytest

from faults.paused import METADATA, WINDOW_SECONDS, Strict, TellsTime, TimedProvider, define_at, refresh, wall
from login.test_exchange import Exchange, log_in
from support.accounts import define, edit
from support.login import wait_until
from support.wire import Wire

@pytest.mark.parametrize("skew", [0, -280])
def test_the_host_that_gives_the_tokens_tells_the_time(home, wall, skew):
    """The issuer's host has a clock of its own, as far off as is borne."""
    with TimedProvider() as issuer, Strict() as server:
        issuer.ahead = skew
        define_at(home, server, f"reuse_grace_s = {WINDOW_SECONDS}", issuer=issuer)
        home.oauthctl("login", "work")
        server.answers.clear()
        server.drops = True
        asking = refresh(home)
        wait_until(lambda: "refresh_token" in server.kinds(), 20, "a refresh")
        server.ahead, issuer.ahead = 250, skew + 250
        wall.set(250)
        home.oauthctl("get-token", "work", "--timeout", "5", check=False)
        server.answers.set()
        asking.communicate(timeout=60)
        assert server.kinds().count("refresh_token") == 1 and not server.is_dead


def test_no_issuer_tells_the_time_for_the_accounts_of_another(home, wall):
    """It names the other's token endpoint as its own, and says that no time has passed."""
    with TimedProvider() as hostile, TimedProvider() as server:
        hostile.metadata = {
            "token_endpoint": f"{server.issuer}/token", "authorization_endpoint": f"{server.issuer}/authorize"}
        server.define(home, 'scope = "read"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        first = home.oauthctl("get-token", "work").stdout
        for number in range(6):
            define(home, f"bait{number}", f'issuer = "{hostile.issuer}"', 'client_id = "mine"', 'keep = "on-demand"')
            home.oauthctl("login", f"bait{number}")
        server.ahead = 7_200
        wall.set(7_200)
        assert home.oauthctl("get-token", "work", "--timeout", "8").stdout != first


def test_no_token_is_lent_before_its_server_has_told_the_time(home, wall):
    class TimedExchange(TellsTime, Exchange):
        """The borrower's server, which tells its time at once."""

    with TimedProvider() as company:
        define(home, "company", f'issuer = "{company.issuer}"', 'client_id = "mine"')
        home.oauthctl("login", "company")
        with TimedExchange(company) as server:
            edit(home, "company", hosts=f'["{company.issuer}", "{server.issuer}"]')
            home.oauthctl("account", "accept", "company", "--yes")
            log_in(home, server)
            home.oauthctl("get-token", "api")
            told = company.hold(METADATA)
            before = len(server.seen)
            company.ahead = server.ahead = 7_200
            wall.set(7_200)
            home.oauthctl("get-token", "api", "--timeout", "3", check=False)
            assert server.seen[before:] == []
            told.set()
            # By then it is a new one that is lent: the server takes no other.
            wait_until(lambda: home.oauthctl("get-token", "api", check=False).status == 0, 20, "a token is lent")
            assert "refused" not in [kind for kind, _ in server.seen[before:]]


def test_no_check_of_a_server_in_trouble_goes_round_the_question_for_its_time(home, wall):
    """So many refreshes had no answer that it is tried without a secret, and that is under way when the machine stands
    still. Its wall clock comes back ten minutes behind."""
    class Troubled(TimedProvider):
        drops, found = False, 0

        def answer(self, method, url, fields, body):
            answered = super().answer(method, url, fields, body)
            self.found += url.path == METADATA
            if self.drops and "grant_type=refresh_token" in body:
                raise OSError("no answer")
            return answered

    with Troubled() as server:
        names = [f"a{number}" for number in range(7)]
        for name in names:
            define_at(home, server, "reuse_grace_s = 120", name=name)
            home.oauthctl("login", name)
        server.drops, tried, found = True, server.hold(METADATA), server.found
        callers = [refresh(home, name, 40) for name in names]
        wait_until(lambda: server.found == found + 1, 40, "the server is tried")
        told, server.drops = server.hold(METADATA), False
        sent = server.kinds().count("refresh_token")
        server.ahead = 7_200
        wall.set(-600)
        home.oauthctl("get-token", names[5], "--timeout", "1", check=False)
        wait_until(lambda: server.found == found + 2, 4, "the server is asked for the time")
        tried.set()
        # A refresh would follow at once.
        time.sleep(2)
        assert server.kinds().count("refresh_token") == sent
        told.set()
        for caller in callers:
            caller.communicate(timeout=60)


def test_silent_servers_keep_no_other_from_being_asked_for_the_time(home, wall):
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(TimedProvider()) for _ in range(20)]
        server = stack.enter_context(TimedProvider())
        for number, one in enumerate(silent):
            define_at(home, one, name=f"silent{number}")
            home.oauthctl("login", f"silent{number}")
        define_at(home, server)
        home.oauthctl("login", "work")
        first = home.oauthctl("get-token", "work").stdout
        held = [one.hold(METADATA) for one in silent]
        server.ahead = 7_200
        wall.set(7_200)
        assert home.oauthctl("get-token", "work", "--timeout", "4").stdout != first
        for event in held:
            event.set()


def test_an_imported_token_is_not_given_after_its_end(home, wall):
    """Nothing was known of its server's time."""
    with TimedProvider() as server:
        define_at(home, server)
        with Wire(home.socket) as wire:
            wire.call("account.import", account="work", refresh_token="refresh-0", access_token="imported",
                      expires_at=int(time.time()) + 3_600)
        assert home.oauthctl("get-token", "work").stdout == "imported\n"
        server.ahead = 7_200
        wall.set(7_200)
        assert home.oauthctl("get-token", "work").stdout == "access-1\n"
