"""A new key, and what a change of what opens the vault leaves behind: killed at any step, too."""

import os

import pytest

from faults.strace import VAULT_CALLS, calls_of, start_traced
from network.namespaces import isolated, needs_root, run
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


@needs_root
def test_a_rekey_whose_key_file_cannot_be_replaced_tells_its_code_and_opens_the_vault(vault):
    """As in a container whose key file is a mount."""
    set_passphrase(vault, PASSPHRASE)
    vault.agent.stop()

    def story():
        run("mount", "--bind", key_file(vault), key_file(vault))
        vault.agent.start()
        code = vault_command(vault, "rekey", secrets=[PASSPHRASE]).stdout.strip()
        for _ in range(2):
            assert get_token(vault) and "could not be replaced" in status(vault)["reason"]
            vault.agent.restart()
        again = vault_command(vault, "rekey", secrets=[PASSPHRASE], check=False)
        assert again.status != 0 and CODE.fullmatch(code) and "recovery_code_untold" not in status(vault)
        vault_command(vault, "lock")
        vault_command(vault, "unlock", "--recovery-code", secrets=[code])
        vault.agent.stop()

    isolated(story)
    vault.agent.start()
    assert get_token(vault) and "reason" not in status(vault)
    assert not key_file(vault).with_name("vault.key.next").exists()


def test_a_rekey_is_refused_where_something_else_has_the_name_of_the_key_file(vault):
    key = key_file(vault).read_bytes()
    key_file(vault).unlink()
    key_file(vault).mkdir(mode=0o700)
    result = vault_command(vault, "rekey", check=False)
    assert result.status != 0 and "vault.key" in result.stderr, result
    key_file(vault).rmdir()
    key_file(vault).write_bytes(key)
    key_file(vault).chmod(0o600)
    vault.agent.restart()
    assert get_token(vault) and vault_command(vault, "check").status == 0


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
        is_untold = status(home).get("recovery_code_untold", False)
        # Killed while it notes that somebody has the code, which is the last call, it warns once too often.
        assert is_untold == (is_made and not is_told) or is_told and place == places[-1], (call, number)
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
    copied = home.oauthctl("vault", "backup", home.root / "copy")
    assert "no code opens this copy\n  run: oauthctl vault recovery renew\n" in copied.stderr, copied
    vault_command(home, "recovery", "renew")
    assert "recovery_code_untold" not in status(home)


@pytest.mark.parametrize("method, parameters", [
    ("vault.set_slot", {"kind": "recovery_code"}), ("vault.rekey", {})], ids=["renew", "rekey"])
def test_a_new_recovery_code_counts_as_unknown_until_its_caller_confirms_it(vault, method, parameters):
    """As when the command is interrupted before it has shown the code."""
    with Wire(vault.socket, timeout=120) as wire:
        code = wire.call(method, confirms_code=True, **parameters)["recovery_code"]
    vault.agent.restart()
    assert status(vault)["recovery_code_untold"] is True
    assert "oauthctl vault recovery renew" in vault.oauthctl("vault", "status").stderr
    with Wire(vault.socket, timeout=120) as wire:
        newer = wire.call(method, confirms_code=True, **parameters)["recovery_code"]
        wire.call("vault.confirm_code", recovery_code=code)
        assert status(vault)["recovery_code_untold"] is True, "that was another one"
        wire.call("vault.confirm_code", recovery_code=newer)
    assert "recovery_code_untold" not in status(vault)


@pytest.mark.parametrize("arguments", ["recovery renew", "rekey"])
def test_a_new_recovery_code_that_could_not_be_written_counts_as_unknown(vault, arguments):
    run_it = f'exec "$0" vault {arguments} >/dev/full'
    failed = vault.run("sh", "-c", run_it, vault.programs / "oauthctl", check=False)
    assert failed.status == 1 and "nobody has it now" in failed.stderr, failed
    assert status(vault)["recovery_code_untold"] is True
    vault_command(vault, "recovery", "renew")
    assert "recovery_code_untold" not in status(vault)


@pytest.mark.parametrize("stream", ["/dev/full", "/dev/null", "&-"])
def test_a_first_login_whose_words_nobody_sees_hides_no_recovery_code(home, server, stream):
    home.agent.start()
    home.run("sh", "-c", f'exec "$0" login work {server.issuer} --client-id dev 2>{stream}', home.programs / "oauthctl")
    assert get_token(home) and status(home)["recovery_code_untold"] is True
