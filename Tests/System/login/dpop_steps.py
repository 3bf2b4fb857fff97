"""Steps of the tests of tokens that are bound to a key (DPoP)."""

import pytest

from login.possession import Possession
from login.provider import use_silent_browser
from support.wire import Wire


@pytest.fixture
def provider():
    with Possession() as provider:
        yield provider


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def log_in(home, provider, *options, **how):
    return home.oauthctl(
        "login", "work", provider.issuer, "--client-id", "mine", "--scope", "read", "--dpop", *options, **how)


def refresh(home, provider):
    """One refresh, by naming the current token as rejected."""
    with Wire(home.socket) as wire:
        # Another place each time: one that refuses new tokens like old ones causes no refresh.
        url = f"{provider.issuer}/api/{len(provider.seen)}"
        told = wire.call("dpop.proof", account="work", url=url, method="GET")
        return wire.call(
            "dpop.proof", account="work", url=url, method="GET", rejected={"fingerprint": told["fingerprint"]})


def curl(home, provider, *words, check=True, path="/api", **how):
    return home.oauthctl("curl", "work", "-sS", *words, f"{provider.issuer}{path}", check=check, **how)
