"""A crowd of accounts beside servers in trouble: no login is lost that the server did not lose, nobody is kept waiting.

Every figure is asked of the servers' own log (crowd/oracle.py). What is counted is asserted; times are printed, and
bounded only by `make prove`, which takes the full numbers and wants a machine for itself.
"""

import os
import time

import pytest

from crowd.callers import Callers
from crowd.fleet import Fleet
from crowd.lossy import Lossy
from crowd.oracle import Verdict
from support.load import RSS_SLACK_KIB
from world.accounts import CLIENTS

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a boot clock of the agent's own")
FULL = os.environ.get("PROVE") == "full"
# Lives of tokens, and sleeps of the machine after which they are due, or over.
LIFE, LONG = 3600, 10**7
DUE, OVER = 3300, 4000


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


# --- Ends of the agent ----------------------------------------------------------------------------------------------

def test_a_stop_beside_a_silent_server_keeps_no_other_caller(fleet, tell):
    """Without systemd: while an agent that was told to stop waits for one server's answer, callers of another server
    are served or told, each within a second."""
    dead, live = fleet.server("a", life=LIFE), fleet.server("b", life=LONG)
    (stuck,), others = fleet.define(dead, 1), fleet.define(live, 3, prefix="b")
    fleet.start()
    fleet.log_in([stuck, *others])
    dead.behave(**silent())
    waiting = fleet.begin_force([stuck], timeout_ms=60_000)
    fleet.wait(lambda: dead.counts()["open"], 20, "the refresh")
    home, found = fleet.home, []
    del home.environment["OAUTHCTL_SOCKET"]
    with home.agent.connect() as wire:
        wire.call("agent.hello")
        home.agent.process.terminate()
        began = time.monotonic()
        while time.monotonic() < began + size(2, 5):
            asked = time.monotonic()
            result = home.oauthctl("get-token", others[0], check=False, timeout=30)
            found.append((result.status, time.monotonic() - asked))
            if result.status == 0:
                break
            assert result.stderr, result
            time.sleep(0.1)
    dead.behave(life=LIFE)
    dead.release()
    home.agent.process.wait(70)
    waiting.answers()
    fleet.wait(lambda: home.oauthctl("get-token", others[0], check=False).status == 0, 20, "a token")
    longest = max(seconds for _, seconds in found)
    tell({"asked": len(found), "statuses": sorted({status for status, _ in found}), "longest, s": longest,
          "the first token after, s": sum(seconds for _, seconds in found)})
    assert longest <= size(5, 1)


# --- Many refreshes -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("grace", [0], ids=["strict"])
def test_lost_answers_cost_no_login_within_the_grace_and_no_other_without(fleet, tell, world, grace):
    """django-oauth-toolkit behind a network that loses answers, and an agent that knows its window."""
    count, loss, rotations = size((15, 0.1, 60), (200, 0.01, 10_000 if grace else 2_000))
    server = world(access_ttl=2, refresh_grace=grace)
    window = {"reuse_grace_s": grace} if grace else {}
    with Lossy(("127.0.0.1", server.port), loss) as network:
        issuer = f"http://127.0.0.1:{network.port}"
        names = [f"d{number:03}" for number in range(count)]
        for name in names:
            fleet.server_of[name] = server
            fleet.write(
                name, issuer=issuer, token_endpoint=issuer + "/token/", client_id="legacy", username=server.user,
                client_authentication="client_secret_basic", scope=["read"], keep="on-demand",
                token_parameters={"crowd_account": name}, **window)
        fleet.start()
        network.loss = 0
        fleet.log_in(names, password=server.password, client_secret=CLIENTS["legacy"].secret)
        network.loss, began, needed = loss, time.monotonic(), set()
        while sum(network.rotated.values()) < rotations and len(needed) < count:
            answers = fleet.tokens([name for name in names if name not in needed], timeout_ms=20_000)
            needed |= {
                name for name, answer in zip([name for name in names if name not in needed], answers)
                if answer.error and answer.error["failure"] == "login_required"}
            assert time.monotonic() < began + size(60, 1800), network.rotated
            time.sleep(0.1)
        passed, network.loss = time.monotonic() - began, 0
        lost, end = set(names), time.monotonic() + size(30, 60)
        while lost and time.monotonic() < end:
            lost = {name for name, answer in zip(sorted(lost), fleet.tokens(sorted(lost))) if answer.error}
            if lost <= set(network.swallowed) and not grace:
                break
            time.sleep(0.2)
    tell({"rotations": sum(network.rotated.values()), "in, s": passed, "answers lost":
          sum(network.swallowed.values()), "accounts with a lost answer": len(network.swallowed), "logins lost":
          len(lost), "without a lost answer": len(lost - set(network.swallowed))})
    assert lost <= (set() if grace else set(network.swallowed))


def test_a_long_run_leaves_everything_as_it_was(fleet, tell):
    count, life, seconds = size((20, 7, 10), (200, 60, 1800))
    server = fleet.server("a", life=life)
    names = fleet.define(server, count)
    fleet.start()
    fleet.log_in(names)
    vault = fleet.home.data / "oauthctl"
    samples, began = [], time.monotonic()
    with Callers(fleet.home.socket, names, 0.4 * life / count) as callers:
        while time.monotonic() < began + seconds:
            time.sleep(seconds / 12)
            samples.append((fleet.memory_kib()[0], fleet.descriptors(), fleet.helpers(),
                            sum(file.stat().st_size for file in vault.iterdir()) // 1024))
    first, last = samples[len(samples) // 3], samples[-1]
    verdict = Verdict(fleet, names)
    failed = {what: n for what, n in callers.counts.items() if what}
    tell({**verdict.figures, "anonymous KiB, descriptors, helpers, vault KiB after a third": first, "at the end": last,
          "failures": failed, "answers": sum(callers.counts.values())})
    assert failed == {} and verdict.broken == {}
    assert last[0] <= first[0] + RSS_SLACK_KIB and last[1] <= first[1] + 24 and last[3] <= 2 * first[3]
