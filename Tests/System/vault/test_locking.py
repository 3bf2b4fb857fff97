"""Locking: what is under way is waited for, and a guess delays nobody."""

import json
import re
import select
import signal
from pathlib import Path

import pytest

from support import processes
from support.login import get_token, wait_until
from support.terminal import run_at_terminal
from support.unattended import refresh
from support.vault import seal, set_passphrase, vault_command, vault_file
from vault.steps import PASSPHRASE, assert_locked, wire_failure

# Of a hash that takes its time: others can be answered meanwhile.
SLOW = "moderate"


# Locking

def test_a_lock_holds_over_restart_and_kill_until_somebody_unlocks(vault):
    token = get_token(vault)
    result = vault_command(vault, "lock")
    assert "a hold, not a seal" in result.stderr
    seal = ("unlock", "passphrase set", "key-file remove")
    assert "run: " + " && ".join(f"oauthctl vault {it}" for it in seal) in result.stderr
    assert_locked(vault)
    assert vault_command(vault, "status").lines[0] == "vault locked (a hold: its key file opens it)"
    for end in (vault.agent.kill, vault.agent.stop):
        end()
        vault.agent.start()
        assert_locked(vault)
    with vault.agent.connect() as wire:
        for method, parameters in [
                ("token.get", {"account": "work"}), ("token.reject", {"account": "work", "rejected": {"token": token}}),
                ("logout", {"account": "work"}), ("account.forget", {"account": "work"}), ("vault.rekey", {}),
                ("login.start", {"account": "work", "request_id": "r"}), ("vault.backup", {}), ("vault.check", {}),
                ("vault.set_slot", {"kind": "recovery_code"}), ("vault.remove_slot", {"kind": "recovery_code"})]:
            assert wire_failure(wire, method, **parameters).failure == "vault_locked", method
        assert [(it["account"], it["state"]) for it in wire.call("account.list")["accounts"]] == [("work", "locked")]
    vault_command(vault, "lock")
    vault_command(vault, "unlock")
    assert get_token(vault) == token
    vault.agent.restart()
    assert get_token(vault) == token


@pytest.mark.parametrize("command", ["passphrase change", "key-file add", "recovery renew"])
def test_a_lock_that_comes_while_a_passphrase_is_typed_stays(vault, command):
    """The passphrase was tried by an unlock, which ended the lock, and then the command was given up."""
    seal(vault, PASSPHRASE)

    def lock_and_type():
        vault_command(vault, "lock")
        return PASSPHRASE + "\n"

    status, said = run_at_terminal(
        vault, vault.programs / "oauthctl", "vault", *command.split(),
        answers={"Current passphrase: ": lock_and_type, "New passphrase": "\x03"})
    assert status == 5 and "the vault is locked" in said, said
    assert_locked(vault)


def slow_refresh(home, server):
    """A refresh under way at a server that does not answer; returns its caller.

    The state `refreshing` would not do: it is there before the request is sent, and a lock then sends none.
    """
    processes.stop(server.process.pid)
    caller = home.start(home.programs / "oauthctl", "get-token", "work", "--force")
    wait_until(server.has_unread_request, 20, "the server has the request")
    return caller


def start_lock(home):
    """`oauthctl vault lock` that has something to wait for, once it is known on disk."""
    command = home.start(home.programs / "oauthctl", "vault", "lock")
    wait_until(vault_file(home).with_name("vault.held").exists, 20, "the lock is on disk")
    return command


@pytest.mark.parametrize("death", [False, True], ids=["lives", "killed after the lock"])
def test_a_lock_waits_for_a_refresh_under_way_and_keeps_what_comes(vault, server, death):
    """The server allows no second use of a refresh token: a lost answer would end the login."""
    token = get_token(vault)
    caller = slow_refresh(vault, server)
    command = start_lock(vault)
    # Whoever waited, and whoever comes, is told at once; the lock itself is not over.
    assert caller.communicate(timeout=30)[0] == "" and caller.returncode == 5
    assert_locked(vault)
    assert command.poll() is None, "it waits for the server"
    server.process.send_signal(signal.SIGCONT)
    _, said = command.communicate(timeout=60)
    assert command.returncode == 0 and "had not answered" not in said
    if death:
        vault.agent.kill()
        vault.agent.start()
    assert_locked(vault)
    vault_command(vault, "unlock")
    assert get_token(vault) != token, "the answer was kept"
    assert [entry["status"] for entry in server.refreshes()] == [200]
    refresh(vault, check=True)
    assert [entry["status"] for entry in server.refreshes()] == [200, 200]


def test_a_lock_that_still_waits_outlives_the_agent(vault, server):
    caller = slow_refresh(vault, server)
    command = start_lock(vault)
    vault.agent.kill()
    for process in (caller, command):
        process.communicate(timeout=30)
    vault.agent.start()
    assert_locked(vault)


# Guessing

def assert_not_answered(wire):
    assert select.select([wire.socket], [], [], 0)[0] == [], "the hash was over first: nothing was measured"


def test_a_wrong_passphrase_delays_nobody_who_wants_a_token(vault, server):
    set_passphrase(vault, PASSPHRASE, SLOW)
    refreshed = 0
    with vault.agent.connect() as guesser, vault.agent.connect() as caller:
        for attempt in range(4):
            guesser.request("vault.set_slot", kind="recovery_code", current=f"wrong {attempt}")
            # Ready tokens, and once what the vault has to be written for, while the hash is computed.
            for _ in range(5):
                caller.call("token.get", account="work")
            if attempt == 0:
                refresh(vault, check=True)
                refreshed += 1
            assert_not_answered(guesser)
            assert json.loads(guesser.read_line())["error"]["data"]["failure"] == "vault_locked"
        # From now on the guesser waits, at once told how long; nobody else does.
        error = wire_failure(guesser, "vault.set_slot", kind="recovery_code", current=PASSPHRASE)
        assert error.failure == "rate_limited" and 0 < error.data["retry_after_ms"] <= 1000
        caller.call("token.get", account="work")
        result = vault_command(vault, "recovery", "renew", secrets=[PASSPHRASE], check=False)
        assert result.status in (0, 6) and ("try again in 1 s" in result.stderr or result.status == 0)

        def renewed():
            return vault_command(vault, "recovery", "renew", secrets=[PASSPHRASE], check=False).status == 0
        wait_until(renewed, 20, "the wait is over")
        # The right one was given: no wait is left.
        wire_failure(guesser, "vault.set_slot", kind="recovery_code", current="wrong again")
        assert renewed()
    assert len(server.refreshes()) == refreshed


def peak_kib(home):
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{home.agent.process.pid}/status").read_text())
    return int(found.group(1))


def test_one_hash_is_computed_at_a_time_four_wait_and_the_sixth_is_refused(vault):
    set_passphrase(vault, PASSPHRASE, SLOW)
    one = peak_kib(vault)
    assert one > 256 << 10, "a hash that takes its memory"
    vault_command(vault, "lock")
    wires = [vault.agent.connect() for _ in range(6)]
    try:
        for wire in wires:
            wire.request("vault.unlock", passphrase="wrong passphrase")
        answers = [json.loads(wire.read_line())["error"]["data"]["failure"] for wire in wires]
    finally:
        for wire in wires:
            wire.close()
    assert sorted(answers) == ["overloaded"] + ["vault_locked"] * 5
    assert peak_kib(vault) < one + (128 << 10), "never the memory of two"
