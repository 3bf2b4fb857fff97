"""Servers that are silent, dead or half dead: no login is lost, nobody else is kept waiting."""

import os
import time

import pytest

from crowd.callers import Callers
from crowd.oracle import Verdict, refreshes
from crowd.steps import (
    FULL, LATER, LIFE, LONG, OVER, fleet, later, percentile, ready_crowd, seen, silent, size, states_of, tell,
    until_acted)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a boot clock of the agent's own")


def open_by(entries, moment):
    return [entry for entry in entries if entry["at"] <= moment and (entry["closed"] or moment + 1) > moment]


# --- Servers that are silent, dead, half dead -----------------------------------------------------------------------

def test_a_silent_server_ends_no_login_that_it_never_acted_on(fleet, tell):
    server, names = ready_crowd(fleet, 24)
    server.behave(**silent(drop_after=None if FULL else 0.5))
    fleet.start(asleep=OVER)
    with Callers(fleet.home.socket, names, 0.2, timeout_ms=5_000) as callers:
        time.sleep(size(3, 240))
    confirmed = [name for name, (state, reason) in fleet.states().items()
                 if state == "login_required" and "unconfirmed" not in (reason or "")]
    server.behave(life=LIFE)
    server.release()
    recovered, at_once = until_acted(server, len(names), size(3, 30))
    fleet.terminate()
    fleet.start(asleep=LATER)
    _, alone = until_acted(server, len(names), size(30, 300))
    states = states_of(fleet, names)
    verdict = Verdict(fleet, names)
    tell({**verdict.figures, "told for good that a login is needed": len(confirmed), "new at once": at_once,
          "after, s": recovered, "new by themselves": alone, "states": states,
          "answers meanwhile": dict(callers.counts)})
    assert confirmed == [] and alone >= len(names) and verdict.broken == {}


def test_a_known_reuse_window_is_used_and_never_overstepped(fleet, tell):
    """Three servers that accept a used refresh token for a while: the first answer lost and the same pair again; both
    answered, with different pairs; no answer at all."""
    grace, accounts = size(5, 30), 3
    servers = {name: fleet.server(name, life=LIFE) for name in ("same", "both", "none")}
    names = {
        name: fleet.define(server, accounts, prefix=name, reuse_grace_s=grace) for name, server in servers.items()}
    every = [one for some in names.values() for one in some]
    fleet.start()
    fleet.log_in(every)
    fleet.terminate()
    servers["same"].behave(life=LIFE, grace=grace, swallow_first=True)
    servers["both"].behave(life=LIFE, grace=grace, pairs="new", swallow_first=True)
    servers["none"].behave(life=LIFE, grace=grace, token="swallow")
    fleet.start(asleep=OVER)
    for name, server in servers.items():
        fleet.wait(lambda: server.counts()["refreshes"] >= 2 * accounts, grace + 10, f"the second sendings of {name}")
    # The first sendings are answered now too, and must change nothing.
    servers["both"].release()
    fleet.wait(lambda: time.monotonic() > fleet.sleeps[0][0] + grace + 4, grace + 10, "the window's end")
    for server in servers.values():
        server.behave(life=LIFE)
    servers["none"].release()
    left = fleet.revive(names["same"] + names["both"], 20)
    # Else the agent's stop waits for these until they time out.
    servers["same"].release()
    verdict = Verdict(fleet, names["same"] + names["both"], lambda account: grace, most=grace)
    late = beside = 0
    for name, some in names.items():
        for account in some:
            mine = [entry for entry in refreshes(verdict.log) if entry["account"] == account]
            first, *more = [entry for entry in mine if entry["generation"] == 0]
            late += sum(entry["at"] - first["at"] > grace for entry in more)
            beside += bool(more) and (first["closed"] is None or first["closed"] > more[0]["at"])
    tell({**verdict.figures, "accounts whose second sending ran beside the first": beside,
          "sent after the window": late, "without a token in the end": len(left)})
    assert late == 0 and beside == 3 * accounts and left == {} and verdict.broken == {}


def test_a_half_dead_server_is_asked_by_one_and_a_dead_one_without_secrets(fleet, tell):
    """Once five accounts have failed: where the metadata is answered at most one token request at a time, where nothing
    is, none at all."""
    half, dead = fleet.server("half", life=LIFE), fleet.server("dead", life=LIFE)
    names = {server.name: fleet.define(server, 40, prefix=server.name) for server in (half, dead)}
    fleet.start()
    fleet.log_in(names["half"] + names["dead"])
    fleet.terminate()
    drop = None if FULL else 0.4
    half.behave(token="swallow", acts=False, drop_after=drop)
    dead.behave(**silent(drop_after=drop))
    fleet.start(asleep=OVER)
    time.sleep(size(4.5, 240))
    log = fleet.log()
    figures, most = {}, {}
    for name in names:
        mine = [entry for entry in log if entry["server"] == name]
        tokens = [entry for entry in refreshes(mine)]
        ended = sorted(entry["closed"] for entry in tokens if entry["closed"])
        opened = ended[4] + 0.5
        after = [entry for entry in mine if entry["at"] > opened]
        secret = [entry for entry in after if entry["secret"]]
        most[name] = max((len(open_by(secret, entry["at"])) for entry in secret), default=0)
        figures |= {f"{name}: requests": len(mine), f"{name}: after it was known": len(after),
                    f"{name}: of them with a secret": len(secret), f"{name}: at once": most[name]}
    half.behave(life=LIFE)
    dead.behave(life=LIFE)
    half.release()
    dead.release()
    left = later(fleet, names["half"] + names["dead"], size(40, 200))
    verdict = Verdict(fleet, names["half"] + names["dead"])
    tell({**verdict.figures, **figures, "without a token in the end": len(left)})
    assert most["half"] <= 1 and figures["dead: of them with a secret"] == 0 and left == {} and verdict.broken == {}


def test_ten_thousand_accounts_of_a_dead_server_delay_nobody(fleet, tell):
    # Ten thousand account files are the most that are read, those of the other server among them: enough of them that
    # none is forced more often than it may be.
    count, neighbours, beside = size(150, 9_900), size(40, 90), size(4, 60)
    dead, live = fleet.server("a", life=LIFE), fleet.server("b", life=LONG)
    names, others = fleet.define(dead, count), fleet.define(live, neighbours, prefix="b")
    fleet.start(watched=others[0])
    began = time.monotonic()
    fleet.log_in(names + others)
    logged_in = time.monotonic() - began
    quiet = one_by_one(fleet, others, 40)
    fleet.terminate(seconds=300)
    dead.behave(refuse=True)
    began = time.monotonic()
    fleet.start(asleep=OVER)
    started = time.monotonic() - began
    # The watcher's own question may have waited for the start too.
    fleet.wait(lambda: fleet.watcher.window()["service"]["most"] < 1, 60, "an answer to the watcher")
    loud, end = [], time.monotonic() + beside
    while time.monotonic() < end:
        loud += one_by_one(fleet, others, 1)
        time.sleep(0.3)
    seen = fleet.watcher.window()
    with fleet.watcher.quiet():
        share = fleet.processor_share(size(2, 60))
    anonymous, proportional = fleet.memory_kib()
    needed = [name for name, (state, _) in fleet.states().items() if state == "login_required"]
    verdict = Verdict(fleet, names)
    delay = percentile(loud, .99) - percentile(quiet, .99)
    tell({**verdict.figures, "logged in within, s": logged_in, "started within, s": started,
          **silence(seen), "another server's refresh, quiet p50, s": percentile(quiet, .5),
          "quiet p99, s": percentile(quiet, .99), "beside p50, s": percentile(loud, .5),
          "beside p99, s": percentile(loud, .99), "processor, %": share, "anonymous KiB": anonymous,
          "proportional KiB": proportional, "told that a login is needed": len(needed)})
    assert needed == [] and verdict.broken == {}
    assert longest_silence(seen) <= size(10, 0.2) and delay <= size(10, 0.2) and share <= size(50, 2)


def one_by_one(fleet, names, count):
    """Seconds of each of `count` forced refreshes, one after the other, each of the account that waited longest."""
    found = []
    for _ in range(count):
        name = min(names, key=lambda one: fleet.forced[one][-1:] or [0])
        (answer,) = fleet.force([name])
        assert answer.error is None, answer
        found.append(answer.seconds)
    return found


def longest_silence(seen):
    return max(seen["hot"]["most"], seen["service"]["most"], seen["manager"]["gap"])


def silence(seen):
    return {
        "ready token p99, s": seen["hot"]["p99"], "most, s": seen["hot"]["most"],
        "by the service p99, s": seen["service"]["p99"], "most by the service, s": seen["service"]["most"],
        "silence to the manager, s": seen["manager"]["gap"], "the prober itself late, s": seen["hot"]["late"]}
