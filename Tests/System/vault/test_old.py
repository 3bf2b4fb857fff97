"""What of an old vault is of use to somebody: copies that failed steps leave, and an old vault put back."""

import sqlite3

import pytest

from faults.strace import VAULT_CALLS, calls_of, start_traced, strace
from support.login import get_token, wait_until
from support.unattended import log_in, refresh
from support.vault import (
    counter_file, files_of, key_file, made_vault, set_passphrase, status, vault_command, vault_file)
from support.wire import Wire

PASSPHRASE, OTHER = "correct horse battery", "staple of another kind"
OWN = {"vault.db", "vault.db-wal", "vault.lock", "vault.key", "vault.commits"}
CALLS = (*VAULT_CALLS, "renameat", "unlinkat")


@pytest.fixture
def vault(vault):
    """One that a passphrase opens, too."""
    set_passphrase(vault, PASSPHRASE)
    return vault


def leftovers(home):
    """Files of the vault's folders that a vault in use does not need."""
    return {path for path in files_of(home) if path.name not in OWN}


def opened_by(home, passphrase):
    """The files of the vault's folders, but the vault, that a thief who knows this passphrase could read."""
    found = set()
    for path in leftovers(home):
        stolen = home.root / "stolen"
        stolen.write_bytes(path.read_bytes())
        if vault_command(home, "check", stolen, "--passphrase", secrets=[passphrase], check=False).status == 0:
            found.add(path.name)
        stolen.unlink()
    return found


def ask_and_leave(home):
    """Somebody asks for a copy and dies before taking it away."""
    with Wire(home.socket) as wire:
        return wire.call("vault.backup")["path"]


# Copies

@pytest.mark.parametrize("target", ["missing/copy", "agent.log/copy", "data/oauthctl/vault.lock"])
def test_a_backup_that_fails_leaves_nothing_that_the_old_passphrase_opens(vault, target):
    assert vault_command(vault, "backup", vault.root / target, check=False).status != 0
    vault_command(vault, "passphrase", "change", "--strength", "interactive", secrets=[PASSPHRASE, OTHER])
    assert opened_by(vault, PASSPHRASE) == set()
    assert leftovers(vault) == set()


def test_the_names_of_the_agents_own_copies_are_no_place_for_a_backup(vault):
    for name in ("vault.backup", "vault.check", "vault.mine"):
        result = vault_command(vault, "backup", vault_file(vault).parent / name, check=False)
        assert result.status == 64 and "choose another place" in result.stderr
    # One of these is tried as the key, and would keep a held vault from opening.
    for name in ("vault.key.next", "vault.key.new", "vault.commits.new"):
        result = vault_command(vault, "backup", vault.state / "oauthctl" / name, check=False)
        assert result.status == 64 and "choose another place" in result.stderr
    copy = vault_file(vault).parent / "mine.vault"
    vault_command(vault, "backup", copy)
    vault_command(vault, "rekey", secrets=[PASSPHRASE])
    assert leftovers(vault) == {copy}, "what the user named is the user's"


@pytest.mark.parametrize("change, secrets", [
    (("passphrase", "change", "--strength", "interactive"), [PASSPHRASE, OTHER]), (("rekey",), [PASSPHRASE]),
    (("recovery", "renew"), [PASSPHRASE]), (("key-file", "remove"), [PASSPHRASE]), (("lock",), [])],
    ids=lambda it: it[0] if isinstance(it, tuple) else "")
def test_a_copy_that_nobody_took_away_does_not_outlive_a_change(vault, change, secrets):
    path = ask_and_leave(vault)
    assert {str(path) for path in leftovers(vault)} == {path}
    vault_command(vault, *change, secrets=secrets)
    assert {path.name for path in leftovers(vault)} <= {"vault.held"}


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_copy_that_nobody_took_away_does_not_outlive_the_agent(vault, end):
    ask_and_leave(vault)
    getattr(vault.agent, end)()
    vault.agent.start()
    assert get_token(vault) and leftovers(vault) == set()


def test_a_backup_whose_command_is_killed_leaves_nothing_anywhere(vault):
    target = vault.root / "target"
    target.mkdir()
    for call in ("linkat", "fsync"):
        _, command = strace(vault, "-e", f"inject={call}:signal=KILL", vault.programs / "oauthctl")
        vault.run(*command, "vault", "backup", target / "copy", check=False)
        assert leftovers(vault) == set(), call
        # A file that the kill came too late for has its name.
        assert {path.name for path in target.iterdir()} <= {"copy"}
        (target / "copy").unlink(missing_ok=True)


def steps_of(home, action):
    """[(call, its number in its thread)] of what `action` makes a fresh agent do to files, in order."""
    trace = start_traced(home, "-e", "trace=" + ",".join(CALLS))
    get_token(home)
    before = len(calls_of(trace, home, CALLS))
    action()
    home.agent.kill()
    return [(call, number) for _, call, number, *_ in calls_of(trace, home, CALLS)[before:]]


@pytest.mark.parametrize("name", ["backup", "check"])
def test_an_agent_killed_while_it_copies_leaves_nothing_to_the_next(vault, name):
    copy = vault.root / "copy"
    vault_command(vault, "backup", copy)
    vault.agent.stop()

    def action(check=True):
        if name == "backup":
            vault_command(vault, "backup", vault.root / "other", check=check)
            (vault.root / "other").unlink(missing_ok=True)
        else:
            vault_command(vault, "check", copy, check=check)
    steps, has_left = steps_of(vault, action), False
    assert len(steps) >= 2
    # A check has a thread of its own, where no other call of this name is made.
    sure = [("sendfile", 1)] if name == "check" else []
    for call, number in sure + steps[::max(1, len(steps) // 5)]:
        start_traced(
            vault, "-e", "trace=" + ",".join((*CALLS, "sendfile")),
            "-e", f"inject={call}:signal=KILL:when={number}")
        action(check=False)
        vault.agent.kill()
        has_left |= leftovers(vault) != set()
        vault.agent.start()
        assert get_token(vault) and leftovers(vault) == set(), (call, number)
        vault.agent.stop()
    assert has_left, "a kill that leaves something"


# An old vault

def put_back_from_before(vault, use):
    """What the vault's file was before `use`, in its place again; the agent has ended."""
    vault.agent.stop()
    old = vault_file(vault).read_bytes()
    vault.agent.start()
    use()
    vault.agent.stop()
    vault_file(vault).write_bytes(old)


def make_folder(path):
    path.unlink()
    path.mkdir(mode=0o700)


def take_from_another(home, path):
    """The counter of a vault that somebody else has."""
    path.write_bytes(bytes(range(128)))


LOSSES = {
    "removed": lambda home, path: path.unlink(), "cut": lambda home, path: path.write_bytes(b"123"),
    "another's": take_from_another, "readable": lambda home, path: path.chmod(0o644),
    "a folder": lambda home, path: make_folder(path)}


@pytest.mark.parametrize("loss", LOSSES)
def test_an_old_vault_put_back_without_its_counter_refreshes_nothing(vault, server, loss):
    token = get_token(vault)
    put_back_from_before(vault, lambda: refresh(vault, check=True))
    LOSSES[loss](vault, counter_file(vault))
    vault.agent.start()
    count = len(server.refreshes())
    for _ in range(2):
        assert get_token(vault) == token, "what is there is served"
        result = refresh(vault)
        assert result.status == 5 and "oauthctl vault accept-rollback" in result.stderr
        assert status(vault)["rolled_back"] is True and "vault.commits" in status(vault)["reason"]
        vault.agent.restart()
    assert len(server.refreshes()) == count, "the used refresh token was not sent"
    if loss in ("readable", "a folder"):
        result = vault_command(vault, "accept-rollback", "--yes", check=False)
        assert result.status != 0 and status(vault)["rolled_back"] is True, "what cannot be remembered is not accepted"
        counter_file(vault).rmdir() if loss == "a folder" else counter_file(vault).chmod(0o600)
    vault_command(vault, "accept-rollback", "--yes")
    assert refresh(vault).status == 4 and len(server.refreshes()) == count + 1
    vault.agent.restart()
    assert "rolled_back" not in status(vault) and counter_file(vault).stat().st_size == 128


def test_the_vault_from_just_before_a_rekey_is_old_at_once(vault, server):
    vault.agent.stop()
    old = {path: path.read_bytes() for path in (vault_file(vault), key_file(vault))}
    vault.agent.start()
    vault_command(vault, "rekey", secrets=[PASSPHRASE])
    assert "rolled_back" not in status(vault)
    vault.agent.stop()
    for path, data in old.items():
        path.write_bytes(data)
    vault.agent.start()
    count = len(server.refreshes())
    assert refresh(vault).status == 5 and status(vault)["rolled_back"] is True
    assert len(server.refreshes()) == count


@pytest.mark.parametrize("is_lost", [False, True], ids=["counter there", "counter lost"])
def test_a_login_on_an_old_vault_is_refreshed_after_restarts_and_the_others_are_held(vault, server, is_lost):
    log_in(vault, server, "other")
    put_back_from_before(vault, lambda: [refresh(vault, account, check=True) for account in ("work", "other")])
    if is_lost:
        counter_file(vault).unlink()
    vault.agent.start()
    log_in(vault, server)
    count = len(server.refreshes())
    for end in (vault.agent.stop, vault.agent.kill, vault.agent.stop):
        end()
        vault.agent.start()
        refresh(vault, check=True)
        result = refresh(vault, "other")
        assert result.status == 5 and "oauthctl login other" in result.stderr
        assert status(vault)["rolled_back"] is True
    assert len(server.refreshes()) == count + 3, "nothing was sent for the other"
    # Now the state after the login is an old one, too.
    put_back_from_before(vault, lambda: refresh(vault, check=True))
    vault.agent.start()
    assert refresh(vault).status == 5 and len(server.refreshes()) == count + 4
    vault_command(vault, "accept-rollback", "--yes")
    log_in(vault, server)
    vault.agent.restart()
    assert refresh(vault).status == 0 and "rolled_back" not in status(vault)


def test_what_is_not_old_is_not_called_so(home, server):
    """A vault that was just made, one that goes on, one whose agent is killed, one with a new key."""
    home.agent.start()
    made_vault(home)
    home.agent.stop()
    # As a power cut between the vault and its counter leaves it.
    counter_file(home).unlink()
    home.agent.start()
    log_in(home, server)
    for end in (home.agent.stop, home.agent.kill, home.agent.kill):
        refresh(home, check=True)
        end()
        home.agent.start()
        assert get_token(home) and "rolled_back" not in status(home)
    home.oauthctl("vault", "rekey")
    for end in (home.agent.kill, home.agent.stop):
        end()
        home.agent.start()
        assert get_token(home) and "rolled_back" not in status(home)


def test_a_thief_reads_no_old_key_in_a_copy_of_before(vault):
    """The attack as a whole: the passphrase of before, known to somebody, and a copy that a full disk left."""
    path = ask_and_leave(vault)
    stolen = vault.root / "stolen"
    stolen.write_bytes(vault_file(vault).with_name(path.rpartition("/")[2]).read_bytes())
    assert vault_command(vault, "check", stolen, "--passphrase", secrets=[PASSPHRASE]).status == 0, "such a copy opens"
    database = sqlite3.connect(stolen)
    (sealed,) = database.execute("SELECT sealed FROM slot WHERE number = 3").fetchone()
    database.close()
    vault_command(vault, "passphrase", "change", "--strength", "interactive", secrets=[PASSPHRASE, OTHER])
    assert not any(sealed[24:] in data for data in files_of(vault).values())
    wait_until(lambda: leftovers(vault) == set(), 60, "nothing is left")
