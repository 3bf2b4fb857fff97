"""Steps of the crowd tests."""

import collections
import os
import time

import pytest

from crowd.fleet import Fleet

FULL = os.environ.get("PROVE") == "full"
# Lives of tokens, and sleeps of the machine after which they are due, or over.
LIFE, LONG = 3600, 10**7
DUE, OVER = 3300, 4000
# Requests of one server that the agent has under way at most while nobody else asks (RequestQueue).
PLACES = 16
# A login that only seems to be over is tried again after this long at most, once its access token has ended.
LATER = 4000


def size(small, full):
    return full if FULL else small


@pytest.fixture
def fleet(home):
    made = Fleet(home)
    yield made
    made.stop()


@pytest.fixture
def tell(record_property, request):
    """Print figures, and keep them with the test's result."""
    def say(figures):
        text = f"{request.node.name}: " + "; ".join(f"{what} {shown(value)}" for what, value in figures.items())
        print(text)
        record_property("crowd", text)
    return say


def shown(value):
    return f"{value:.3f}" if isinstance(value, float) else value


def silent(**rules):
    """Accepts, reads, and neither acts nor answers; the small form closes the connection after a while."""
    return {"token": "swallow", "metadata": "swallow", "acts": False, **rules}


def ready_crowd(fleet, count, **keys):
    """A server with so many accounts, logged in; the agent has ended."""
    server = fleet.server("a", life=LIFE)
    names = fleet.define(server, count, **keys)
    fleet.start()
    fleet.log_in(names)
    fleet.terminate()
    return server, names


def later(fleet, names, seconds):
    """The machine sleeps for a while; whose account has no new token in the end, and why."""
    fleet.terminate()
    fleet.start(asleep=LATER)
    return fleet.revive(names, seconds)


def until_acted(server, count, seconds):
    """(seconds until the server has acted on so many refreshes, how many it has); the time may be over before."""
    began = time.monotonic()
    while server.counts()["acted"] < count and time.monotonic() < began + seconds:
        time.sleep(0.1)
    return time.monotonic() - began, server.counts()["acted"]


def states_of(fleet, names):
    """How many accounts are in each state."""
    return dict(collections.Counter(state for name, (state, _) in fleet.states().items() if name in set(names)))


# --- The judge ------------------------------------------------------------------------------------------------------

def seen(at, generation, gave=None, closed=None, grant="refresh_token"):
    """A token request as a server logs it; `gave`: it was acted on and answered at once."""
    return {
        "server": "a", "kind": "token", "account": "x", "grant": grant, "family": 1, "generation": generation,
        "life": 100.0, "at": at, "acted": None if gave is None else at, "gave": gave,
        "answered": None if gave is None else at, "closed": at if closed is None else closed}


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]
