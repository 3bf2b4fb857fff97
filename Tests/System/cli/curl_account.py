"""An account for `oauthctl curl`."""

import pytest

from support.login import log_in


@pytest.fixture
def work(home, agent, dot):
    """The home with an account `work` that is logged in."""
    log_in(home, dot)
    return home


def curl(home, *arguments, **options):
    return home.oauthctl("curl", *arguments, **options)
