"""A new key, and what a change of what opens the vault leaves behind: killed at any step, too."""

import os

import pytest

from faults.strace import VAULT_CALLS, calls_of, start_traced
from support.login import get_token
from support.unattended import refresh
from support.vault import (
    files_of, key_file, made_vault, put_back, same_bytes_in, set_passphrase, slot_row, status, vault_command)
from support.wire import Wire
from vault.steps import CODE, OTHER, PASSPHRASE, without_agent


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
