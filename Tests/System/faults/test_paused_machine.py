"""A machine that stands still, as a paused virtual machine does."""

import pytest

from crowd.wall import Wall
from faults.paused import WINDOW_SECONDS, Strict
from login.provider import use_silent_browser
from support.login import wait_until


@pytest.fixture
def paused(home):
    """The server, an agent that is logged in there, and what lets time pass that the machine does not see."""
    wall = Wall(home.root)
    use_silent_browser(home)
    with Strict() as server:
        home.agent.start(environment=wall.environment)
        home.oauthctl("vault", "create")
        server.define(home, 'scope = "read"', 'keep = "on-demand"', f"reuse_grace_s = {WINDOW_SECONDS}")
        home.oauthctl("login", "work")

        def stand_still(seconds, behind=0):
            server.ahead = seconds
            wall.set(-behind if behind else seconds)

        yield server, stand_still, wall
        server.answers.set()
        home.agent.stop()


def test_no_refresh_token_is_sent_again_after_its_window_where_nothing_was_known_of_its_server_s_time(home, paused):
    """The agent has heard nothing of that in its life, and a connection ends in the pause."""
    server, stand_still, wall = paused
    home.agent.stop()
    home.agent.start(environment=wall.environment)
    home.environment["OAUTHCTL_SOCKET"] = str(home.socket)
    server.drops = True
    server.answers.clear()
    asking = home.start(home.programs / "oauthctl", "get-token", "work", "--force", "--timeout", "10")
    wait_until(lambda: "refresh_token" in server.kinds(), 20, "a refresh")
    stand_still(1_200)
    # The server tells the time.
    home.oauthctl("get-token", "work", "--timeout", "5", check=False)
    server.answers.set()
    asking.communicate(timeout=60)
    assert server.kinds().count("refresh_token") == 1 and not server.is_dead


@pytest.mark.parametrize("seconds", [20, 7_200])
def test_no_refresh_token_is_sent_again_after_its_window_where_the_machine_stood_still(home, paused, seconds):
    server, stand_still, _ = paused
    server.answers.clear()
    asking = home.start(home.programs / "oauthctl", "get-token", "work", "--force", "--timeout", "10")
    wait_until(lambda: "refresh_token" in server.kinds(), 20, "a refresh")
    stand_still(seconds)
    asking.communicate(timeout=60)
    assert server.kinds().count("refresh_token") == 1 and not server.is_dead
    server.answers.set()
    # It is dated of before: what it brought lives on where that has not ended since.
    wait_until(
        lambda: home.oauthctl("get-token", "work", check=False).stdout == f"access-{server.tokens}\n", 30,
        "the answer is kept")
    assert server.tokens == (2 if seconds < 3_600 else 3) and not server.is_dead


@pytest.mark.parametrize("how", ["while it runs", "killed"])
def test_no_refresh_token_is_sent_again_before_its_server_has_told_how_long_the_machine_stood_still(home, paused, how):
    """Its wall clock comes back ten minutes behind."""
    server, stand_still, wall = paused
    server.answers.clear()
    home.environment["OAUTHCTL_SOCKET"] = str(home.socket)
    asking = home.start(home.programs / "oauthctl", "get-token", "work", "--force", "--timeout", "10")
    wait_until(lambda: "refresh_token" in server.kinds(), 20, "a refresh")
    if how == "while it runs":
        stand_still(7_200, behind=600)
        asking.communicate(timeout=60)
        assert server.kinds().count("refresh_token") == 1
        server.answers.set()
        wait_until(lambda: home.oauthctl("get-token", "work", check=False).status == 0, 30, "the answer is kept")
        assert not server.is_dead
        return
    home.agent.kill()
    asking.communicate(timeout=60)
    stand_still(7_200, behind=600)
    told = server.hold("/.well-known/openid-configuration")
    home.agent.start(environment=wall.environment)
    refused = home.oauthctl("get-token", "work", "--timeout", "2", check=False)
    assert "has not told the time yet" in refused.stderr and server.kinds().count("refresh_token") == 1, refused
    told.set()


@pytest.mark.parametrize("how", ["while it runs", "between two agents", "killed", "locked"])
def test_no_dead_token_is_given_after_the_machine_stood_still(home, paused, how):
    server, stand_still, wall = paused
    first = home.oauthctl("get-token", "work").stdout
    if how == "killed":
        home.agent.kill()
    elif how == "between two agents":
        home.agent.stop()
    elif how == "locked":
        home.oauthctl("vault", "lock")
    stand_still(7_200)
    if how == "locked":
        home.oauthctl("vault", "unlock")
    elif how != "while it runs":
        home.agent.start(environment=wall.environment)
    assert home.oauthctl("get-token", "work").stdout != first
    assert server.kinds().count("refresh_token") == 1
