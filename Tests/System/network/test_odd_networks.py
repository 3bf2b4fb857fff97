"""Networks that answer in the server's place, peers that fall silent, clocks that differ: no login is lost by them."""

import email.utils
import re
import time

import pytest

from network.accounts import endpoints, log_in_by_password, write_account
from network.listeners import Portal, Relay, Silent
from support.login import get_token, live_tokens, log_in, wait_until

PORTALS = {
    "a page": dict(),
    "a page that calls itself JSON": dict(fields=["Content-Type: application/json"]),
    "a redirect": dict(status="302 Found", body="", fields=["Location: http://portal.example/login"]),
    "511": dict(status="511 Network Authentication Required"),
    "a forbidden page": dict(status="403 Forbidden"),
    "nothing": dict(status="204 No Content", body=""),
}


def fails(home, seconds=40):
    def failed():
        result = home.oauthctl("get-token", "work", check=False)
        return result.status and result

    return wait_until(failed, seconds, "a failure")


@pytest.mark.parametrize("kind", PORTALS)
def test_a_captive_portal_costs_no_login(home, agent, world, kind):
    """It answers whatever is asked, in the server's place, until somebody has clicked through."""
    server = world(access_ttl=6)
    log_in(home, server)
    token, mark = get_token(home), server.mark()
    with server.down(), Portal(port=server.port, **PORTALS[kind]) as portal:
        failed = fails(home)
        assert (failed.status, failed.stdout) == (6, ""), failed
        assert "localhost" in failed.stderr and "<h1>" not in failed.stderr, failed.stderr
        wait_until(lambda: [head for head in portal.requests if head.startswith(b"POST /token/")], 30, "a refresh")
        assert "login needed" not in home.oauthctl("status").stdout
    wait_until(lambda: home.oauthctl("get-token", "work", check=False).status == 0, 60, "a token again")
    assert get_token(home) != token and {entry["status"] for entry in server.refreshes(mark)} == {200}


@pytest.mark.parametrize("kind", PORTALS)
def test_a_login_behind_a_captive_portal_says_what_is_wrong(home, agent, kind):
    with Portal(**PORTALS[kind]) as portal:
        issuer = f"http://localhost:{portal.port}"
        result = home.oauthctl("login", "work", issuer, "--client-id", "native-app", check=False)
        assert result.status in (3, 6) and result.stdout == "", result
        assert issuer in result.stderr and "<h1>" not in result.stderr, result.stderr
        assert home.oauthctl("get-token", "work", check=False).status in (3, 4)


def test_a_server_that_accepts_and_falls_silent_costs_no_login(home, agent, world):
    """The caller has its answer by its own time-out; the refresh may have been received, so it is tried once more."""
    server = world(access_ttl=6, refresh_grace=120)
    log_in(home, server)
    token = get_token(home)
    with server.down(), Silent(port=server.port):
        time_out = ["--timeout", "2"]
        begin = time.monotonic()
        failed = wait_until(
            lambda: (it := home.oauthctl("get-token", "work", *time_out, check=False)).status and it, 40, "a failure")
        # The agent's own word: it holds the time, not the program that asked.
        assert (failed.status, failed.stdout) == (6, "") and "no token in the given time" in failed.stderr, failed
        assert time.monotonic() - begin < 40
    wait_until(lambda: home.oauthctl("get-token", "work", check=False).status == 0, 90, "a token again")
    assert get_token(home) != token


@pytest.mark.parametrize("hours", [-7, 7], ids=["behind", "ahead"])
def test_a_server_whose_clock_is_hours_off_still_gives_tokens_that_last(home, agent, world, hours):
    """Lives are counted from when they were asked for, by the clock that cannot be set; `Date` decides nothing."""
    server = world(access_ttl=6)

    def shift(data):
        """The same answer with another Date of the same length."""
        date = email.utils.formatdate(time.time() + hours * 3600, usegmt=True).encode()
        return re.sub(rb"(?i)(\r\ndate: )[^\r]{29}\r", lambda found: found[1] + date + b"\r", data)

    with Relay(("127.0.0.1", server.port), change=shift) as relay:
        write_account(home, "work", **endpoints(f"http://localhost:{relay.port}"))
        log_in_by_password(home, "work")
        with agent.connect() as wire:
            answer = wire.call("token.get", account="work")
        assert 0 < answer["expires_in_s"] <= 6 and abs(answer["expires_at"] - time.time() - answer["expires_in_s"]) < 60
        mark, began = server.mark(), time.monotonic()
        generations = len(set(live_tokens(home, server, 1.5, 4)))
        # At about three quarters of its life: not at every call. What is left of the first, and the last, do not count.
        assert time.monotonic() - began > (generations - 2) * 3 and len(server.refreshes(mark)) <= generations + 1
