"""What must hold, asked of the servers' log, the vault and the agent's own word; each as a figure."""

import collections
import itertools

# By plan a token is refreshed after 0.65 of its life at the earliest (docs/tokens.md), which counts from before its
# request was sent: on a busy machine seconds before the server sees it.
DUE_SHARE, SLACK_SECONDS = 0.65, 2.0
# How long after a server's answer a kill may come before what it carried is on disk, on a busy machine; and how long a
# helper that has just been started may outlive its agent.
WINDOW_SECONDS, HELPER_SECONDS = 2.0, 1.0


def refreshes(log):
    return [entry for entry in log if entry["kind"] == "token" and entry.get("grant") == "refresh_token"]


def is_delivered(entry):
    return entry["answered"] is not None


def sends(log):
    """{(server, account, family, generation): [entries]}, in their order: what was sent of each refresh token."""
    found = collections.defaultdict(list)
    for entry in refreshes(log):
        found[entry["server"], entry["account"], entry.get("family"), entry.get("generation")].append(entry)
    return found


def overlapping(log, grace_of=lambda account: 0.0):
    """Sendings of a refresh token while another one of it was open, where no window of reuse allows that."""
    found = []
    for (_, account, _, _), entries in sends(log).items():
        for before, after in itertools.combinations(entries, 2):
            is_open = before["closed"] is None or before["closed"] > after["at"]
            if is_open and after["at"] - entries[0]["at"] > grace_of(account):
                found.append(after)
    return found


def too_many(fleet, log, most=2):
    """{refresh token: its sendings} of those that were sent more often than that before the access token that came with
    them had ended: until then there is something to lose. A sending counts of which nobody can know what became: not
    one that the server answered without acting on it.
    """
    given = {
        (entry["server"], entry["account"], entry["family"], entry["gave"]): entry
        for entry in log if entry["kind"] == "token" and entry["acted"] is not None}
    found = {}
    for key, entries in sends(log).items():
        entries = [entry for entry in entries if not (is_delivered(entry) and entry["acted"] is None)]
        early = [
            entry for entry in entries[most:] if key in given
            and elapsed(fleet, given[key], entry) < given[key]["life"] - SLACK_SECONDS]
        if early:
            found[key] = entries
    return found


def elapsed(fleet, before, entry):
    """Seconds by the machine's boot clock, which counts suspend, from when the token of `before` was asked for."""
    # A life counts from before its request was sent: a login's from before it waited for its turn.
    since = before["at"]
    if before["grant"] != "refresh_token":
        since = max(moment for moment in fleet.logged_in[before["account"]] if moment <= since)
    return entry["at"] - since + sum(seconds for at, seconds in fleet.sleeps if since < at <= entry["at"])


def needless(fleet, log):
    """Rotations of accounts whose token was not due, and that nobody had forced."""
    found, last = [], {}
    left = {account: sorted(moments) for account, moments in fleet.forced.items()}
    for entry in log:
        if entry["kind"] != "token" or entry["acted"] is None:
            continue
        account = entry["account"]
        before = last.get((entry["server"], account))
        last[entry["server"], account] = entry
        if entry["grant"] != "refresh_token" or before is None or not is_delivered(before):
            continue
        # One that was sent again after a lost answer, or by an agent that was killed before it had saved that.
        if entry["generation"] != before["gave"]:
            continue
        if elapsed(fleet, before, entry) >= DUE_SHARE * before["life"] - SLACK_SECONDS:
            continue
        asked = left.get(account, [])
        if asked and asked[0] <= entry["at"]:
            asked.pop(0)
        else:
            found.append(entry)
    return found


def after_lock(log, locks):
    """Token requests that came after the answer to `vault.lock` and before the unlock."""
    return [
        entry for entry in log if entry["kind"] == "token"
        for answered, unlocked in locks if answered < entry["at"] < (unlocked or float("inf"))]


def dead(fleet, names, log):
    """Logins that the server would refuse, by what the vault has: {account: whether the server is the reason}.

    The server is the reason where it acted on a refresh and its answer did not arrive, or the agent was killed before
    it could save it.
    """
    kept, found = fleet.kept(), {}
    by_server = collections.defaultdict(dict)
    for name in names:
        by_server[fleet.server_of[name]][name] = kept[name].token
    for server, tokens in by_server.items():
        accepted = server.accepts(tokens)
        for name in (name for name in tokens if not accepted[name]):
            found[name] = is_excused(name, tokens[name], server, fleet, log)
    return found


def is_excused(name, token, server, fleet, log):
    _, _, family, generation, _ = token.split("-")
    used = [
        entry for entry in refreshes(log)
        if entry["server"] == server.name and entry["account"] == name and entry["acted"] is not None
        and (entry["family"], entry["generation"]) == (int(family), int(generation))]
    return any(
        not is_delivered(entry)
        or any(entry["at"] - HELPER_SECONDS <= kill <= entry["answered"] + WINDOW_SECONDS for kill in fleet.kills)
        for entry in used)


def given_up(fleet, names):
    """Accounts whose refresh token is good, and that the vault holds for over: {account: the verdict's reason}."""
    kept, found = fleet.kept(), {}
    for name in names:
        verdict = kept[name].verdict
        if verdict and not verdict.get("is_unconfirmed") and fleet.server_of[name].accepts(
                {name: kept[name].token})[name]:
            found[name] = verdict["reason"]
    return found


def never_sent(fleet, names, log):
    """Accounts with an intent on disk of which the server has heard nothing since their last answer."""
    sent = {entry["account"]: entry for entry in refreshes(log)}
    found = []
    for name, kept in fleet.kept().items():
        if name in names and kept.intent and (name not in sent or is_delivered(sent[name])):
            found.append(name)
    return found


def moment_of(event):
    return event if isinstance(event, float) else event[0]


class Verdict:
    """The figures of one case, once the agent has ended."""

    def __init__(self, fleet, names, grace_of=lambda account: 0.0, most=2):
        # At rest, so that the vault and the servers tell of the same moment.
        if fleet.home.agent.is_running:
            fleet.terminate()
        self.fleet = fleet
        self.log = log = fleet.log()
        self.dead = dead(fleet, names, log)
        self.given_up = given_up(fleet, names)
        self.after_lock = after_lock(log, fleet.locks)
        self.overlapping = overlapping(log, grace_of)
        self.too_many = too_many(fleet, log, most)
        self.needless = needless(fleet, log)
        self.figures = {
            "accounts": len(names),
            "token requests": sum(entry["kind"] == "token" for entry in log),
            "refreshes acted on": sum(entry["acted"] is not None for entry in refreshes(log)),
            "dead, the server acted and its answer was lost": sum(self.dead.values()),
            "dead without a cause": len(self.dead) - sum(self.dead.values()),
            "given up though the server would answer": len(self.given_up),
            "sent after the lock's answer": len(self.after_lock),
            "sent while another was open": len(self.overlapping),
            f"sent more than {most} times": len(self.too_many),
            "rotated needlessly": len(self.needless),
        }

    @property
    def broken(self):
        """The invariants that do not hold."""
        harmless = {
            "accounts", "token requests", "refreshes acted on", "dead, the server acted and its answer was lost"}
        broken = {what: count for what, count in self.figures.items() if count and what not in harmless}
        if broken:
            self.tell_some()
        return broken

    def tell_some(self):
        """Print a few of what may not be, with all that the server saw of them."""
        for what in ("after_lock", "overlapping", "too_many", "needless"):
            found = getattr(self, what)
            for one in list(found.values() if isinstance(found, dict) else [[entry] for entry in found])[:3]:
                account, last = one[-1]["account"], one[-1]["at"]
                print(what, account)
                for entry in self.log:
                    if entry.get("account") == account and last - 60 < entry["at"] < last + 10:
                        print("  ", {key: value for key, value in entry.items() if key != "account"})
                for name in ("kills", "stops", "sleeps", "locks"):
                    moments = getattr(self.fleet, name)
                    print("  ", name, [one for one in moments if last - 60 < moment_of(one) < last + 10])
        print("dead", {name: cause for name, cause in self.dead.items() if not cause}, "given up", self.given_up)
