"""What a question or a prompt about the vault binds, and what is changed while it stands.

Each test is the attack: it was seen to succeed before the program was mended."""

import contextlib
import os
import sqlite3

import pytest

from support.home import Home
from support.login import wait_until
from support.terminal import run_at_terminal
from support.unattended import log_in, refresh
from support.vault import (
    counter_file, files_of, kept_vault, key_file, made_vault, put_back, put_vault, set_passphrase, status,
    vault_command, vault_file)
from vault.steps import CODE

OLD, NEW = "leaked passphrase", "new and secret"


# An agent of other folders takes the socket

@pytest.fixture
def other(vault, server):
    """Variables of another agent of the same user, with a vault of its own; `vault`'s agent runs."""
    folders = {name: vault.root / "other" / name for name in ("data", "state")}
    for folder in folders.values():
        folder.mkdir(parents=True, mode=0o700)
    variables = {f"XDG_{name.upper()}_HOME": str(folder) for name, folder in folders.items()}
    vault.agent.stop()
    vault.agent.start(environment=variables)
    made_vault(vault)
    vault.agent.stop()
    vault.agent.start()
    return variables


def exchanged(home, variables, answer):
    def act():
        home.agent.stop()
        home.agent.start(environment=variables)
        return answer + "\n"
    return act


@pytest.mark.parametrize("command", ["passphrase set", "recovery remove"])
def test_what_was_asked_about_one_vault_is_not_done_to_another(vault, other, command):
    answers = {
        "passphrase set": {"New passphrase": exchanged(vault, other, NEW), "same again": NEW + "\n"},
        "recovery remove": {"[y/N]": exchanged(vault, other, "y")},
    }[command]
    ended, shown = run_at_terminal(vault, vault.programs / "oauthctl", "vault", *command.split(), answers=answers)
    now = status(vault)
    assert now["path"].startswith(str(vault.root / "other"))
    assert ended != 0 and "nothing is changed" in shown and now["slots"] == ["key_file", "recovery_code"], (shown, now)


def test_a_yes_to_a_new_vault_is_not_one_for_another_that_is_away(vault, other):
    folder = vault.root / "other" / "data" / "oauthctl"
    folder.rename(folder.with_name("away"))
    vault.agent.stop()
    (vault.data / "oauthctl").rename(vault.data / "away")
    vault.agent.start()
    ended, shown = run_at_terminal(
        vault, vault.programs / "oauthctl", "vault", "create", "--anew",
        answers={"[y/N]": exchanged(vault, other, "y")})
    assert ended != 0 and "nothing is changed" in shown and not (folder / "vault.db").exists()


@pytest.mark.parametrize("was", ["gone", "damaged"])
def test_a_yes_to_a_new_vault_is_none_to_one_that_is_being_put_back(vault, was):
    """A copy that has begun looks like a damaged vault, and its counter is the one that the new vault would take."""
    vault.agent.stop()
    whole, counter = vault_file(vault).read_bytes(), counter_file(vault).read_bytes()
    for file in vault_file(vault).parent.glob("vault.db*"):
        file.unlink()
    if was == "damaged":
        vault_file(vault).touch(mode=0o600)
        vault_file(vault).write_bytes(b"x" * 20_000)
    vault.agent.start()
    copies = []

    def begin():
        copies.append(open(vault_file(vault), "wb", buffering=0, opener=lambda *of: os.open(*of, 0o600)))
        copies[0].write(whole[:2_000])
        return "y\n"

    ended, shown = run_at_terminal(
        vault, vault.programs / "oauthctl", "vault", "create", "--anew", answers={"[y/N]": begin})
    with copies[0] as copy:
        copy.write(whole[2_000:])
    assert ended != 0 and "nothing is changed" in shown and counter_file(vault).read_bytes() == counter, shown
    assert vault_file(vault).read_bytes() == whole and not list(vault_file(vault).parent.glob("*.damaged*"))
    wait_until(lambda: status(vault)["state"] == "open", 20, "the vault that was put back")
    refresh(vault, check=True)


@pytest.mark.parametrize("when", ["before the question", "under it"])
def test_a_yes_to_a_new_vault_is_none_to_a_good_one_that_was_put_back_behind_a_lock(vault, when):
    """Its ways to open it are those of the damaged one, and what the agent found before it was locked is no news."""
    vault.agent.stop()
    whole = vault_file(vault).read_bytes()
    with contextlib.closing(sqlite3.connect(vault_file(vault))) as database, database:
        database.execute("update meta set value = randomblob(length(value)) where name = 'catalogue'")
    vault.agent.start()
    vault.oauthctl("get-token", "work", check=False)
    vault_command(vault, "lock", check=False)

    def restore():
        new = vault_file(vault).with_name("restored")
        new.touch(mode=0o600)
        new.write_bytes(whole)
        new.rename(vault_file(vault))
        return "y\n"

    if when == "before the question":
        restore()
        assert status(vault)["state"] == "locked"
    ended, shown = run_at_terminal(
        vault, vault.programs / "oauthctl", "vault", "create", "--anew", answers={"[y/N]": restore})
    assert ended != 0 and vault_file(vault).read_bytes() == whole, shown
    assert not list(vault_file(vault).parent.glob("*.damaged*"))
    vault_command(vault, "unlock")
    refresh(vault, check=True)


@pytest.mark.parametrize("how", ["gone", "another"])
def test_a_yes_to_what_opens_the_vault_then_is_none_where_less_does(vault, how):
    set_passphrase(vault, NEW)

    def lose():
        key_file(vault).unlink() if how == "gone" else key_file(vault).write_bytes(os.urandom(64))
        return "y\n"

    ended, shown = run_at_terminal(
        vault, vault.programs / "oauthctl", "vault", "recovery", "remove",
        answers={"[y/N]": lose, "Current passphrase": NEW + "\n"})
    assert ended != 0 and "nothing is changed" in shown, shown
    assert any(slot.startswith("recovery_code") for slot in status(vault)["slots"])


# Another vault takes the place

def test_a_yes_to_one_older_vault_is_none_to_another_that_is_as_old(vault, server):
    """Two machines have made as many commits from one backup."""
    vault.agent.stop()
    backup, forks = files_of(vault), []
    for _ in range(2):
        vault.agent.start()
        log_in(vault, server, "mine")
        vault.agent.stop()
        forks.append(vault_file(vault).read_bytes())
        if len(forks) < 2:
            put_back(vault, backup)
    vault.agent.start()
    for _ in range(3):
        refresh(vault, check=True)
    put_vault(vault, forks[0])
    first = status(vault)
    ended, shown = run_at_terminal(
        vault, vault.programs / "oauthctl", "vault", "accept-rollback",
        answers={"[y/N]": lambda: put_vault(vault, forks[1]) or "y\n"})
    now = status(vault)
    assert ended != 0 and "was replaced since you were asked" in shown and now["rolled_back"]
    assert (now["rollback_found"], now["rollback_expected"]) == (first["rollback_found"], first["rollback_expected"])


def test_who_changes_a_passphrase_is_told_that_the_vault_is_an_older_one(vault):
    set_passphrase(vault, OLD)
    older = kept_vault(vault)
    refresh(vault, check=True)
    ended, shown = run_at_terminal(
        vault, vault.programs / "oauthctl", "vault", "passphrase", "change", "--strength", "interactive",
        answers={
            "Current passphrase": lambda: put_vault(vault, older) or OLD + "\n", "New passphrase": NEW + "\n",
            "same again": NEW + "\n"})
    assert ended == 0 and "oauthctl vault accept-rollback" in shown, shown


# A key file comes back

@pytest.mark.parametrize("way", ["unlock", "add"])
def test_a_leaked_key_file_that_comes_back_after_a_rekey_opens_nothing(vault, programs, scratch, way):
    leaked = key_file(vault).read_bytes()
    if way == "add":
        set_passphrase(vault, NEW)
    told = vault_command(vault, "rekey", secrets=[NEW] if way == "add" else ())
    vault.agent.stop()
    key_file(vault).write_bytes(leaked)
    vault.agent.start()
    if way == "add":
        vault_command(vault, "unlock", "--passphrase", secrets=[NEW])
        vault_command(vault, "key-file", "add", secrets=[NEW])
    else:
        vault_command(vault, "unlock", "--recovery-code", secrets=[CODE.search(told.stdout)[0]])
    vault.agent.stop()
    root = scratch / f"thief-{way}"
    root.mkdir(mode=0o700)
    thief = Home(root, programs)
    files = {path: path.read_bytes() for path in vault_file(vault).parent.glob("vault.db*")}
    (thief.data / "oauthctl").mkdir(mode=0o700)
    (thief.state / "oauthctl").mkdir(mode=0o700)
    put_back(thief, {thief.data / "oauthctl" / path.name: data for path, data in files.items()} | {
        key_file(thief): leaked})
    thief.agent.start()
    try:
        assert status(thief)["state"] == "damaged"
    finally:
        thief.agent.stop()
    vault.agent.start()
    refresh(vault, check=True)
