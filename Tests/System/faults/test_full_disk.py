"""A disk without room costs no login, not even together with kill -9."""

import pytest

from network.namespaces import isolated, needs_root, run
from support.disk import fill
from support.home import STOP_LIMIT_SECONDS
from support.login import get_token, log_in, wait_until
from support.vault import key_file, made_vault, set_passphrase, slot_row, vault_file

PASSPHRASE = "correct horse battery"


def aside(home):
    """Records kept aside for want of room in the vault."""
    folder = home.runtime / "oauthctl" / "spill"
    return [path for path in folder.iterdir() if path.suffix != ".new"] if folder.is_dir() else []


def refresh_without_room(home, server, end_agent):
    """A refresh whose answer finds the disk full; then the agent's end. Returns what fills the disk."""
    run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home.data)
    home.agent.start()
    log_in(home, server)
    mark, filler = server.mark(), home.data / "filler"
    with server.token_answers_held():
        wait_until(lambda: server.refreshes(mark), 20, "a refresh")
        fill(filler)
        if end_agent == "stop":
            home.agent.process.terminate()
            wait_until(lambda: "stopping" in home.agent.log.read_text(), 20, "the agent stops")
    if end_agent == "stop":
        assert home.agent.process.wait(STOP_LIMIT_SECONDS) == 0 and aside(home)
    else:
        wait_until(lambda: aside(home), 20, "the record kept aside")
        home.agent.kill()
    return filler, mark


def assert_login_is_kept(home, server, mark):
    assert_login_lives(home, server, mark)
    wait_until(lambda: not aside(home), 20, "nothing kept aside")


def assert_login_lives(home, server, mark):
    token = wait_until(lambda: home.oauthctl("get-token", "work", check=False).stdout.strip(), 30, "a token")
    assert server.say_hello(token) == 200
    used = wait_until(
        lambda: get_token(home) and len(seen := server.refreshes(mark)) >= 2 and seen, 30, "the next refresh")
    assert {entry["status"] for entry in used} == {200}
    assert len({entry["refresh_token"] for entry in used}) == len(used), "a refresh token was sent twice"


@needs_root
@pytest.mark.parametrize("is_full", [False, True], ids=["room at the next start", "still none"])
def test_no_room_for_a_rotated_token_and_kill_9_cost_no_login(home, world, is_full):
    """The server allows no second use of a refresh token."""
    server = world(access_ttl=4)

    def story():
        filler, mark = refresh_without_room(home, server, "kill -9")
        if not is_full:
            filler.unlink()
        home.agent.start()
        state = home.oauthctl("status").stdout
        assert "login" not in state.splitlines()[1], state
        assert bool(aside(home)) == is_full
        filler.unlink(missing_ok=True)
        assert_login_is_kept(home, server, mark)

    isolated(story)


@needs_root
def test_a_stop_while_a_rotated_token_finds_no_room_costs_no_login(home, world):
    """Told to stop, the agent waits for the answer, and what came of it is not in the vault when it ends."""
    server = world(access_ttl=4)

    def story():
        filler, mark = refresh_without_room(home, server, "stop")
        filler.unlink()
        home.agent.start()
        assert_login_is_kept(home, server, mark)

    isolated(story)


@needs_root
@pytest.mark.parametrize("pages", range(5))
def test_a_recovery_code_made_with_little_room_reaches_its_owner_or_never_counts(home, pages):
    """From no room for the change to room for the change and not for what removes the old code. Once there is room
    again, the next look at the vault finds nothing wrong with it, and no trace of a failure is left."""

    def story():
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home.data)
        home.agent.start()
        first = home.oauthctl("vault", "create").stdout.strip()
        filler = home.data / "filler"
        fill(filler)
        with open(filler, "r+b") as file:
            file.truncate(max(0, filler.stat().st_size - pages * 4096))
        renewal = home.oauthctl("vault", "recovery", "renew", check=False)
        counts = renewal.stdout.strip() or first
        assert (renewal.status == 0) == (counts != first), renewal
        assert "SQLiteFailure" not in renewal.stderr and "storageFailed" not in renewal.stderr, renewal
        filler.unlink()
        status = home.oauthctl("vault", "status")
        assert "room" not in status.stderr and "nobody" not in status.stderr, status
        home.oauthctl("vault", "lock")
        assert home.oauthctl("vault", "unlock", "--recovery-code", stdin=f"{counts}\n", check=False).status == 0
        assert "nobody" not in home.oauthctl("vault", "status").stderr

    isolated(story)


@needs_root
@pytest.mark.parametrize("pages", range(3, 7))
def test_a_key_file_that_is_removed_with_little_room_is_gone_over_a_kill_too(home, pages):
    """What seals the vault may find no room for what removes the old slot: the next agent does that."""

    def story():
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home.data)
        home.agent.start()
        made_vault(home)
        set_passphrase(home, PASSPHRASE)
        sealed, filler = slot_row(home, 1)[-1], home.data / "filler"
        fill(filler)
        with open(filler, "r+b") as file:
            file.truncate(max(0, filler.stat().st_size - pages * 4096))
        removal = home.oauthctl("vault", "key-file", "remove", stdin=f"{PASSPHRASE}\n", check=False)
        is_made = removal.status == 0 or "the change is made" in removal.stderr
        assert key_file(home).exists() != is_made, removal
        home.agent.kill()
        filler.unlink()
        home.agent.start()
        home.oauthctl("vault", "unlock", stdin=f"{PASSPHRASE}\n")
        traces = [path.name for path in vault_file(home).parent.iterdir() if sealed in path.read_bytes()]
        assert (traces == []) == is_made, traces
        assert "may still be" not in home.oauthctl("vault", "status").stderr

    isolated(story)
