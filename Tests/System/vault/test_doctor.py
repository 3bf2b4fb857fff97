"""What doctor says about the vault, and that it helps."""

import json

import pytest

from support.unattended import refresh
from support.vault import key_file, set_passphrase, vault_command, vault_file
from vault.steps import OTHER, PASSPHRASE, sql, without_agent


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
