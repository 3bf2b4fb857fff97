"""The agent as a service: under a booted systemd, in the unit files and the sandbox as they are installed."""

import json
import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from support.dev_server import DevServer
from support.login import wait_until

CALLERS = 8
# One caller of the agent after the other, until they are told that it is enough.
LOAD = """until [ -e enough ]; do
  if oauthctl get-token work >answer.$1 2>>errors; then cat answer.$1 >>answers; else echo "$?" >>failures; fi
done"""


@pytest.fixture
def service(user):
    """A user whose socket unit listens."""
    user.systemctl("start", "oauthd.socket")
    return user


@pytest.fixture
def server(home):
    """A server that asks nobody, with tokens that outlive the test."""
    started = DevServer(home, "--auto-consent", "--access-token-life", "3600")
    yield started
    started.stop()


def status(user):
    return json.loads(user.oauthctl("status", "--json").stdout)


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


def test_a_user_enables_the_socket_by_one_command(user):
    assert user.systemctl("is-enabled", "oauthd.socket", check=False).stdout.strip() == "disabled"
    user.systemctl("enable", "--now", "oauthd.socket")
    assert user.show("SubState", "oauthd.socket") == "listening"
    user.machine.run("systemctl", "restart", f"user@{user.uid}.service")
    assert user.show("SubState", "oauthd.socket") == "listening"


def test_the_first_request_starts_the_agent(service):
    folder = service.machine.path(service.socket)
    assert (folder.stat().st_mode & 0o777, folder.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert service.agent == 0
    answer = status(service)
    assert answer["started"] == "systemd" and answer["pid"] == service.agent > 0
    wait_until(lambda: service.show("StatusText") == "serving 0 accounts", 30, "the number is told")


def test_a_caller_starts_the_socket_where_nobody_has(user):
    assert user.show("ActiveState", "oauthd.socket") == "inactive"
    assert status(user)["started"] == "systemd"
    assert user.show("ActiveState", "oauthd.socket") == "active"


def test_a_login_and_its_refreshes_work_in_the_sandbox(service, server):
    server.script(access_token_life_s=2)
    service.log_in(server)
    tokens = set()
    wait_until(lambda: tokens.add(service.oauthctl("get-token", "work").stdout) or len(tokens) > 2, 20, "two refreshes")
    assert service.path(".local/share/oauthctl").stat().st_uid == service.uid
    assert service.path(".local/state/oauthctl").stat().st_mode & 0o777 == 0o700


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


def entries(user):
    """The agent's journal entries, as `journalctl -o json` gives them."""
    text = user.machine.run(
        "journalctl", "--no-pager", "-o", "json", "-t", "oauthd", f"_UID={user.uid}", timeout=60).stdout
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("is_fenced", [True, False], ids=["in the sandbox", "in the first part of it"])
def test_the_journal_has_fields_to_look_by_and_no_secret(service, server, is_fenced):
    if not is_fenced:
        service.set_unit("50-sandbox", "")
    service.write("browser", '#!/bin/sh\nexec curl -sSL -o /dev/null "$1"\n', 0o700)
    login = service.run("sh", "-c", "echo dev-web-secret | oauthctl login work "
                        f"{server.issuer} --client-id dev-web --client-secret-stdin")
    recovery = re.search(r"(?m)^  ((?:[0-9A-Z]{5}-)+[0-9A-Z]+)$", login.stdout + login.stderr)[1]
    tokens = [service.oauthctl("get-token", "work", *option).stdout.strip() for option in ([], ["--force"])]
    server.script(revoke_grants=True)
    assert service.oauthctl("get-token", "work", "--force", check=False).status == 4
    service.oauthctl("vault", "lock")
    wait_until(lambda: service.show("StatusText") == "locked", 20, "the lock is told")
    service.oauthctl("vault", "unlock")
    wait_until(lambda: service.show("StatusText") == "serving 1 account", 20, "the unlock is told")
    wait_until(
        lambda: any(entry.get("OAUTHCTL_EVENT") == "unlocked" for entry in entries(service)), 20, "the last entry")

    found = {entry.get("OAUTHCTL_EVENT"): entry for entry in entries(service)}
    wanted = {"started", "logged_in", "token_asked", "token_granted", "token_failed", "locked", "unlocked"}
    assert wanted <= found.keys()
    for event in ("logged_in", "token_granted", "token_failed"):
        entry = found[event]
        assert (entry["OAUTHCTL_ACCOUNT"], entry["OAUTHCTL_ISSUER"]) == ("work", server.issuer)
        assert entry["PRIORITY"] == "6" and len(entry["MESSAGE_ID"]) == 32 and entry["MESSAGE"].startswith("work: ")
        # The journal's own word for who said it.
        assert entry["_SYSTEMD_USER_UNIT"] == "oauthd.service" and entry["_COMM"] == "oauthd"
    everything = json.dumps(entries(service))
    # Swift's thread library would tell of a thread priority that no user may have, with an address.
    assert "thread priority" not in everything and {entry["_TRANSPORT"] for entry in entries(service)} == {"journal"}
    asked = dict(parse_qsl(urlsplit(re.search(r"http\S+[?&]state=\S+", login.stdout + login.stderr)[0]).query))
    assert len(set(tokens)) == 2
    for secret in (*tokens, recovery, "dev-web-secret", asked["state"], asked["code_challenge"]):
        assert len(secret) > 8 and secret not in everything


def test_agent_commands_go_by_way_of_systemd(service):
    """A stop that the socket undid would be none, and a restart that let go of the socket would refuse callers."""
    pid = status(service)["pid"]
    found = json.loads(service.oauthctl("agent", "status", "--json").stdout)
    assert (found["pid"], found["started"], found["log"]) == (pid, "systemd", "journal")
    restarted = json.loads(service.oauthctl("agent", "restart", "--json").stdout)["pid"]
    assert restarted == service.agent != pid and service.show("ActiveState", "oauthd.socket") == "active"
    assert "listening" in service.oauthctl("agent", "log", "-n", "20").stdout
    assert service.oauthctl("agent", "stop").stderr.startswith(f"Stopped the agent (pid {restarted}).")
    assert service.agent == 0 and service.show("ActiveState", "oauthd.socket") == "inactive"
    assert service.oauthctl("agent", "status", check=False).status == 7
    assert "listening" in service.oauthctl("agent", "log").stdout
    assert status(service)["started"] == "systemd"


def test_a_stopped_socket_is_removed(service):
    status(service)
    service.systemctl("stop", "oauthd.socket")
    assert service.agent == 0 and not service.machine.path(service.socket).exists()


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


def test_doctor_sees_units_and_what_the_sandbox_does(service):
    def look(check):
        service.oauthctl("status")
        report = json.loads(service.oauthctl("doctor", "--json", check=False).stdout)
        found = [finding for finding in report["findings"] if finding["check"] == check]
        assert len(found) == 1, found
        return found[0]

    assert look("sandbox")["level"] == "ok" and "fenced off" in look("sandbox")["message"]
    assert look("linger")["level"] == "note" and look("linger")["fix"] == "loginctl enable-linger"
    service.machine.path("/var/lib/systemd/linger").mkdir(exist_ok=True)
    service.machine.path(f"/var/lib/systemd/linger/{service.name}").touch()
    assert look("linger")["level"] == "ok"

    found = look("units")
    assert found["level"] == "note" and "not enabled" in found["message"]
    service.run("sh", "-c", found["fix"])
    assert look("units")["level"] == "ok"

    # A drop-in that undoes the fence is found, and taking it out again and doing as told mends it.
    service.set_unit("90-loose", "[Service]\n" + "".join(f"{key}=no\n" for key in (
        "PrivateUsers", "ProtectSystem", "ProtectHome", "PrivateTmp", "PrivateDevices", "ProtectKernelTunables",
        "ProtectKernelModules", "ProtectKernelLogs", "ProtectControlGroups", "ProtectHostname"))
        + "ReadWritePaths=\nCapabilityBoundingSet=~\n")
    service.systemctl("restart", "oauthd.service")
    found = look("sandbox")
    assert found["level"] == "wrong" and "has no effect" in found["message"]
    service.path(".config/systemd/user/oauthd.service.d/90-loose.conf").unlink()
    service.run("sh", "-c", found["fix"])
    assert look("sandbox")["level"] == "ok"


def test_a_bad_configuration_is_answered(service):
    service.write(".config/oauthctl/config.toml", "this is [ no TOML\n")
    service.write(".config/oauthctl/accounts.d/work.toml", 'issuer = 7\n')
    answer = status(service)
    assert {problem["file"].rsplit("/", 1)[1] for problem in answer["problems"]} == {"config.toml", "work.toml"}
    result = service.oauthctl("get-token", "work", check=False)
    assert result.status == 3 and "work.toml" in result.stderr
    assert service.show("NRestarts") == "0" and "config.toml" in service.show("StatusText")


@pytest.mark.parametrize(("damage", "message"), [
    ("overwritten", "damaged"), ("not readable", "could not be read"), ("a folder of another", "by others")])
def test_a_damaged_vault_is_answered(service, server, damage, message):
    service.log_in(server)
    service.systemctl("stop", "oauthd.service")
    folder = service.path(".local/share/oauthctl")
    if damage == "overwritten":
        for file in folder.glob("vault.db*"):
            file.write_bytes(b"\x55" * 8192)
    elif damage == "not readable":
        (folder / "vault.db").chmod(0)
    else:
        folder.rename(folder.parent / "away")
        folder.mkdir()
    result = service.oauthctl("get-token", "work", check=False)
    assert result.status not in (0, 7) and message in result.stderr
    assert message in status(service)["vault"]["reason"]
    assert service.agent > 0 and service.show("NRestarts") == "0"


def test_two_users_have_nothing_of_each_other(machine, service, server):
    other = machine.new_user()
    try:
        other.systemctl("start", "oauthd.socket")
        for number, user in enumerate((service, other)):
            user.log_in(server, name=f"account-{number}")
        assert service.agent != other.agent
        tokens = [user.oauthctl("get-token", f"account-{n}").stdout for n, user in enumerate((service, other))]
        assert len(set(tokens)) == 2
        assert service.oauthctl("get-token", "account-1", check=False).status == 3
        environment = {**other.environment, "OAUTHCTL_SOCKET": service.socket}
        other.environment = environment
        refused = other.oauthctl("get-token", "account-0", check=False)
        assert refused.status == 7 and refused.stdout == ""
    finally:
        other.stop()
