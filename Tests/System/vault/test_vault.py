"""The vault as its owner meets it: locked and unlocked, protected, copied, checked, put back, killed in the middle."""

import json

import pytest

from support.login import get_token
from support.terminal import run_at_terminal
from support.unattended import refresh
from support.vault import files_of, key_file, seal, set_passphrase, slot_row, status, vault_command, vault_file
from support.watch import Watch, files_with
from vault.steps import CODE, OTHER, PASSPHRASE, assert_locked, wire_failure, without_agent

NEW = "New passphrase (8 letters at least): "


def at_terminal(home, *arguments, answers, until=None):
    return run_at_terminal(
        home, home.programs / "oauthctl", "vault", *arguments, until=until,
        answers={question: answer + "\n" for question, answer in answers.items()})


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
    before = status(vault)["vault_digest"]
    set_passphrase(vault, PASSPHRASE)
    now = status(vault)
    assert now.pop("vault_digest") != before, "it opens in another way"
    assert now == {
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
            "Current passphrase: ": PASSPHRASE, NEW: new, "The same again: ": again}, until="once more:")
        assert status is None and why in said
    status, said = at_terminal(vault, "passphrase", "change", answers={
        "Current passphrase: ": PASSPHRASE, NEW: OTHER, "The same again: ": OTHER})
    assert status == 0 and OTHER not in said and PASSPHRASE not in said
    vault_command(vault, "lock")
    _, said = at_terminal(vault, "unlock", "--passphrase", answers={"Passphrase: ": PASSPHRASE}, until="once more:")
    assert "not the passphrase" in said
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
