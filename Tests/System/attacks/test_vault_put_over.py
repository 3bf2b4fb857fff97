"""An older vault that is put over the one that the agent has open, and the logins that are made after that."""

import pytest

from support.unattended import log_in
from support.vault import vault_command, vault_file

# Their records have ids by lot.
NAMES = [f"work{number}" for number in range(5)]


def log_in_anew(home):
    for name in NAMES:
        home.oauthctl("login", name)
    return [home.oauthctl("get-token", name).stdout for name in NAMES]


@pytest.mark.parametrize("end", ["restart", "lock"])
@pytest.mark.parametrize("kind", ["forgotten", "made anew"])
def test_a_login_that_was_made_over_an_older_vault_is_the_one_that_counts(vault, server, kind, end):
    """The older vault has a record of its own for each account."""
    home, agent = vault, vault.agent
    for name in NAMES:
        log_in(home, server, name)
    copy = home.root / "copy"
    vault_command(home, "backup", copy)
    if kind == "made anew":
        agent.stop()
        for file in vault_file(home).parent.glob("vault.db*"):
            file.unlink()
        agent.start()
        home.oauthctl("vault", "create", "--anew", "--yes")
    else:
        files = {name: (home.config / "oauthctl" / "accounts.d" / f"{name}.toml") for name in NAMES}
        texts = {name: file.read_text() for name, file in files.items()}
        for name in NAMES:
            home.oauthctl("account", "forget", name, "--yes")
            files[name].write_text(texts[name])
            files[name].chmod(0o600)
        home.oauthctl("reload")
    log_in_anew(home)
    draft = vault_file(home).with_name("draft")
    draft.write_bytes(copy.read_bytes())
    draft.chmod(0o600)
    draft.rename(vault_file(home))
    vault_file(home).with_name("vault.db-wal").unlink(missing_ok=True)
    home.oauthctl("vault", "status", check=False)
    tokens = log_in_anew(home)
    if end == "restart":
        agent.restart()
    else:
        vault_command(home, "lock", check=False)
        vault_command(home, "unlock")
    assert [home.oauthctl("get-token", name).stdout for name in NAMES] == tokens
