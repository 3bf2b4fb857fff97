"""The agent as a service: under a booted systemd, in the unit files and the sandbox as they are installed."""

import json
import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from support.login import wait_until
from systemd.service import server, service, status


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


def test_a_configuration_that_moved_with_its_variable_is_found_after_the_printed_step(service, server):
    service.log_in(server)
    service.run("mkdir", "moved")
    service.run("mv", ".config/oauthctl", "moved/")
    service.environment["XDG_CONFIG_HOME"] = service.home / "moved"
    service.oauthctl("reload", check=False)
    told = service.oauthctl("get-token", "work", "--force", check=False)
    assert told.status == 3
    [step] = re.findall(r"(?m)^  run: (.*)$", told.stderr)
    assert step in service.oauthctl("status", check=False).stderr
    assert "bring ~" not in service.oauthctl("status", check=False).stdout
    service.run("sh", "-c", f"{step}\noauthctl get-token work --force")
    del service.environment["XDG_CONFIG_HOME"]
    service.machine.run("systemctl", "restart", f"user@{service.uid}.service")
    assert service.oauthctl("get-token", "work", "--force").stdout and not service.oauthctl("status").stderr


def test_a_vault_that_moved_with_its_variable_is_found_after_the_printed_step(service, server):
    service.log_in(server)
    service.run("mkdir", "moved")
    service.run("mv", ".local/share/oauthctl", "moved/")
    service.environment["XDG_DATA_HOME"] = service.home / "moved"
    # The agent makes an empty folder, and may write to that one alone.
    service.oauthctl("agent", "restart", check=False)
    told = service.oauthctl("get-token", "work", check=False)
    [step] = re.findall(r"(?m)^  run: (.*)$", told.stderr)
    page = service.oauthctl("status", check=False)
    assert step in page.stdout and "--anew" not in page.stdout + told.stderr, page
    service.run("sh", "-c", f"{step}\noauthctl get-token work --force")


def test_the_agent_of_systemd_is_restarted_from_a_shell_with_folders_of_its_own(service, server):
    service.log_in(server)
    before = service.agent
    service.environment["XDG_DATA_HOME"] = service.home / "other"
    # Units stand in the folders that the manager has, not in those of this shell.
    service.run("mkdir", "-p", ".config/systemd/user")
    told = service.oauthctl("agent", "restart")
    assert service.agent not in (0, before) and "unset XDG_DATA_HOME" in told.stderr
    service.systemctl("set-environment", f"XDG_CONFIG_HOME={service.home}/moved")
    told = service.oauthctl("agent", "restart")
    assert "to go back, change XDG_CONFIG_HOME where systemd has that from" in told.stderr, told
    service.systemctl("unset-environment", "XDG_CONFIG_HOME")
    service.oauthctl("agent", "restart")
    assert service.oauthctl("get-token", "work").stdout


def entries(user):
    """The agent's journal entries, as `journalctl -o json` gives them."""
    text = user.machine.run(
        "journalctl", "--no-pager", "-o", "json", "-t", "oauthd", f"_UID={user.uid}", timeout=60).stdout
    return [json.loads(line) for line in text.splitlines()]


def test_the_journal_has_fields_to_look_by_and_no_secret(service, server):
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

    # A drop-in that undoes it is found, and taking it out again and doing as told mends it.
    service.set_unit("90-loose", "[Service]\nNoNewPrivileges=no\n" + "".join(f"{key}\n" for key in (
        "SystemCallFilter=", "SystemCallArchitectures=", "LockPersonality=no", "MemoryDenyWriteExecute=no",
        "RestrictAddressFamilies=", "RestrictNamespaces=no", "RestrictSUIDSGID=no")))
    service.systemctl("restart", "oauthd.service")
    found = look("sandbox")
    assert found["level"] == "wrong" and "have no effect" in found["message"]
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
    ("overwritten", "damaged"), ("not readable", "may not read"), ("a folder of another", "belongs to root")])
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
