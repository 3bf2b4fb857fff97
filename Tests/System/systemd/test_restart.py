"""No restart, crash or hang of the service loses a request or a login."""

import json

import pytest

from support.login import wait_until
from systemd.service import server, service, status

CALLERS = 8
# One caller of the agent after the other, until they are told that it is enough.
LOAD = """until [ -e enough ]; do
  if oauthctl get-token work >answer.$1 2>>errors; then cat answer.$1 >>answers; else echo "$?" >>failures; fi
done"""


def lines(user, name):
    file = user.path(name)
    return file.read_text().splitlines() if file.exists() else []


class Load:
    """Callers of `get-token` at once, without a pause; `end` gives the answers, of which none may be a failure."""

    def __init__(self, user):
        self.user = user
        self.callers = [user.start("sh", "-c", LOAD, "load", str(number)) for number in range(CALLERS)]
        self.wait_for_more(20)

    def wait_for_more(self, count):
        wanted = len(lines(self.user, "answers")) + count
        wait_until(lambda: len(lines(self.user, "answers")) >= wanted, 30, f"{count} more answers")

    def end(self, least):
        self.wait_for_more(max(0, least - len(lines(self.user, "answers"))))
        self.user.path("enough").touch()
        for caller in self.callers:
            caller.communicate(timeout=60)
        failed = [(name, lines(self.user, name)) for name in ("failures", "errors")]
        assert failed == [("failures", []), ("errors", [])]
        return lines(self.user, "answers")


def test_no_request_is_lost_in_a_restart(service, server):
    service.log_in(server)
    before, load = service.agent, Load(service)
    service.systemctl("restart", "oauthd.service")
    answers = load.end(200)
    assert service.agent != before and service.show("NRestarts") == "0"
    assert len(answers) >= 200 and len(set(answers)) == 1


def test_no_request_is_lost_to_kill_9_and_a_crash(service, server):
    service.log_in(server)
    load = Load(service)
    # More often than systemd by itself would start it again.
    for signal in ["KILL"] * 5 + ["SEGV"]:
        service.kill(signal)
        load.wait_for_more(CALLERS + 1)
    answers = load.end(200)
    assert service.show("NRestarts") == "6" and len(set(answers)) == 1
    # A backtrace would show memory.
    assert "acktrac" not in service.machine.journal(f"_UID={service.uid}")


def next_agent(user, before, seconds=15):
    """Waits until the agent `before` has been replaced."""
    return wait_until(lambda: (pid := user.agent) not in (0, before) and pid, seconds, "another agent")


@pytest.mark.parametrize("hang", ["the process", "the loop alone"])
def test_a_hang_is_ended_by_the_watchdog(service, hang):
    service.set_unit("watchdog", "[Service]\nWatchdogSec=2s\n")
    before = status(service)["pid"]

    def fed():
        return int(service.show("WatchdogTimestampMonotonic"))

    # It is fed, for longer than the watchdog waits.
    began = fed()
    wait_until(lambda: fed() - began > 2_500_000, 30, "more food")
    assert service.agent == before
    if hang == "the process":
        service.kill("STOP")
    else:
        holder = service.machine.start("/usr/bin/python3", "/srv/tests/hold.py", str(before))
        assert holder.stdout.readline() == "held\n"
    # Asked of the hung one, answered by the next.
    assert status(service)["pid"] == next_agent(service, before)
    assert service.show("NRestarts") == "1"
    assert "Watchdog timeout" in service.machine.journal(f"_UID={service.uid}")
    if hang != "the process":
        holder.communicate(timeout=60)


ACCOUNT = 'issuer = "https://as.example"\nclient_id = "x"\n'


def test_a_reload_keeps_connections(service):
    talk = service.start("/usr/bin/python3", "/srv/tests/talk.py", stdin=-1)

    def accounts():
        talk.stdin.write('{"jsonrpc":"2.0","id":1,"method":"account.list"}\n')
        talk.stdin.flush()
        return [account["account"] for account in json.loads(talk.stdout.readline())["result"]["accounts"]]

    assert accounts() == []
    before = service.agent
    service.write(".config/oauthctl/accounts.d/work.toml", ACCOUNT)
    service.systemctl("reload", "oauthd.service")
    wait_until(lambda: service.show("StatusText") == "serving 1 account", 60, "the new account is told")
    assert accounts() == ["work"] and service.agent == before and service.show("ActiveState") == "active"
    assert service.show("ReloadResult") == "success"
    service.write(".config/oauthctl/accounts.d/broken.toml", "issuer = \n")
    service.systemctl("reload", "oauthd.service")
    wait_until(lambda: "broken.toml:1" in service.show("StatusText"), 60, "the problem is told")
    assert accounts() == ["work"]
    talk.communicate(timeout=60)


def test_a_stop_waits_for_the_refresh_under_way(service, server):
    """Longer than TimeoutStopSec, and oauthd-fetch is not ended either: the refresh token in it is the only one."""
    service.set_unit("stop", "[Service]\nTimeoutStopSec=1s\n")
    server.script(access_token_life_s=3)
    service.log_in(server)
    server.script(access_token_life_s=3600, delay_ms={"token": 4000})
    wait_until(lambda: oauth_fetch_runs(service), 20, "a refresh under way")
    service.systemctl("restart", "oauthd.service")
    refreshes = server.refreshes()
    assert [entry["status"] for entry in refreshes] == [200]
    assert service.oauthctl("get-token", "work").status == 0 and len(server.refreshes()) == 1


def oauth_fetch_runs(user):
    return user.machine.run("pgrep", "-u", str(user.uid), "oauthd-fetch", check=False).status == 0
