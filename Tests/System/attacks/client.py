"""Somebody who is logged in, and whoever wants the token."""

import pytest

from support.login import log_in


@pytest.fixture
def work(home, agent, dot):
    """The home with an account `work` that is logged in over http on this machine."""
    log_in(home, dot)
    return home


def curl(home, *arguments, **options):
    return home.oauthctl("curl", *arguments, check=False, **options)


def brief_curl(home, *arguments, **options):
    """For descriptors from which curl may wait to read for ever."""
    return home.run("timeout", "2", home.programs / "oauthctl", "curl", "-sS", *arguments, check=False, **options)
