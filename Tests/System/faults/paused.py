"""Servers that tell their time, for machines that stand still.

The boot clock of such a machine does not know, and its wall clock is set right after.
"""

import email.utils
import threading
import time

import pytest

from crowd.wall import Wall
from login.provider import Provider, use_silent_browser
from support.accounts import define

WINDOW_SECONDS = 6
# What a server is asked for the time by; "not found" has a date, too.
METADATA = "/.well-known/openid-configuration"


def date_after(seconds):
    """The `Date` of an answer that is given so many seconds after this machine's time."""
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


class TellsTime:
    """What it answers is dated `ahead` seconds after this machine's time."""

    ahead = 0

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        return status, {**headers, "Date": date_after(self.ahead)}, answer


class TimedProvider(TellsTime, Provider):
    """Takes every refresh token, as often as it comes."""


class Strict(TimedProvider):
    """It takes a refresh token once, and again within its window. After that it ends the login.

    The first answer to a refresh is held until `answers` is set.
    """

    def __init__(self):
        self.first_uses, self.is_dead, self.drops = {}, False, False
        self.answers = threading.Event()
        self.answers.set()
        super().__init__()

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if "grant_type=refresh_token" in body:
            now = time.time() + self.ahead
            token = self.form("refresh_token")["refresh_token"]
            self.is_dead |= now - self.first_uses.setdefault(token, now) > WINDOW_SECONDS
            if self.is_dead:
                status, answer = "400 Bad Request", {"error": "invalid_grant"}
            elif self.kinds().count("refresh_token") == 1:
                self.answers.wait(60)
                if self.drops:
                    raise OSError("no answer")
        return status, headers, answer


@pytest.fixture
def wall(home):
    """The wall clock of an agent that runs and has a vault."""
    wall = Wall(home.root)
    use_silent_browser(home)
    home.agent.start(environment=wall.environment)
    home.oauthctl("vault", "create")
    home.environment["OAUTHCTL_SOCKET"] = str(home.socket)
    yield wall
    home.agent.stop()


def define_at(home, server, *lines, name="work", issuer=None):
    define(home, name, f'issuer = "{(issuer or server).issuer}"', 'client_id = "mine"', 'scope = "read"',
           'keep = "on-demand"', f'token_endpoint = "{server.issuer}/token"',
           f'authorization_endpoint = "{(issuer or server).issuer}/authorize"', *lines)


def refresh(home, name="work", seconds=10):
    return home.start(home.programs / "oauthctl", "get-token", name, "--force", "--timeout", seconds)
