"""What the tests of many callers share."""

import pytest

from support import load
from support.unattended import log_in, server_of


@pytest.fixture
def ready(home):
    """An agent with one account that is logged in, at a server that rotates strictly; room for many connections."""
    with load.many_descriptors():
        home.server = server_of(home, "strict")
        home.agent.start()
        log_in(home, home.server)
        yield home
        home.agent.stop()
        home.server.stop()
