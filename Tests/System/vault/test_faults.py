"""Changes of the slots, and unlocks, in which a call on a file fails: what is answered is what is so afterwards."""

import pytest

from faults.strace import faults
from network.namespaces import isolated, needs_root, run
from support.login import get_token
from support.vault import key_file, made_vault, seal, set_passphrase, status, vault_command, vault_file
from support.wire import Wire
from vault.steps import OTHER, PASSPHRASE, assert_locked, wire_failure

# The first sync of the log is that of its header, the second that of the commit; with "+" all that follow fail, too.
SYNCS = ("1", "2", "1+", "2+")


def log_file(home):
    return vault_file(home).with_name("vault.db-wal")


def opens(home, secret, *option):
    """Whether this secret opens the vault, which is locked first."""
    vault_command(home, "lock")
    return vault_command(home, "unlock", *option, secrets=[secret], check=False).status == 0


@pytest.mark.parametrize("syncs", SYNCS)
def test_a_new_recovery_code_whose_commit_fails_is_told_or_reported_or_does_not_count(vault, syncs):
    set_passphrase(vault, PASSPHRASE)
    with faults(vault, log_file(vault), "fdatasync", f"error=EIO:when={syncs}"):
        renewal = vault_command(vault, "recovery", "renew", secrets=[PASSPHRASE], check=False)
    assert renewal.status == 0 or "SQLiteFailure" not in renewal.stderr, renewal
    assert renewal.status == 0 or syncs != "2", renewal
    is_untold = status(vault).get("recovery_code_untold", False)
    assert opens(vault, vault.code, "--recovery-code") == (renewal.status != 0 and not is_untold), (renewal, is_untold)
    if renewal.status == 0:
        assert not is_untold and opens(vault, renewal.stdout.strip(), "--recovery-code"), renewal


@pytest.mark.parametrize("syncs", SYNCS)
def test_a_passphrase_whose_commit_fails_counts_if_that_is_answered(vault, syncs):
    set_passphrase(vault, PASSPHRASE)
    with faults(vault, log_file(vault), "fdatasync", f"error=EIO:when={syncs}"):
        change = vault_command(vault, "passphrase", "change", secrets=[PASSPHRASE, OTHER], check=False)
    assert change.status == 0 or syncs != "2", change
    is_new = opens(vault, OTHER, "--passphrase")
    assert opens(vault, PASSPHRASE, "--passphrase") != is_new
    if "whether the change is made" not in change.stderr:
        assert is_new == (change.status == 0 or "the change is made" in change.stderr), change


# A key file that goes with its slot

def remove_key_file(home):
    return vault_command(home, "key-file", "remove", secrets=[PASSPHRASE], check=False)


def assert_key_file_is_told(home):
    """Whoever looks is told that it may still be there."""
    assert key_file(home).exists()
    for command in (("vault", "status"), ("doctor",)):
        words = home.oauthctl(*command, check=False)
        assert "may still be there" in words.stdout + words.stderr and "vault.key" in words.stdout + words.stderr, words


def assert_key_file_is_gone(home):
    """Nor is it told any more."""
    assert "reason" not in status(home)
    assert not key_file(home).exists() and not vault_file(home).with_name("vault.purge").exists()


@pytest.mark.parametrize("syncs", SYNCS)
def test_a_key_file_goes_with_its_slot_where_the_commit_fails(vault, syncs):
    set_passphrase(vault, PASSPHRASE)
    with faults(vault, log_file(vault), "fdatasync", f"error=EIO:when={syncs}"):
        removal = remove_key_file(vault)
    has_slot = "key_file" in status(vault)["slots"]
    assert key_file(vault).exists() == has_slot, removal
    assert removal.status != 0 or not has_slot, removal
    assert removal.status == 0 or syncs != "2", removal


@pytest.mark.parametrize("call", ["pwrite64", "fsync"])
def test_a_key_file_that_cannot_be_overwritten_is_told_until_it_is_gone(vault, call):
    set_passphrase(vault, PASSPHRASE)
    with faults(vault, key_file(vault), call, "error=EIO"):
        removal = remove_key_file(vault)
        assert removal.status != 0 and "the change is made" in removal.stderr, removal
        assert_key_file_is_told(vault)
    assert_key_file_is_gone(vault)


def test_a_key_file_that_a_killed_removal_has_left_is_tried_again_until_it_is_gone(vault):
    set_passphrase(vault, PASSPHRASE)
    with faults(vault, key_file(vault), "pwrite64", "error=EIO:signal=KILL"):
        assert remove_key_file(vault).status != 0
    vault.agent.kill()
    for is_mended in (False, True):
        vault.agent.start()
        if not is_mended:
            with faults(vault, key_file(vault), "pwrite64", "error=EIO"):
                vault_command(vault, "unlock", secrets=[PASSPHRASE])
                assert_key_file_is_told(vault)
            vault.agent.kill()
    vault_command(vault, "unlock", secrets=[PASSPHRASE])
    assert_key_file_is_gone(vault)


@needs_root
def test_a_key_file_in_a_read_only_folder_is_told_until_it_is_gone(home):
    def story():
        home.agent.start()
        made_vault(home)
        set_passphrase(home, PASSPHRASE)
        folder = key_file(home).parent
        run("mount", "--bind", folder, folder)
        home.agent.restart()
        run("mount", "-o", "remount,bind,ro", folder)
        removal = remove_key_file(home)
        assert removal.status != 0 and "the change is made" in removal.stderr, removal
        assert_key_file_is_told(home)
        run("mount", "-o", "remount,bind,rw", folder)
        assert_key_file_is_gone(home)

    isolated(story)


# Unlocks

@pytest.mark.parametrize(("call", "error"), [("unlinkat", "EROFS"), ("unlinkat", "EACCES"), ("fsync", "EIO")])
@pytest.mark.parametrize("is_restarted", [False, True], ids=["", "restarted"])
def test_an_unlock_that_fails_leaves_the_vault_locked(vault, call, error, is_restarted):
    seal(vault, PASSPHRASE)
    vault_command(vault, "lock")
    if is_restarted:
        vault.agent.restart()
    with faults(vault, vault_file(vault).parent, call, f"error={error}"):
        unlock = vault_command(vault, "unlock", secrets=[PASSPHRASE], check=False)
        assert unlock.status == 6 and unlock.stderr, unlock
        assert status(vault)["state"] == "locked"
    with Wire(vault.socket) as wire:
        assert wire_failure(wire, "vault.unlock").failure == "vault_locked"
    assert_locked(vault)
    assert vault_command(vault, "unlock", secrets=[OTHER], check=False).status == 5
    vault_command(vault, "unlock", secrets=[PASSPHRASE])
    assert get_token(vault)
