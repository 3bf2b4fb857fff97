"""A login that a server agrees to at once."""

import pytest

from support.dev_server import consenting


@pytest.fixture
def server(home, agent):
    with consenting(home) as started:
        yield started


@pytest.fixture
def work(home, server):
    home.oauthctl("login", "work", server.issuer, "--client-id", "dev", "--scope", "read")
    return home
