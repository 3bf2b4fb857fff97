"""Attacks on the vault by a program of the same user that knows an old secret, and by a file that is to be checked."""

import json
import signal
import socket
import sqlite3
import threading
from pathlib import Path

import pytest

from support.login import get_token
from support.terminal import run_at_terminal
from support.unattended import refresh
from support.vault import kept_vault, put_vault, set_passphrase, status, vault_command, vault_file
from support.wire import Wire

LEAKED, NEW, THEIRS = "leaked passphrase", "new and secret", "the thief's own"


# Secrets of before

def both(home, *requests):
    """The answers of requests that are all made before the first is answered."""
    wires = [Wire(home.socket, timeout=120) for _ in requests]
    try:
        for wire, (method, parameters) in zip(wires, requests):
            wire.request(method, **parameters)
        return [json.loads(wire.read_line()) for wire in wires]
    finally:
        for wire in wires:
            wire.close()


def opens(home, passphrase):
    """Whether a copy of the vault, as it is now, opens by this passphrase."""
    copy = home.root / "copy"
    vault_command(home, "backup", copy)
    result = vault_command(home, "check", copy, "--passphrase", "--json", secrets=[passphrase], check=False)
    copy.unlink()
    # A copy without a passphrase is opened by the key of the vault.
    return result.status == 0 and json.loads(result.stdout)["opened_by"] == "passphrase"


@pytest.mark.parametrize("change", ["set", "change", "renew", "rekey"])
def test_who_proved_an_old_secret_puts_none_of_his_own_into_the_vault_after_it_was_replaced(vault, change):
    if change == "change":
        set_passphrase(vault, LEAKED)
    if change == "renew":
        set_passphrase(vault, NEW)
    slot = {"kind": "passphrase", "strength": "interactive"}
    mine = {
        "set": ("vault.set_slot", {**slot, "passphrase": NEW}),
        "change": ("vault.set_slot", {**slot, "passphrase": NEW, "current": LEAKED}),
        "renew": ("vault.set_slot", {"kind": "recovery_code", "current": NEW}),
        "rekey": ("vault.rekey", {}),
    }[change]
    current = {"set": {}, "change": {"current": LEAKED}}.get(change, {"current": vault.code})
    theirs = ("vault.set_slot", {**slot, "passphrase": THEIRS, **current})
    if change == "rekey":
        # It has one hash to make, and he has two.
        thief, owner = both(vault, theirs, mine)
    else:
        owner, thief = both(vault, mine, theirs)
    assert ("result" in owner) != ("result" in thief), "one of them was told that nothing was done"
    assert opens(vault, THEIRS) == ("result" in thief)
    if change != "rekey":
        assert opens(vault, NEW) == ("result" in owner)


# Backups

def test_backups_at_once_are_each_a_whole_copy_of_its_own(vault):
    copies = [vault.root / f"copy{number}" for number in range(4)]
    commands = [vault.start(vault.programs / "oauthctl", "vault", "backup", copy) for copy in copies]
    for command in commands:
        _, said = command.communicate(timeout=60)
        assert command.returncode == 0, said
    for copy in copies:
        vault_command(vault, "check", copy)


def test_a_backup_that_waits_to_be_taken_away_is_not_replaced_by_the_next(vault):
    with Wire(vault.socket) as wire:
        first, second = wire.call("vault.backup"), wire.call("vault.backup")
    for answer in (first, second):
        assert Path(answer["path"]).stat().st_size == answer["bytes"]
        vault_command(vault, "check", answer["path"])
    assert first["path"] != second["path"]


# Files to be checked

def copy_with(home, *statements):
    """A backup with a passphrase, to which somebody has done this."""
    copy = home.root / "copy"
    vault_command(home, "backup", copy)
    database = sqlite3.connect(copy, isolation_level=None)
    for statement in ("PRAGMA journal_mode=DELETE", "PRAGMA synchronous=OFF", *statements, "PRAGMA journal_mode=WAL"):
        database.execute(statement)
    database.close()
    return copy


def peak_kib(home):
    status = Path(f"/proc/{home.agent.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


ROWS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)"


@pytest.mark.parametrize("statements, options, word", [
    ([f"INSERT INTO record {ROWS} SELECT CAST(printf('%032d', i) AS BLOB), x'00' FROM n"], [],
     "300000 rows that the catalogue does not know"),
    (["PRAGMA writable_schema=ON",
      f"INSERT INTO sqlite_schema {ROWS} "
      "SELECT 'view', 'v' || i, 'v' || i, 0, 'CREATE VIEW v' || i || ' AS SELECT 1' FROM n"],
     [], "its tables"),
    ([f"INSERT INTO slot {ROWS} SELECT i + 9, i + 9, 0, 0, x'00', x'00' FROM n"], [], "so many slots"),
    (["UPDATE slot SET passes = 16, memory_kib = 2097152 WHERE kind = 3"], ["--passphrase"], "is the most"),
], ids=["rows", "views", "slots", "hash"])
def test_no_file_that_is_checked_takes_the_agent_s_memory(vault, statements, options, word):
    set_passphrase(vault, LEAKED)
    copy = copy_with(vault, *statements)
    vault.agent.restart()
    assert get_token(vault)
    before = peak_kib(vault)
    result = vault_command(vault, "check", copy, *options, secrets=[LEAKED] if options else (), check=False)
    assert result.status == 5 and word in result.stderr
    assert peak_kib(vault) < before + (8 << 10)
    refresh(vault, check=True)


def test_a_file_too_large_for_a_vault_is_refused_before_a_byte_of_it_is_copied(vault):
    sparse = vault.root / "sparse"
    with sparse.open("wb") as file:
        file.truncate((1 << 30) + 1)
    result = vault_command(vault, "check", sparse, check=False)
    assert result.status == 3 and "more than the 1024 that a copy may have" in result.stderr
    with Wire(vault.socket) as wire:
        wire.request("vault.check", path=str(sparse))
        assert "1024 MiB is the most" in json.loads(wire.read_line())["error"]["message"]
    folder = vault_file(vault).parent
    assert not list(folder.glob("vault.check*")) and not list(folder.glob("vault.given*"))


class Relay:
    """A socket before the agent's that passes everything on but the request to check a copy, until `go` is set."""

    def __init__(self, home):
        self.path, self.came, self.go = home.root / "relay.sock", threading.Event(), threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.path.chmod(0o600)
        self.listener.listen()
        threading.Thread(target=self.serve, args=(str(home.socket),), daemon=True).start()

    def serve(self, agent):
        while True:
            caller, _ = self.listener.accept()
            upward = socket.socket(socket.AF_UNIX)
            upward.connect(agent)
            for ends in ((caller, upward), (upward, caller)):
                threading.Thread(target=self.copy, args=ends, daemon=True).start()

    def copy(self, source, target):
        while data := source.recv(65536):
            if b'"vault.check"' in data:
                self.came.set()
                self.go.wait(60)
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def test_a_copy_that_a_stopped_check_holds_does_not_outlive_a_change(vault):
    """Nobody knows how long it stays stopped, and the copy opens by the passphrase of before."""
    set_passphrase(vault, LEAKED)
    copy, folder, relay = vault.root / "mine", vault_file(vault).parent, Relay(vault)
    vault_command(vault, "backup", copy)
    check = vault.start(
        vault.programs / "oauthctl", "vault", "check", copy, environment={"OAUTHCTL_SOCKET": str(relay.path)})
    assert relay.came.wait(20) and list(folder.glob("vault.given.*"))
    check.send_signal(signal.SIGSTOP)
    with Wire(vault.socket) as wire:
        wire.call("vault.set_slot", kind="passphrase", strength="interactive", passphrase=NEW, current=LEAKED)
    assert not list(folder.glob("vault.given.*")) and opens(vault, NEW) and not opens(vault, LEAKED)
    check.send_signal(signal.SIGCONT)
    relay.go.set()
    _, said = check.communicate(timeout=20)
    assert check.returncode == 3 and "took the copy away" in said and "oauthctl vault check ~/mine" in said, said


# An old vault put back

def test_what_is_accepted_is_the_old_vault_that_was_asked_about(vault):
    older = kept_vault(vault)
    refresh(vault, check=True)
    old = kept_vault(vault)
    refresh(vault, check=True)
    put_vault(vault, old)
    asked = status(vault)
    assert asked["rolled_back"] and asked["rollback_found"] < asked["rollback_expected"]
    ended, shown = run_at_terminal(
        vault, vault.programs / "oauthctl", "vault", "accept-rollback",
        answers={"[y/N]": lambda: put_vault(vault, older) or "y\n"})
    assert ended != 0 and "was replaced since you were asked" in shown
    now = status(vault)
    assert now["rolled_back"] and now["rollback_found"] < asked["rollback_found"]
    vault_command(vault, "accept-rollback", "--yes")
    assert "rolled_back" not in status(vault)
