"""The agent as a service of a user, and a server to log in at."""

import json

import pytest

from support.dev_server import DevServer


@pytest.fixture
def service(user):
    """A user whose socket unit listens."""
    user.systemctl("start", "oauthd.socket")
    return user


@pytest.fixture
def server(home):
    """A server that asks nobody, with tokens that outlive the test."""
    started = DevServer(home, "--auto-consent", "--access-token-life", "3600")
    yield started
    started.stop()


def status(user):
    return json.loads(user.oauthctl("status", "--json").stdout)
