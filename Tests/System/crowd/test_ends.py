"""The agent is stopped, killed or locked beside servers in trouble: no login is lost."""

import os
import time

import pytest

from crowd.callers import Pending
from crowd.oracle import Verdict, after_lock, never_sent, refreshes
from crowd.steps import (
    FULL, LIFE, LONG, OVER, PLACES, fleet, later, ready_crowd, seen, silent, size, states_of, tell, until_acted)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a boot clock of the agent's own")


def until_quiet(server, least, seconds=60, pause=0.7):
    """Until so many requests lie at the server and no more have come for a while."""
    end, seen, since = time.monotonic() + seconds, None, 0.0
    while True:
        counts = server.counts()
        now = time.monotonic()
        if counts["token"] != seen:
            seen, since = counts["token"], now
        if counts["open"] >= least and now - since >= pause:
            return counts
        assert now < end, f"no quiet: {counts}"
        time.sleep(0.05)


# --- Ends of the agent ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_two_ends_beside_a_silent_server_lose_no_login(fleet, tell, end):
    """What only waited for its turn has no intent on disk, so no end of the agent counts as a sending of it: there are
    no more intents than requests have places.
    """
    server, names = ready_crowd(fleet, 30)
    server.behave(**silent(drop_after=None if FULL or end == "kill" else 1.0))
    unsent, intents, queued, before_it = [], [], 0, set()
    fleet.start(asleep=OVER)
    for _ in range(2):
        if end == "kill":
            until_quiet(server, 4)
        else:
            before = server.counts()["token"]
            fleet.wait(lambda: server.counts()["token"] >= before + 4, 60, "requests")
        ended = time.monotonic()
        getattr(fleet, end)()
        queued += sum(entry["at"] > ended + 0.5 for entry in refreshes(fleet.log()))
        now = {name for name, kept in fleet.kept().items() if kept.intent}
        intents.append(len(now - before_it))
        before_it |= now
        unsent.append(len(never_sent(fleet, names, fleet.log())))
        fleet.start()
    second = {entry["account"] for entry in refreshes(fleet.log())}
    fleet.wait(lambda: server.counts()["token"], 10, "a request")
    said = [name for name, (state, reason) in fleet.states().items()
            if state == "login_required" and "unconfirmed" not in (reason or "")]
    server.behave(life=LIFE)
    server.release()
    left = later(fleet, names, size(30, 120))
    verdict = Verdict(fleet, names)
    tell({**verdict.figures, "new intents on disk after each end": intents, "on their way": unsent,
          "sent from the queue by an agent that was to end": queued,
          "accounts that sent anything": len(second), "told that a login is needed": len(said),
          "without a token in the end": len(left)})
    assert max(intents) <= PLACES and queued == 0 and said == [] and left == {} and verdict.broken == {}


@pytest.mark.parametrize("count", [2, 5])
def test_a_few_accounts_of_one_server_go_on_by_themselves_after_a_kill(fleet, count):
    """Each refresh was under way, and nobody asks again."""
    server = fleet.server("a", life=LIFE)
    names = fleet.define(server, count)
    fleet.start()
    fleet.log_in(names)
    server.behave(life=LIFE, grace=600, delay=20.0)
    pending = fleet.begin_force(names)
    fleet.wait(lambda: server.counts()["open"] == count, 20, "a refresh of each")
    fleet.kill()
    assert pending.answers() == [None] * count
    server.behave(life=LIFE, grace=600)
    before = server.counts()["refreshes"]
    fleet.start()
    fleet.wait(lambda: server.counts()["refreshes"] == before + count, 20, "each is sent again")
    assert fleet.revive(names, 60) == {} and Verdict(fleet, names, lambda account: 600.0, most=3).broken == {}


def test_refused_connections_under_a_watchdog_lose_no_login(fleet, tell):
    """A manager that ends the agent whenever it is silent for longer than the unit allows, as systemd does."""
    count, limit = size(60, 1000), 30.0
    other = fleet.server("b", life=LONG)
    watched = fleet.define(other, 1, prefix="b")
    server = fleet.server("a", life=LIFE)
    names = fleet.define(server, count)
    fleet.start(watched=watched[0])
    fleet.log_in(names + watched)
    fleet.terminate()
    server.behave(refuse=True)
    fleet.start(asleep=OVER)
    fleet.watcher.window()
    ends, end, longest = 0, time.monotonic() + size(2.5, 200), 0.0
    while time.monotonic() < end:
        time.sleep(0.5)
        gap = fleet.watcher.window()["manager"]["gap"]
        longest = max(longest, gap)
        if gap > limit:
            ends += 1
            fleet.kill()
            fleet.start()
    needed = [name for name, (state, _) in fleet.states().items() if state == "login_required"]
    server.behave(life=LIFE)
    recovered, alone = until_acted(server, count, size(60, 300))
    states = states_of(fleet, names)
    verdict = Verdict(fleet, names)
    tell({**verdict.figures, "ended by the watchdog": ends, "longest silence to it, s": longest,
          "told that a login is needed": len(needed), "new by themselves": alone, "after, s": recovered,
          "states": states})
    assert needed == [] and ends == 0 and alone == count and verdict.broken == {}


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


# --- Locks ----------------------------------------------------------------------------------------------------------

def test_nothing_is_sent_after_a_lock_was_answered(fleet, tell):
    delay = size(1.5, 25)
    server, names = ready_crowd(fleet, 40)
    server.behave(life=LIFE, delay=delay)
    fleet.start(asleep=OVER)
    fleet.wait(lambda: server.counts()["open"] >= 4, 20, "requests")
    asked = time.monotonic()
    took = fleet.lock()
    queued = [entry for entry in refreshes(fleet.log()) if entry["at"] > asked + 0.5]
    time.sleep(size(2, 30))
    late = len(after_lock(fleet.log(), fleet.locks))
    fleet.unlock()
    server.behave(life=LIFE)
    fleet.wait(lambda: server.counts()["acted"] >= len(names), 60, "a new token of each")
    # Now a lock and the unlock behind it, while calls are under way.
    server.behave(life=LIFE, delay=size(1.0, 5.0))
    pending = fleet.begin_force(names, timeout_ms=60_000)
    fleet.wait(lambda: server.counts()["open"] >= 4, 20, "requests")
    locking = Pending(fleet.home.socket, [("vault.lock", {})])
    unlocking = Pending(fleet.home.socket, [("vault.unlock", {})])
    locking.answers(), unlocking.answers(), pending.answers()
    fleet.call("vault.unlock")
    server.behave(life=LIFE)
    left = fleet.revive(names, 60)
    verdict = Verdict(fleet, names, most=1)
    tell({**verdict.figures, "lock answered after, s": took, "sent from the queue after the lock was asked for":
          len(queued), "came after its answer": late, "families revoked": len(server.revoked()),
          "without a token in the end": len(left)})
    assert late == 0 and queued == [] and server.revoked() == [] and left == {} and verdict.broken == {}
