"""The vault as its owner meets it: locked and unlocked, protected, copied, checked, put back, killed in the middle."""

import json
import os
import re
import select
import signal
import sqlite3
from pathlib import Path

import pytest

from faults.strace import VAULT_CALLS, calls_of, start_traced
from support import processes
from support.login import get_token, wait_until
from support.terminal import run_at_terminal
from support.unattended import log_in, refresh
from support.vault import (
    files_of, key_file, made_vault, put_back, same_bytes_in, seal, set_passphrase, slot_row, status,
    vault_command, vault_file)
from support.watch import Watch, files_with
from support.wire import Wire, WireError

NEW = "New passphrase (8 letters at least): "
PASSPHRASE, OTHER = "correct horse battery", "staple of another kind"
CODE = re.compile(r"[0-9A-HJKMNP-TV-Z]{5}(?:-[0-9A-HJKMNP-TV-Z]{5}){5}")
# Of a hash that takes its time: others can be answered meanwhile.
SLOW = "moderate"


def at_terminal(home, *arguments, answers):
    return run_at_terminal(
        home, home.programs / "oauthctl", "vault", *arguments,
        answers={question: answer + "\n" for question, answer in answers.items()})


def assert_locked(home):
    """A caller is told so, with the command that ends it."""
    result = home.oauthctl("get-token", "work", check=False)
    assert (result.status, result.stdout) == (5, "")
    assert "the vault is locked" in result.stderr and "run: oauthctl vault unlock" in result.stderr


def wire_failure(wire, method, **parameters):
    with pytest.raises(WireError) as refused:
        wire.call(method, **parameters)
    return refused.value


def without_agent(home, change):
    """Change files while no agent runs."""
    home.agent.stop()
    change()
    home.agent.start()


def sql(home, statement, *values):
    database = sqlite3.connect(vault_file(home))
    with database:
        database.execute(statement, values)
    database.close()


# Without a vault

@pytest.mark.parametrize("arguments", [
    ("unlock",), ("slots",), ("passphrase", "set"), ("passphrase", "change"), ("passphrase", "remove"),
    ("key-file", "add"), ("key-file", "remove"), ("recovery", "renew"), ("recovery", "remove"), ("rekey",),
    ("backup", "copy"), ("check",), ("check", "copy"), ("accept-rollback",)], ids=" ".join)
def test_where_there_is_no_vault_that_is_said_and_none_is_made(home, agent, arguments):
    result = vault_command(home, *arguments, secrets=[PASSPHRASE, OTHER], check=False)
    assert result.status == 5 and "there is no vault" in result.stderr and "run: oauthctl " in result.stderr
    assert not vault_file(home).exists() and not key_file(home).exists()
    assert vault_command(home, "lock").status == 0 and vault_command(home, "status").lines[0] == "no vault yet"


# What opens it

def test_status_and_slots_tell_what_opens_the_vault(vault):
    assert vault_command(vault, "status").lines == [
        "vault open (key file)", "opens with  key file, recovery code", "path        ~/data/oauthctl/vault.db"]
    set_passphrase(vault, PASSPHRASE)
    assert status(vault) == {
        "path": str(vault_file(vault)), "slots": ["key_file", "recovery_code", "passphrase"], "state": "open"}
    assert [line.split() for line in vault_command(vault, "slots").lines[1:]] == [
        ["1", "key", "file", "-"], ["2", "recovery", "code", "2", "×", "64", "MiB"],
        ["3", "passphrase", "2", "×", "64", "MiB"]]
    slots = json.loads(vault_command(vault, "slots", "--json").stdout)["slots"]
    assert [slot["intact"] for slot in slots] == [True] * 3


def test_a_person_sets_changes_and_removes_a_passphrase_at_a_terminal(vault):
    status, said = at_terminal(
        vault, "passphrase", "set", answers={NEW: PASSPHRASE, "The same again: ": PASSPHRASE})
    assert status == 0 and "is set" in said and "key file still opens" in said
    status, said = at_terminal(vault, "passphrase", "set", answers={})
    assert status == 5 and "run: oauthctl vault passphrase change" in said
    for new, again, why in [("short", "short", "8 bytes"), (OTHER, OTHER + "!", "not the same")]:
        status, said = at_terminal(vault, "passphrase", "change", answers={
            "Current passphrase: ": PASSPHRASE, NEW: new, "The same again: ": again})
        assert status == 64 and why in said
    status, said = at_terminal(vault, "passphrase", "change", answers={
        "Current passphrase: ": PASSPHRASE, NEW: OTHER, "The same again: ": OTHER})
    assert status == 0 and OTHER not in said and PASSPHRASE not in said
    vault_command(vault, "lock")
    status, said = at_terminal(vault, "unlock", "--passphrase", answers={"Passphrase: ": PASSPHRASE})
    assert status == 5 and "not the passphrase" in said
    status, said = at_terminal(vault, "unlock", "--passphrase", answers={"Passphrase: ": OTHER})
    assert status == 0 and "vault open" in said
    status, said = at_terminal(vault, "passphrase", "remove", answers={"Current passphrase: ": OTHER})
    assert status == 0
    vault_command(vault, "lock")
    result = vault_command(vault, "unlock", "--passphrase", secrets=[OTHER], check=False)
    assert result.status != 0 and "has no passphrase" in result.stderr


def test_a_person_unlocks_by_recovery_code_and_accepts_or_not_at_a_terminal(vault):
    vault_command(vault, "lock")
    status, said = at_terminal(
        vault, "unlock", "--recovery-code", answers={"Recovery code: ": vault.code.lower().replace("0", "o")})
    assert status == 0 and "vault open" in said and vault.code.lower() not in said
    copy = files_of(vault)
    refresh(vault, check=True)
    without_agent(vault, lambda: vault_file(vault).write_bytes(copy[vault_file(vault)]))
    status, said = at_terminal(vault, "accept-rollback", answers={"[y/N]": "n"})
    assert status == 1 and "older" in said
    assert refresh(vault).status == 5
    status, said = at_terminal(vault, "accept-rollback", answers={"[y/N]": "y"})
    assert status == 0


def test_what_opens_the_vault_stands_in_no_file_no_argument_and_no_environment(vault):
    with Watch() as watch:
        set_passphrase(vault, PASSPHRASE)
        vault_command(vault, "passphrase", "change", "--strength", "interactive", secrets=[PASSPHRASE, OTHER])
        new = vault_command(vault, "recovery", "renew", secrets=[OTHER]).stdout.strip()
        newer = vault_command(vault, "rekey", secrets=[OTHER]).stdout.strip()
        vault_command(vault, "lock")
        vault_command(vault, "unlock", "--passphrase", secrets=["wrong passphrase"], check=False)
        vault_command(vault, "unlock", "--passphrase", secrets=[OTHER])
        vault_command(vault, "lock")
        vault_command(vault, "unlock", "--recovery-code", secrets=[newer])
    secrets = [PASSPHRASE, OTHER, "wrong passphrase"]
    for code in (vault.code, new, newer):
        assert CODE.fullmatch(code)
        secrets += [code, code.replace("-", "")]
    assert {"oauthctl", "oauthd"} <= watch.seen
    assert watch.places_of(*secrets) == set() and files_with(vault, *secrets) == set()


def test_without_a_key_file_the_vault_is_sealed_until_a_person_comes(vault):
    token = get_token(vault)
    result = vault_command(vault, "key-file", "remove", check=False)
    assert result.status == 8 and "run: oauthctl vault passphrase set" in result.stderr, "nothing else opens it daily"
    seal(vault, PASSPHRASE)
    assert not key_file(vault).exists() and get_token(vault) == token
    result = vault_command(vault, "passphrase", "remove", secrets=[PASSPHRASE], check=False)
    assert result.status == 8 and "run: oauthctl vault key-file add" in result.stderr
    result = vault_command(vault, "lock")
    assert "hold" not in result.stderr and vault_command(vault, "status").lines[0] == "vault locked (sealed)"
    for secret, option in [(PASSPHRASE, ()), (vault.code, ("--recovery-code",))]:
        vault.agent.restart()
        assert_locked(vault)
        vault_command(vault, "unlock", *option, secrets=[secret])
        assert get_token(vault) == token and not key_file(vault).exists()
        vault.agent.kill()
        vault.agent.start()
        assert_locked(vault)
    vault_command(vault, "unlock", secrets=[PASSPHRASE])
    vault_command(vault, "key-file", "add", secrets=[PASSPHRASE])
    vault.agent.restart()
    assert get_token(vault) == token


def test_a_vault_with_a_passphrase_is_changed_by_nobody_without_it(vault):
    set_passphrase(vault, PASSPHRASE)
    former = vault.code
    vault_command(vault, "recovery", "renew", secrets=[PASSPHRASE])
    before = slot_row(vault, 2)
    changes = [("vault.set_slot", {"kind": kind}) for kind in ("key_file", "recovery_code")] + [
        ("vault.set_slot", {"kind": "passphrase", "passphrase": OTHER, "strength": "interactive"}),
        ("vault.remove_slot", {"kind": "recovery_code"}), ("vault.rekey", {})]
    for method, parameters in changes:
        with vault.agent.connect() as wire:
            assert wire_failure(wire, method, **parameters).failure == "not_permitted", method
    current = {"passphrase" if method == "vault.rekey" else "current": OTHER}
    with vault.agent.connect() as wire:
        assert wire_failure(wire, method, **current).failure == "vault_locked"
        assert wire_failure(wire, "vault.set_slot", kind="key_file", current=former).failure == "vault_locked"
    assert slot_row(vault, 2) == before and len(status(vault)["slots"]) == 3


def test_a_recovery_code_replaces_a_forgotten_passphrase(vault):
    set_passphrase(vault, PASSPHRASE)
    vault_command(vault, "lock")
    told = vault_command(vault, "unlock", "--recovery-code", secrets=[vault.code])
    assert "oauthctl vault passphrase change" in told.stderr
    wrong = vault_command(
        vault, "passphrase", "change", secrets=["00000-" * 5 + "00000", OTHER], check=False)
    assert wrong.status == 5
    vault_command(vault, "passphrase", "change", secrets=[vault.code, OTHER])
    vault_command(vault, "lock")
    vault_command(vault, "unlock", "--passphrase", secrets=[OTHER])
    # A new data key is wrapped for the passphrase itself, which nobody else knows.
    with vault.agent.connect() as wire:
        assert wire_failure(wire, "vault.rekey", passphrase=vault.code).failure == "vault_locked"


def test_a_recovery_code_opens_a_vault_whose_key_file_is_gone_and_writes_it_anew(vault):
    token = get_token(vault)
    without_agent(vault, key_file(vault).unlink)
    result = vault.oauthctl("get-token", "work", check=False)
    assert result.status == 5 and result.stderr.rstrip().endswith("oauthctl vault unlock")
    assert status(vault)["state"] == "key_missing"
    # Locked besides: what the key file cannot do is asked of the person at once.
    vault_command(vault, "lock")
    vault_command(vault, "unlock", secrets=[vault.code])
    assert get_token(vault) == token
    vault.agent.restart()
    assert get_token(vault) == token


def test_a_renewed_recovery_code_is_the_only_one(vault):
    new = vault_command(vault, "recovery", "renew").stdout.strip()
    assert CODE.fullmatch(new) and new != vault.code
    vault_command(vault, "lock")
    for code in (vault.code, new[:-1] + ("0" if new[-1] != "0" else "1"), "nothing like it"):
        result = vault_command(vault, "unlock", "--recovery-code", secrets=[code], check=False)
        assert result.status == 5 and "not the recovery code" in result.stderr
    assert_locked(vault)
    vault_command(vault, "unlock", "--recovery-code", secrets=[new])
    vault_command(vault, "recovery", "remove", "--yes")
    assert status(vault)["slots"] == ["key_file"]


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


# Copies

def test_a_backup_put_back_is_the_vault_and_is_checked_as_it_is(vault, server):
    set_passphrase(vault, PASSPHRASE)
    copy = vault.root / "copy"
    said = vault_command(vault, "backup", copy).stderr
    assert copy.stat().st_mode & 0o777 == 0o600 and f"{copy.stat().st_size} bytes" in said
    result = vault_command(vault, "backup", copy, check=False)
    assert result.status == 64 and "is there already" in result.stderr
    own, other = (json.loads(vault_command(vault, "check", *which, "--json").stdout) for which in ([], [copy]))
    assert own == other and own["opened_by"] == "vault_key" and own["records"] == 1
    for option, secret, kind in [
            ("--passphrase", PASSPHRASE, "passphrase"), ("--recovery-code", vault.code, "recovery_code")]:
        answer = json.loads(vault_command(vault, "check", copy, option, "--json", secrets=[secret]).stdout)
        assert answer["opened_by"] == kind
    vault_command(vault, "lock")
    assert json.loads(vault_command(vault, "check", copy, "--json").stdout)["opened_by"] == "key_file"
    vault_command(vault, "unlock")
    for path, word in [("nothing", "nothing: No such file"), (".", "not a file"), ("/dev/zero", "not a file")]:
        result = vault_command(vault, "check", vault.root / path, check=False)
        assert result.status == 3 and word in result.stderr

    token = get_token(vault)
    without_agent(vault, lambda: copy.replace(vault_file(vault)))
    assert get_token(vault) == token
    refresh(vault, check=True)
    assert {path.name for path in vault_file(vault).parent.iterdir()} <= {"vault.db", "vault.db-wal", "vault.lock"}


def test_a_check_takes_away_what_a_killed_one_left(vault):
    copy, folder = vault.root / "copy", vault_file(vault).parent
    vault_command(vault, "backup", copy)
    dead = vault.start("true")
    dead.communicate()
    left = [folder / f"vault.given.{dead.pid}", folder / f"vault.given.{dead.pid}.{dead.pid}.tmp"]
    kept = [folder / f"vault.given.{os.getpid()}", folder / "vault.given.mine"]
    for path in left + kept:
        path.touch(mode=0o600)
    assert vault_command(vault, "check", copy).status == 0
    assert sorted(folder.glob("vault.given.*")) == sorted(kept)


def damaged(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1:]


def test_a_damaged_backup_is_refused_and_names_what_is_damaged(vault):
    copy, bad = vault.root / "copy", vault.root / "bad"
    vault_command(vault, "backup", copy)
    good = copy.read_bytes()
    database = sqlite3.connect(copy)
    parts = {
        "record ": database.execute("SELECT sealed FROM record").fetchone()[0],
        "catalogue": database.execute("SELECT value FROM meta WHERE name = 'catalogue'").fetchone()[0]}
    code = database.execute("SELECT sealed FROM slot WHERE number = 2").fetchone()[0]
    database.close()
    cases = [("database", damaged(good, 100)), ("database: cut short", good[:500]), ("database", good[:5000])]
    cases += [(name, damaged(good, good.index(part[:64]) + 40)) for name, part in parts.items()]
    for name, data in cases:
        bad.write_bytes(data)
        result = vault_command(vault, "check", bad, check=False)
        assert result.status == 5 and f"the copy is damaged: {name}" in result.stderr, result.stderr
    for text in b"", b"hello", b"A list of what to buy.\n" * 100:
        bad.write_bytes(text)
        result = vault_command(vault, "check", bad, check=False)
        assert result.status == 5 and "is no vault" in result.stderr and "damaged" not in result.stderr, result.stderr
    bad.write_bytes(damaged(good, good.index(code) + 40))
    result = vault_command(vault, "check", bad, check=False)
    assert result.status == 5 and "slot 2 (recovery code) is damaged" in result.stderr
    assert vault_command(vault, "check", copy).status == 0


def test_a_damaged_vault_is_named_and_nothing_of_it_is_changed(vault):
    def damage():
        sql(vault, "UPDATE record SET sealed = zeroblob(length(sealed))")
    without_agent(vault, damage)
    # An empty log may come and go.
    before = {path: data for path, data in files_of(vault).items() if data}
    result = vault_command(vault, "check", check=False)
    assert result.status == 5 and "the vault is damaged: record " in result.stderr
    assert vault.oauthctl("get-token", "work", check=False).status == 5
    vault.agent.stop()
    assert {path: data for path, data in files_of(vault).items() if path in before} == before


def test_a_vault_put_back_serves_refreshes_nothing_and_is_healed_when_accepted(vault, server):
    token = get_token(vault)
    vault.agent.stop()
    old = vault_file(vault).read_bytes()
    vault.agent.start()
    newer = refresh(vault, check=True).stdout.strip()
    without_agent(vault, lambda: vault_file(vault).write_bytes(old))
    count = len(server.refreshes())
    assert get_token(vault) == token != newer
    for _ in range(2):
        result = refresh(vault)
        assert result.status == 5 and "oauthctl vault accept-rollback" in result.stderr
        assert status(vault)["rolled_back"] is True
        assert any("older" in line for line in vault.oauthctl("status").lines)
        vault.agent.restart()
    assert vault_command(vault, "rekey", check=False).status == 5
    assert len(server.refreshes()) == count
    result = vault_command(vault, "accept-rollback", check=False)
    assert result.status == 64, "without a terminal it is not asked, and not done"
    vault_command(vault, "accept-rollback", "--yes")
    assert "rolled_back" not in status(vault)
    # The old refresh token is used up, so the server's word is heard now; a new login goes on as ever.
    assert refresh(vault).status == 4 and len(server.refreshes()) == count + 1
    log_in(vault, server)
    refresh(vault, check=True)
    vault.agent.restart()
    assert "rolled_back" not in status(vault)


# What a change leaves behind

@pytest.mark.parametrize("arguments, number", [
    (("passphrase", "change", "--strength", "interactive"), 3), (("passphrase", "remove"), 3),
    (("recovery", "renew"), 2), (("recovery", "remove", "--yes"), 2), (("key-file", "remove"), 1), (("rekey",), 3),
], ids=lambda it: " ".join(it[:2]) if isinstance(it, tuple) else "")
def test_nothing_of_an_old_slot_is_left_in_any_file(vault, arguments, number):
    set_passphrase(vault, PASSPHRASE)
    refresh(vault, check=True)
    *_, salt, sealed = slot_row(vault, number)
    key = key_file(vault).read_bytes()[15:40]
    parts = [part for part in (salt, sealed[:24], sealed[24:], sealed[-32:]) if part]
    assert all(same_bytes_in(vault, part) for part in parts), "the search does find what is there"
    vault_command(vault, *arguments, secrets=[PASSPHRASE, OTHER])
    assert [same_bytes_in(vault, part) for part in parts] == [[]] * len(parts)
    if arguments[0] in ("key-file", "rekey"):
        assert same_bytes_in(vault, key) == []
    vault.agent.kill()
    assert [same_bytes_in(vault, part) for part in parts] == [[]] * len(parts)


# A new key

def test_after_a_rekey_nothing_from_before_opens_it(vault):
    set_passphrase(vault, PASSPHRASE)
    token, old_key, copy = get_token(vault), key_file(vault).read_bytes(), vault.root / "copy"
    vault_command(vault, "backup", copy)
    new = vault_command(vault, "rekey", secrets=[PASSPHRASE]).stdout.strip()
    assert CODE.fullmatch(new) and new != vault.code and get_token(vault) == token
    refresh(vault, check=True)
    assert key_file(vault).read_bytes() != old_key
    vault_command(vault, "lock")
    result = vault_command(vault, "unlock", "--recovery-code", secrets=[vault.code], check=False)
    assert result.status == 5
    vault_command(vault, "unlock", "--passphrase", secrets=[PASSPHRASE])
    # A copy from before is not called damaged without a word about why, and what opened it opens it.
    result = vault_command(vault, "check", copy, check=False)
    assert result.status == 5 and "from before a rekey" in result.stderr
    for option, secret in [("--passphrase", PASSPHRASE), ("--recovery-code", vault.code)]:
        vault_command(vault, "check", copy, option, secrets=[secret])
    without_agent(vault, lambda: key_file(vault).write_bytes(old_key))
    result = vault.oauthctl("get-token", "work", check=False)
    assert result.status == 5 and "unlock --recovery-code" in result.stderr
    vault_command(vault, "unlock", "--recovery-code", secrets=[new])
    vault.agent.restart()
    assert get_token(vault) != token


REKEY_CALLS = (*VAULT_CALLS, "renameat", "unlinkat")
FULL = os.environ.get("PROVE") == "full"


def calls_of_a_rekey(home):
    """[(call, its number in its thread)] of what a rekey does to files, in order."""
    trace = start_traced(home, "-e", "trace=" + ",".join(REKEY_CALLS))
    get_token(home)
    before = len(calls_of(trace, home, REKEY_CALLS))
    vault_command(home, "rekey", secrets=[PASSPHRASE])
    home.agent.kill()
    return [(call, number) for _, call, number, *_ in calls_of(trace, home, REKEY_CALLS)[before:]]


def test_kill_at_any_step_of_a_rekey_leaves_the_old_vault_or_the_new(vault):
    set_passphrase(vault, PASSPHRASE)
    token = get_token(vault)
    vault.agent.stop()
    files, key = files_of(vault), key_file(vault).read_bytes()
    calls = calls_of_a_rekey(vault)
    assert len(calls) >= 20
    renames = [place for place, (call, _) in enumerate(calls) if call.startswith("rename")]
    near = {place + step for place in renames[-2:] for step in (0, 1)}
    places = range(len(calls)) if FULL else sorted({*range(0, len(calls), 8), *near} & {*range(len(calls))})
    outcomes = []
    for place in places:
        call, number = calls[place]
        put_back(vault, files)
        start_traced(
            vault, "-e", "trace=" + ",".join(REKEY_CALLS), "-e", f"inject={call}:signal=KILL:when={number}")
        is_told = vault_command(vault, "rekey", secrets=[PASSPHRASE], check=False).status == 0
        # Which thread writes may differ, and with it the number: then the kill comes afterwards.
        vault.agent.kill()
        vault.agent.start()
        assert get_token(vault) == token, (call, number)
        assert vault_command(vault, "check").status == 0 and "rolled_back" not in status(vault)
        is_new = key_file(vault).read_bytes() != key
        outcomes.append(is_new)
        if is_new:
            assert status(vault).get("recovery_code_untold", False) != is_told, (call, number)
        # The old recovery code opens the old vault alone; key file and passphrase open what is there.
        vault_command(vault, "lock")
        result = vault_command(vault, "unlock", "--recovery-code", secrets=[vault.code], check=False)
        assert result.status == (5 if is_new else 0), (call, number)
        vault_command(vault, "unlock", "--passphrase", secrets=[PASSPHRASE])
        vault.agent.restart()
        assert get_token(vault) == token
        vault.agent.stop()
    print(f"{len(calls)} calls of a rekey, {len(outcomes)} kills: {sum(outcomes)} leave the new vault, the rest old")
    assert set(outcomes) == {False, True}, "kills on both sides of the rename"


def calls_of_a_creation(home):
    """[(call, its number in its thread)] of what making a vault does to files, in order."""
    trace = start_traced(home, "-e", "trace=" + ",".join(REKEY_CALLS))
    made_vault(home)
    home.agent.kill()
    return [(call, number) for _, call, number, *_ in calls_of(trace, home, REKEY_CALLS)]


def test_kill_at_any_step_of_making_a_vault_hides_no_recovery_code(home, server):
    calls = calls_of_a_creation(home)
    renames = [place for place, (call, _) in enumerate(calls) if call.startswith("rename")]
    places = range(len(calls)) if FULL else sorted({0, len(calls) - 1, *renames, *(place + 1 for place in renames)})
    outcomes = set()
    for place in places:
        call, number = calls[place]
        for path in files_of(home):
            path.unlink()
        start_traced(home, "-e", "trace=" + ",".join(REKEY_CALLS), "-e", f"inject={call}:signal=KILL:when={number}")
        is_told = home.oauthctl("vault", "create", check=False).status == 0
        home.agent.kill()
        home.agent.start()
        is_made = status(home)["state"] != "absent"
        assert vault_command(home, "check", check=False).status == (0 if is_made else 5)
        assert status(home).get("recovery_code_untold", False) == (is_made and not is_told), (call, number)
        outcomes.add((is_made, is_told))
        home.agent.kill()
    print(f"{len(calls)} calls of making a vault, {len(places)} kills")
    assert {(False, False), (True, False)} <= outcomes, "kills on both sides of the rename"


def test_a_login_that_makes_the_vault_by_itself_hides_no_recovery_code(home, server):
    """A caller in another language may not have asked for a vault first."""
    home.agent.start()
    file = home.config / "oauthctl" / "accounts.d" / "work.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'issuer = "{server.issuer}"\nclient_id = "dev"\n')
    home.oauthctl("reload")
    with Wire(home.socket) as wire:
        begun = wire.call("login.start", account="work", request_id="one")
        home.run(home.environment["BROWSER"], begun["authorization_url"])
        wire.call("login.wait", login_id=begun["login_id"])
    assert get_token(home) and status(home)["recovery_code_untold"] is True
    result = home.oauthctl("vault", "status")
    assert "shown to nobody" in result.stderr and "oauthctl vault recovery renew" in result.stderr
    vault_command(home, "recovery", "renew")
    assert "recovery_code_untold" not in status(home)


# What doctor says, and that it helps

def examine(home):
    """The finding about the vault that is not ok, or None."""
    report = json.loads(home.oauthctl("doctor", "--json", check=False).stdout)
    found = [it for it in report["findings"] if it["check"] == "vault" and it["level"] != "ok"]
    assert len(found) <= 1
    return found[0] if found else None


def broken_slot(number):
    def damage(home):
        without_agent(home, lambda: sql(home, "UPDATE slot SET sealed = zeroblob(72) WHERE number = ?", number))
    return damage


def rolled_back(home):
    home.agent.stop()
    old = vault_file(home).read_bytes()
    home.agent.start()
    refresh(home, check=True)
    without_agent(home, lambda: vault_file(home).write_bytes(old))


@pytest.mark.parametrize("damage, level, word, answers", [
    (lambda home: vault_command(home, "lock"), "note", "a hold", []),
    (lambda home: without_agent(home, key_file(home).unlink), "wrong", "is not", [PASSPHRASE]),
    (broken_slot(1), "wrong", "slot 1", ["code"]), (broken_slot(2), "wrong", "recovery code is damaged", [PASSPHRASE]),
    (broken_slot(3), "wrong", "passphrase is damaged", [OTHER]), (rolled_back, "wrong", "older", []),
    (lambda home: vault_command(home, "recovery", "remove", "--yes", secrets=[PASSPHRASE]), "note", "no recovery code",
     [PASSPHRASE]),
    (lambda home: (vault_file(home).parent / "vault.untold").touch(mode=0o600), "note", "shown to nobody",
     [PASSPHRASE]),
], ids=["held", "key file gone", "slot 1", "slot 2", "slot 3", "rolled back", "no code", "code untold"])
def test_doctor_finds_what_is_wrong_with_the_vault_and_its_fix_helps(vault, damage, level, word, answers):
    set_passphrase(vault, PASSPHRASE)
    assert examine(vault) is None
    damage(vault)
    vault.oauthctl("status", check=False)
    finding = examine(vault)
    assert finding["level"] == level and word in finding["message"], finding
    for command in finding["fix"].partition("#")[0].split(" && "):
        words = command.split()
        assert words[:2] == ["oauthctl", "vault"]
        # Without a terminal two of them want to be told more.
        words += {"accept-rollback": ["--yes"], "set": ["--strength", "interactive"]}.get(words[-1], [])
        vault_command(vault, *words[2:], secrets=[vault.code if it == "code" else it for it in answers])
    assert examine(vault) is None
    assert vault_command(vault, "check").status == 0
    if "older" not in word:
        refresh(vault, check=True)
