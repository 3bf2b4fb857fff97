"""Changes of the slots, and unlocks, in which a call on a file fails: what is answered is what is so afterwards."""

import pytest

from faults.strace import faults
from support.vault import set_passphrase, status, vault_command, vault_file
from vault.steps import OTHER, PASSPHRASE

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
