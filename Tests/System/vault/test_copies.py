"""Copies of the vault: made, checked, put back, damaged."""

import fcntl
import json
import os
import re
import signal
import sqlite3

import pytest

from faults.strace import strace
from support.login import get_token, wait_until
from support.unattended import log_in, refresh
from support.vault import files_of, seal, set_passphrase, status, vault_command, vault_file
from vault.steps import PASSPHRASE, sql, without_agent


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


def test_a_backup_is_put_back_after_a_kill_once_the_log_is_removed(vault, server):
    """SQLite would play the log of the vault before it over the backup."""
    copy, log = vault.root / "copy", vault_file(vault).with_name("vault.db-wal")
    vault_command(vault, "backup", copy)
    token = get_token(vault)
    refresh(vault, check=True)
    vault.agent.kill()
    assert log.stat().st_size > 0
    copy.replace(vault_file(vault))
    log.unlink()
    vault.agent.start()
    assert get_token(vault) == token


def test_a_check_takes_away_what_a_killed_one_left(vault):
    copy, folder = vault.root / "copy", vault_file(vault).parent
    vault_command(vault, "backup", copy)
    # The first process lives always: a number that was given out again tells nothing.
    left = [folder / "vault.given.1", folder / "vault.given.1.1.tmp"]
    kept = [folder / f"vault.given.{os.getpid()}", folder / "vault.given.mine"]
    for path in left + kept:
        path.touch(mode=0o600)
    with kept[0].open("r+") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        assert vault_command(vault, "check", copy).status == 0
        assert sorted(folder.glob("vault.given.*")) == sorted(kept)
    assert vault_command(vault, "check", copy).status == 0
    assert sorted(folder.glob("vault.given.*")) == kept[1:]


def test_a_copy_of_the_open_vault_s_file_alone_is_told_to_be_behind(vault, server):
    copy = vault.root / "copy"
    vault_command(vault, "backup", copy)
    assert "behind" not in vault_command(vault, "check", copy).stderr
    refresh(vault, check=True)
    copy.write_bytes(vault_file(vault).read_bytes())
    said = vault_command(vault, "check", copy).stderr
    assert "behind the vault, which has 1 record: logins and refreshes since it was made, or" in said, said
    assert "oauthctl vault backup FILE" in said, said
    log = vault.root / "copy-wal"
    log.write_bytes(vault_file(vault).with_name("vault.db-wal").read_bytes())
    said = vault_command(vault, "check", copy).stderr
    assert "/copy-wal, which lies beside it, was not read." in said and "since it was made" not in said, said
    log.unlink()
    answer = json.loads(vault_command(vault, "check", copy, "--json").stdout)
    assert answer["vault"]["records"] == 1 and answer["vault"]["commit"] > answer["commit"]
    # The vault's own file is the vault, with its log.
    said = vault_command(vault, "check", vault_file(vault)).stderr
    assert said.startswith("Good: 1 record,") and "behind" not in said, said
    vault_command(vault, "lock")
    assert "not compared" in vault_command(vault, "check", copy).stderr


def test_a_check_says_where_no_key_file_here_opens_the_copy(vault):
    copy = vault.root / "copy"
    vault_command(vault, "backup", copy)
    assert "No key file" not in vault_command(vault, "check", copy).stderr
    set_passphrase(vault, PASSPHRASE)
    vault_command(vault, "key-file", "remove", secrets=[PASSPHRASE])
    for change in None, "add":
        if change:
            vault_command(vault, "key-file", change, secrets=[PASSPHRASE])
        said = vault_command(vault, "check", copy).stderr
        assert "2 ways" in said and "No key file here opens it: its recovery code does." in said, said
    vault_command(vault, "lock")
    refused = vault_command(vault, "check", copy, check=False)
    assert refused.status == 5 and "or its key file was replaced" in refused.stderr, refused.stderr


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
    cases += [
        ("database: cut short, or something lies behind it", data)
        for data in (good[:-1], good[:-2000], good + b"behind it")]
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


def test_a_backup_names_the_agent_s_account_files_and_not_those_of_this_shell(vault):
    said = vault.oauthctl("vault", "backup", vault.root / "copy", environment={"XDG_CONFIG_HOME": str(vault.root)})
    assert f"Copy them too: {vault.shown(vault.config / 'oauthctl')}\n" in said.stderr, said


def test_a_backup_can_be_written_where_there_are_no_hard_links(vault):
    """As on a stick: FAT and exFAT have none."""
    stick = vault.root / "stick"
    stick.mkdir()
    # Its files have names from the beginning, and one name each.
    mask = ["strace", "-f", "-o", vault.root / "trace", "-P", stick, "-P", stick / "copy",
            "-e", "inject=openat:error=EOPNOTSUPP", "-e", "inject=link,linkat:error=EPERM"]
    said = vault.run(*mask, vault.programs / "oauthctl", "vault", "backup", stick / "copy")
    assert [file.name for file in stick.iterdir()] == ["copy"], said
    assert "Good" in vault.oauthctl("vault", "check", stick / "copy").stderr


@pytest.mark.parametrize("is_locked", [False, True], ids=["open", "locked"])
def test_a_copy_without_a_passphrase_is_not_called_good_by_one(vault, is_locked):
    """It would be trusted to open by that on another machine."""
    copy = vault.root / "copy"
    vault_command(vault, "backup", copy)
    set_passphrase(vault, "a passphrase")
    if is_locked:
        vault_command(vault, "lock")
    for passphrase in ("a passphrase", "no such passphrase"):
        told = vault_command(vault, "check", copy, "--passphrase", secrets=[passphrase], check=False)
        assert told.status != 0 and "the copy has no passphrase" in told.stderr, told


@pytest.mark.parametrize("meanwhile", ["rekey", "lock"])
def test_no_backup_that_was_begun_before_is_there_after_a_change_of_what_opens_the_vault(vault, meanwhile):
    """The command stands still while it writes its file, and goes on afterwards."""
    seal(vault, PASSPHRASE)
    copy = vault.root / "backup"
    trace, command = strace(vault, "-e", "trace=linkat", "-e", "inject=linkat:signal=STOP:when=1")
    running = vault.start(*command, vault.programs / "oauthctl", "vault", "backup", copy)
    wait_until(lambda: trace.exists() and "stopped by SIGSTOP" in trace.read_text(), 20, "it stands still")
    stopped = int(re.search(r"^(\d+) .*stopped by SIGSTOP", trace.read_text(), re.MULTILINE)[1])
    vault.oauthctl("vault", meanwhile, stdin=PASSPHRASE + "\n" if meanwhile == "rekey" else None)
    os.kill(stopped, signal.SIGCONT)
    _, told = running.communicate(timeout=30)
    assert running.returncode == 3 and "was locked or changed" in told and not copy.exists(), told


def test_a_backup_that_is_given_up_takes_no_file_away_that_another_has_made(vault):
    """The command stands still behind its copy; another one makes the file anew."""
    copy = vault.root / "backup"
    trace, command = strace(vault, "-e", "trace=linkat", "-e", "inject=linkat:signal=STOP:when=1")
    running = vault.start(*command, vault.programs / "oauthctl", "vault", "backup", copy)
    wait_until(lambda: trace.exists() and "stopped by SIGSTOP" in trace.read_text(), 20, "it stands still")
    stopped = int(re.search(r"^(\d+) .*stopped by SIGSTOP", trace.read_text(), re.MULTILINE)[1])
    assert copy.exists()
    vault.oauthctl("vault", "rekey")
    copy.unlink()
    vault.oauthctl("vault", "backup", copy)
    os.kill(stopped, signal.SIGCONT)
    running.communicate(timeout=30)
    assert running.returncode == 3 and copy.exists()
