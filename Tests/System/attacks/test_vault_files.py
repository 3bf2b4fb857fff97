"""What other programs do to the files of an open vault.

Each test is the attack: it was seen to succeed before the program was mended."""

import os
import sqlite3
import threading

import pytest

from faults.strace import faults
from network.namespaces import isolated, needs_root, run
from support.disk import fill
from support.login import wait_until
from support.unattended import log_in, refresh
from support.vault import key_file, made_vault, seal, set_passphrase, status, vault_command, vault_file


def put_over(home, backup):
    """As mv and most programs that synchronise do."""
    draft = vault_file(home).with_name("draft")
    draft.write_bytes(backup.read_bytes())
    draft.chmod(0o600)
    draft.rename(vault_file(home))


def outdated(home, server):
    """A backup that the vault has gone on from. Its log is folded: the next has a part of what the catalogue names."""
    backup = home.root / "old.db"
    log_in(home, server, "first")
    vault_command(home, "backup", backup)
    log_in(home, server, "second")
    refresh(home, check=True)
    home.agent.restart()
    return backup


def log_of(home):
    return vault_file(home).with_name("vault.db-wal")


@pytest.mark.parametrize("also", ["nothing", "a new time", "the same bytes"])
def test_nothing_is_lost_where_the_log_of_the_open_vault_is_taken_away(vault, server, also):
    refresh(vault, check=True)
    if also == "a new time":
        vault_file(vault).touch()
    elif also == "the same bytes":
        vault_file(vault).write_bytes(vault_file(vault).read_bytes())
    log_of(vault).unlink()
    log_in(vault, server, "second")
    refresh(vault, check=True)
    vault.agent.kill()
    vault.agent.start()
    assert "rolled_back" not in status(vault)
    vault.oauthctl("get-token", "second")
    refresh(vault, check=True)


@needs_root
@pytest.mark.parametrize("look", ["status", "check", "refresh", "stop"])
def test_nothing_is_lost_where_the_log_is_taken_away_and_the_disk_is_full(home, server, look):
    """Its only copy is what the agent has open, and there is no room for another one."""
    def story():
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home.data)
        home.agent.start()
        made_vault(home)
        for name in ("work", "other"):
            log_in(home, server, name)
        fill(home.data / "filler")
        log_of(home).unlink()
        if look == "refresh":
            assert "No space left" in refresh(home).stderr
        elif look != "stop":
            vault_command(home, look, check=False)
        if look == "stop":
            # Who has been told ends it by the signal.
            refused = home.oauthctl("agent", "stop", check=False)
            assert refused.status == 1 and f"kill {home.agent.process.pid}" in refused.stderr, refused
            told = vault_command(home, "status")
            assert "No space left" in told.stderr and "it alone has what was written last" in told.stderr, told
            home.agent.stop()
            assert "what the agent alone had is lost" in home.agent.log.read_text()
            (home.data / "filler").unlink()
        else:
            (home.data / "filler").unlink()
            assert status(home)["state"] == "open"
            home.agent.kill()
        home.agent.start()
        return status(home), [home.oauthctl("get-token", name, check=False) for name in ("work", "other")]

    now, tokens = isolated(story)
    if look == "stop":
        # The log went with the process: what is left is whole, and told to be older.
        assert now["state"] == "open" and now["rolled_back"], now
    else:
        assert "rolled_back" not in now and all(token.status == 0 for token in tokens), (now, tokens)


@pytest.mark.parametrize("call", ["sendfile", "fsync", "renameat"])
def test_a_kill_while_the_log_is_put_back_leaves_a_whole_vault(vault, call):
    log_of(vault).unlink()
    draft = log_of(vault).with_name("vault.db-wal.new")
    with faults(vault, draft.parent if call == "renameat" else draft, call, "signal=SIGKILL:when=1"):
        vault_command(vault, "status", check=False)
        wait_until(lambda: not vault.agent.is_running, 10, "the agent is killed")
    vault.agent.kill()
    vault.agent.start()
    assert status(vault)["state"] == "open" and not draft.exists()


@pytest.mark.parametrize("name", ["vault.db", "vault.db-wal"])
def test_no_login_that_is_confirmed_is_lost_behind_a_file_that_was_overwritten_in_place(vault, server, name):
    """The time of the last write is put back, too."""
    if name == "vault.db":
        vault.agent.stop()
        vault.agent.start()
        status(vault)
    path = vault_file(vault).with_name(name)
    before = path.stat()
    head = 4096 if name == "vault.db" else 32
    with path.open("r+b") as file:
        file.seek(head)
        file.write(bytes(before.st_size - head))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    login = vault.oauthctl("login", "second", server.issuer, "--client-id", "dev", "--scope", "read", check=False)
    now = status(vault)
    assert now["state"] == "damaged" or now["rolled_back"], (login, now)
    vault.agent.kill()
    vault.agent.start()
    assert login.status != 0 or vault.oauthctl("get-token", "second").stdout


@pytest.mark.parametrize("way", ["in place", "by rename", "in place, without the log", "during a commit"])
def test_no_login_is_confirmed_over_a_backup_that_was_put_back_under_the_agent(vault, server, way):
    """The log of now over the rows of then: it has a catalogue, and looks whole by the rows' names."""
    backup = outdated(vault, server)
    log_in(vault, server, "third")
    if way == "by rename":
        put_over(vault, backup)
    elif way == "during a commit":
        with faults(vault, log_of(vault), "fdatasync", "delay_enter=900000:when=1"):
            refreshing = threading.Thread(target=refresh, args=[vault])
            before = log_of(vault).stat()
            refreshing.start()
            # The pages are in the log, and its fdatasync waits.
            wait_until(lambda: log_of(vault).stat().st_mtime_ns != before.st_mtime_ns, 10, "the commit has begun")
            vault_file(vault).write_bytes(backup.read_bytes())
            refreshing.join()
    else:
        vault_file(vault).write_bytes(backup.read_bytes())
    if way.endswith("without the log"):
        log_of(vault).unlink()
        assert status(vault)["rolled_back"]
    login = vault.oauthctl("login", "fourth", server.issuer, "--client-id", "dev", "--scope", "read", check=False)
    now = status(vault)
    if way.endswith("without the log"):
        assert now["state"] == "open" and now["rolled_back"], now
    else:
        assert now["state"] == "damaged" and login.status != 0, (now, login)
        # It ends, as whoever puts the vault right needs it, and not without a word.
        assert "damaged" in vault.oauthctl("agent", "stop").stderr
    vault.agent.kill()
    vault.agent.start()
    assert status(vault)["state"] == now["state"]
    assert login.status != 0 or vault.oauthctl("get-token", "fourth").stdout


@pytest.mark.parametrize("way", ["killed", "locked", "ended"])
def test_a_damaged_vault_is_left_as_it_was_found_and_told(vault, server, way):
    """Whoever has put a backup over it, and forgot the log, or took the wrong one, mends that by what is left."""
    backup = outdated(vault, server)
    refresh(vault, check=True)
    if way == "killed":
        vault.agent.kill()
    before = vault_file(vault).read_bytes()
    vault_file(vault).write_bytes(backup.read_bytes())
    if way == "killed":
        vault.agent.start()
        assert status(vault)["state"] == "damaged"
    elif way == "ended":
        vault.agent.stop()
        assert "what the agent alone had is lost: the vault is damaged" in vault.agent.log.read_text()
    else:
        locked = vault_command(vault, "lock", check=False)
        assert locked.status != 0 and "The vault is locked." in locked.stderr and "damaged" in locked.stderr, locked
        assert "damaged" in vault_command(vault, "unlock", check=False).stderr
    found = log_of(vault).read_bytes()
    if way != "ended":
        vault.agent.kill()
    assert vault_file(vault).read_bytes() == backup.read_bytes() and log_of(vault).read_bytes() == found != b""
    vault_file(vault).write_bytes(before)
    vault.agent.start()
    vault_command(vault, "unlock", check=False)
    assert "rolled_back" not in status(vault)
    for name in ("work", "first", "second"):
        vault.oauthctl("get-token", name)


@pytest.mark.parametrize("agent", ["runs", "runs, by rename", "is locked", "ends", "was killed"])
def test_a_backup_put_back_under_the_log_of_now_brings_no_passphrase_back_unseen(vault, server, agent):
    backup = vault.root / "old.db"
    set_passphrase(vault, "one passphrase")
    vault_command(vault, "backup", backup)
    vault_command(vault, "passphrase", "change", secrets=["one passphrase", "two passphrases"])
    # Folds the log.
    vault.agent.restart()
    refresh(vault, check=True)
    right = vault_file(vault).read_bytes()
    if agent == "was killed":
        vault.agent.kill()
    if agent.endswith("by rename"):
        put_over(vault, backup)
    else:
        vault_file(vault).write_bytes(backup.read_bytes())
    if agent == "was killed":
        vault.agent.start()
        said = vault_command(vault, "status", check=False)
        assert "its passphrase is damaged, or an older one" in said.stderr, said
        # The right one is put back, too.
        vault_file(vault).write_bytes(right)
    elif agent.startswith("runs"):
        log_in(vault, server, "second")
    if agent == "ends":
        vault.agent.stop()
    else:
        vault_command(vault, "lock")
        vault.agent.kill()
    vault.agent.start()
    vault_command(vault, "lock")
    vault_command(vault, "unlock", "--passphrase", secrets=["two passphrases"])
    vault.oauthctl("get-token", "second" if agent.startswith("runs") else "work")


@pytest.mark.parametrize("change", ["mode", "a second name for a moment"])
def test_who_changes_no_byte_of_the_vault_disturbs_nothing(vault, server, change):
    for path in (vault_file(vault), log_of(vault)):
        if change == "mode":
            path.chmod(0o400)
            path.chmod(0o600)
        else:
            os.link(path, path.with_name("copy"))
            path.with_name("copy").unlink()
        log_in(vault, server, "second")
        refresh(vault, check=True)


@pytest.mark.parametrize("way", ["added", "unlocked"])
def test_a_sealed_vault_leaves_no_key_file_that_was_set_aside(vault, way):
    """With the slot out of an old backup it opened the vault of today."""
    backup = vault.root / "old.db"
    vault_command(vault, "backup", backup)
    leaked = key_file(vault).read_bytes()
    if way == "added":
        seal(vault, "a passphrase")
        key_file(vault).touch(mode=0o600)
        key_file(vault).write_bytes(leaked)
        vault_command(vault, "key-file", "add", secrets=["a passphrase"])
    else:
        vault.agent.stop()
        with sqlite3.connect(vault_file(vault)) as database:
            database.execute("UPDATE slot SET sealed = zeroblob(length(sealed)) WHERE number = 1")
        database.close()
        vault.agent.start()
        vault_command(vault, "unlock", "--recovery-code", secrets=[vault.code])
        set_passphrase(vault, "a passphrase")
    assert key_file(vault).with_name("vault.key.damaged").read_bytes() == leaked
    vault_command(vault, "key-file", "remove", secrets=["a passphrase"])
    assert not [path for path in key_file(vault).parent.iterdir() if path.name.startswith("vault.key")]
