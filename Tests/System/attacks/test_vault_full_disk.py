"""A backup that lies over the open vault while the disk is full."""

from attacks.test_vault_files import log_of, outdated
from network.namespaces import isolated, needs_root, run
from support.disk import fill
from support.unattended import log_in, refresh
from support.vault import made_vault, set_passphrase, status, vault_command, vault_file


@needs_root
def test_a_log_is_not_put_back_over_a_backup_after_a_lock(home, server):
    """The disk was full when the vault was locked; with room again the two made a vault that nothing opens."""
    def story():
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home.data)
        home.agent.start()
        made_vault(home)
        log_in(home, server, "work")
        backup = outdated(home, server)
        log_in(home, server, "third")
        fill(home.data / "filler")
        with vault_file(home).open("r+b") as file:
            file.write(backup.read_bytes())
            file.truncate()
        log_of(home).unlink()
        locked = vault_command(home, "lock", check=False)
        (home.data / "filler").unlink()
        vault_command(home, "unlock")
        return locked, status(home), home.oauthctl("get-token", "first", check=False)

    locked, now, token = isolated(story)
    assert locked.status != 0 and "The vault is locked." in locked.stderr, locked
    assert now["state"] == "open" and now["rolled_back"] and token.status == 0, (now, token)


@needs_root
def test_an_agent_that_alone_has_the_newer_passphrase_is_not_stopped_unseen(home, server):
    """A backup lies over the open vault, and the disk is full."""
    def story():
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home.data)
        home.agent.start()
        made_vault(home)
        log_in(home, server, "work")
        backup = home.root / "old.db"
        set_passphrase(home, "one passphrase")
        vault_command(home, "backup", backup)
        vault_command(home, "passphrase", "change", secrets=["one passphrase", "two passphrases"])
        # Folds the log.
        home.agent.restart()
        refresh(home, check=True)
        fill(home.data / "filler")
        with vault_file(home).open("r+b") as file:
            file.write(backup.read_bytes())
            file.truncate()
        told = status(home)
        return told, home.oauthctl("agent", "stop", check=False)

    told, refused = isolated(story)
    assert told.get("log_lost"), told
    assert refused.status == 1 and "the agent alone has what was written to the vault last" in refused.stderr, refused
