"""Answers of before a machine stood still that come, or are kept, only afterwards; and dates that are wrong."""

import contextlib
import threading

import pytest

from faults.paused import METADATA, TimedProvider, date_after, define_at, refresh, wall
from faults.test_paused_requests import OpenID
from login.provider import use_silent_browser
from support.login import wait_until
from support.terminal import run_at_terminal


class Buffered(TimedProvider):
    """What it answers to `grant` is dated at once, and is on its way until `goes` is set."""

    def __init__(self, grant, life=3_600):
        self.grant, self.life, self.goes, self.holds_back = grant, life, threading.Event(), False
        super().__init__()

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/token":
            answer["expires_in"] = self.life
            if self.holds_back and f"grant_type={self.grant}" in body:
                self.holds_back = False
                self.goes.wait(60)
        return status, headers, answer


def refresh_under_way(home, server):
    """A caller that waits for a refresh whose answer is on its way."""
    server.define(home, 'scope = "read"', 'keep = "on-demand"')
    home.oauthctl("login", "work")
    server.holds_back = True
    asking = refresh(home, seconds=40)
    wait_until(lambda: "refresh_token" in server.kinds(), 20, "a refresh")
    return asking


def test_a_refresh_of_before_the_pause_brings_no_dead_token(home, wall):
    """It is read after the server has told the time."""
    with Buffered("refresh_token") as server:
        asking = refresh_under_way(home, server)
        server.ahead = 7_200
        wall.set(7_200)
        home.oauthctl("get-token", "work", "--timeout", "2", check=False)
        wait_until(lambda: "stood still" in home.agent.log.read_text(), 20, "the server tells")
        server.goes.set()
        assert asking.communicate(timeout=60)[0] != "access-2\n"
        assert home.oauthctl("get-token", "work").stdout != "access-2\n"


def test_whoever_waits_for_a_refresh_over_the_pause_gets_no_dead_token(home, wall):
    """The answer is there at once, before the server is asked."""
    with Buffered("refresh_token", life=300) as server:
        asking = refresh_under_way(home, server)
        server.ahead = 600
        wall.set(600)
        server.goes.set()
        assert asking.communicate(timeout=60)[0] == "access-3\n"


@pytest.mark.parametrize("is_told", [False, True], ids=["nobody asks before", "the server has told"])
def test_a_login_of_before_the_pause_keeps_no_dead_token(home, wall, is_told):
    with Buffered("authorization_code") as server:
        server.define(home, 'scope = "read"', 'keep = "on-demand"')
        define_at(home, server, name="other")
        home.oauthctl("login", "other")
        server.holds_back = True
        login = home.start(home.programs / "oauthctl", "login", "work")
        wait_until(lambda: server.kinds().count("authorization_code") == 2, 20, "a code")
        server.ahead = 7_200
        wall.set(7_200)
        if is_told:
            home.oauthctl("get-token", "other")
        server.goes.set()
        login.communicate(timeout=60)
        assert login.returncode == 0 and home.oauthctl("get-token", "work").stdout != "access-2\n"


def test_a_login_that_waits_for_a_person_s_yes_over_the_pause_keeps_no_dead_token(home, wall):
    with OpenID() as server:
        server.define(home, 'scope = "openid"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        server.subject = "bob"

        def agree():
            server.ahead = 7_200
            wall.set(7_200)
            home.oauthctl("get-token", "work")
            return "yes\n"

        run_at_terminal(home, home.programs / "oauthctl", "login", "work", answers={"bob": agree}, seconds=40)
        bobs = server.tokens
        assert home.oauthctl("get-token", "work").stdout not in (f"access-{bobs}\n", "access-2\n")


def test_every_server_is_asked_after_every_pause(home, wall):
    """Twelve, all of which answer at once, and everybody asks for every token."""
    use_silent_browser(home)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(TimedProvider()) for _ in range(12)]
        names = [f"a{number}" for number in range(12)]
        for name, server in zip(names, servers):
            define_at(home, server, name=name)
            home.oauthctl("login", name)
        for number in range(1, 6):
            given = {name: home.oauthctl("get-token", name).stdout for name in names}
            for server in servers:
                server.ahead = 7_200 * number
            wall.set(7_200 * number)
            asking = {name: home.start(home.programs / "oauthctl", "get-token", name, "--timeout", "20")
                      for name in names}
            for name, one in asking.items():
                assert one.communicate(timeout=40)[0] not in (given[name], ""), (number, name)


@pytest.mark.parametrize("headers", [{"Age": "4000"}, {"Date": 86_400}], ids=["of a cache", "of a wrong node"])
def test_no_date_of_a_server_makes_a_token_older_while_the_wall_clock_stands(home, wall, headers):
    """There is no refresh token, so that the login would be over."""
    class Odd(TimedProvider):
        is_odd = False

        def answer(self, method, url, fields, body):
            status, sent, answer = super().answer(method, url, fields, body)
            if url.path == "/token":
                answer.pop("refresh_token")
            if self.is_odd:
                sent |= {name: date_after(value) if name == "Date" else value for name, value in headers.items()}
            return status, sent, answer

    with Odd() as server:
        server.define(home, 'scope = "read"')
        define_at(home, server, name="other")
        home.oauthctl("login", "work")
        server.is_odd = True
        home.oauthctl("login", "other")
        assert home.oauthctl("get-token", "work").stdout == "access-1\n"


def test_no_caller_over_the_pause_is_told_that_tokens_live_no_longer(home, wall):
    """The answer is dated of before; the callers want a new one, and one that came later any."""
    with TimedProvider() as server:
        define_at(home, server)
        home.oauthctl("login", "work")
        held = server.hold("/token")
        asking = [refresh(home, seconds=20) for _ in range(2)]
        wait_until(lambda: "refresh_token" in server.kinds(), 20, "a refresh")
        server.ahead = 7_200
        wall.set(7_200)
        asking.append(home.start(home.programs / "oauthctl", "get-token", "work", "--timeout", "20"))
        wait_until(lambda: "stood still" in home.agent.log.read_text(), 20, "the server tells")
        held.set()
        given = [one.communicate(timeout=60) for one in asking]
        assert [out for out, _ in given] == ["access-3\n"] * 3, given


def test_a_server_that_tells_no_time_and_dates_its_answers_back_is_not_asked_without_pause(home, wall):
    """The wall clock was set once; the question for the time stays unanswered."""
    with TimedProvider() as server:
        define_at(home, server)
        home.oauthctl("login", "work")
        server.hold(METADATA)
        wall.set(120)
        home.oauthctl("get-token", "work")
        server.ahead = -8_000
        home.oauthctl("get-token", "work", "--force", "--timeout", "10")
        assert server.kinds().count("refresh_token") == 1
