"""R5: a full disk or a damaged vault is a failure, told at once, and nothing is lost by it."""

import json

import pytest

from network.namespaces import isolated, needs_root, run
from support.disk import fill
from support.login import get_token, log_in, wait_until

SIZE_KIB = 512


@needs_root
def test_a_full_disk_is_told_at_once_and_costs_no_login(home, world):
    """What is to be sent cannot be written down, so nothing is sent."""
    server = world(access_ttl=6)

    def on_a_small_disk():
        run("mount", "-t", "tmpfs", "-o", f"size={SIZE_KIB}k,mode=700", "none", home.data)
        home.agent.start()
        log_in(home, server)
        token, mark = get_token(home), server.mark()
        fill(home.data / "filler")
        failed = wait_until(
            lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 30, "a failure")
        assert failed.stdout == "" and failed.status == 6 and "full" in failed.stderr, failed
        room = f"make room at {home.shown(home.data / 'oauthctl')}"
        assert room in failed.stderr and room in home.oauthctl("status").stdout, failed
        assert server.refreshes(mark) == []
        [line] = [line for line in home.oauthctl("status").lines if line.startswith("work ")]
        assert "login needed" not in line, line
        (home.data / "filler").unlink()
        new = wait_until(
            lambda: (it := home.oauthctl("get-token", "work", check=False)).stdout.strip(), 60, "a token again")
        assert new != token and {entry["status"] for entry in server.refreshes(mark)} == {200}
        home.agent.stop()

    isolated(on_a_small_disk)


@needs_root
def test_a_vault_that_cannot_be_unlocked_for_want_of_room_is_told_with_where_to_make_it(home, world):
    server = world()

    def on_a_small_disk():
        run("mount", "-t", "tmpfs", "-o", f"size={SIZE_KIB}k,mode=700", "none", home.data)
        home.agent.start()
        log_in(home, server)
        with server.token_answers_held():
            asking = home.start(home.programs / "oauthctl", "get-token", "work", "--force")
            wait_until(lambda: server.refreshes(0), 20, "a refresh")
            fill(home.data / "filler")
        asking.wait(60)
        home.oauthctl("vault", "lock")
        room = f"make room at {home.shown(home.data / 'oauthctl')}"
        refused = home.oauthctl("vault", "unlock", check=False)
        assert refused.status != 0 and room in refused.stderr, refused
        for words in (["get-token", "work"], ["status"], ["curl", server.issuer], ["doctor"]):
            told = home.oauthctl(*words, check=False)
            assert f"{room}; then: oauthctl vault unlock" in told.stdout + told.stderr, (words, told)
        (home.data / "filler").unlink()
        home.oauthctl("vault", "unlock")
        get_token(home)
        home.agent.stop()

    isolated(on_a_small_disk)


@needs_root
def test_a_configuration_that_cannot_be_written_is_told_by_doctor_with_what_shows_it(home, world):
    server = world()

    def on_a_disk_that_failed():
        run("mount", "-t", "tmpfs", "-o", "mode=700", "none", home.config)
        home.agent.start()
        log_in(home, server)
        run("mount", "-o", "remount,ro", home.config)
        doctor = home.oauthctl("doctor", check=False)
        assert "note   configuration" in doctor.stdout and "findmnt -T ~/config/oauthctl" in doctor.stdout, doctor
        run("mount", "-o", "remount,rw", home.config)
        home.agent.stop()

    isolated(on_a_disk_that_failed)


@needs_root
def test_a_disk_that_is_mounted_read_only_is_named_by_doctor(home, world):
    server = world()

    def on_a_disk_that_failed():
        run("mount", "-t", "tmpfs", "-o", "mode=700", "none", home.data)
        home.agent.start()
        log_in(home, server)
        home.agent.stop()
        run("mount", "-o", "remount,ro", home.data)
        home.agent.start()
        doctor = home.oauthctl("doctor", check=False)
        assert doctor.status == 1 and "put that right" not in doctor.stdout, doctor
        assert "make that file system writable again; findmnt -T ~/data/oauthctl" in doctor.stdout, doctor
        run("mount", "-o", "remount,rw", home.data)
        assert "writable" not in home.oauthctl("doctor", check=False).stdout
        home.agent.stop()

    isolated(on_a_disk_that_failed)


@needs_root
def test_an_account_file_that_does_not_fit_is_told_by_its_name_and_as_a_full_disk(home, world):
    server = world()

    def on_a_small_disk():
        run("mount", "-t", "tmpfs", "-o", f"size={SIZE_KIB}k,mode=700", "none", home.config)
        folder = home.config / "oauthctl" / "accounts.d"
        folder.mkdir(parents=True, mode=0o700)
        home.agent.start()
        fill(home.config / "filler")
        failed = log_in(home, server, check=False)
        assert failed.status == 6 and f"{home.shown(folder)}/work.toml: the disk is full" in failed.stderr, failed
        assert ".tmp" not in failed.stderr and "make room there" in failed.stderr, failed
        assert list(folder.iterdir()) == []
        home.agent.stop()

    isolated(on_a_small_disk)


@pytest.mark.parametrize("damage", ["overwritten", "cut short"])
def test_a_damaged_vault_is_told_and_left_as_it_is(home, agent, dot, damage):
    """Never a new vault in its place: a backup, or the recovery code, may still bring it back."""
    log_in(home, dot)
    token = get_token(home)
    agent.stop()
    files = sorted((home.data / "oauthctl").glob("vault.db*"))
    whole = {file: file.read_bytes() for file in files}
    broken = {
        file: b"U" * len(data) if damage == "overwritten" else data[:len(data) // 2] for file, data in whole.items()}
    for file, data in broken.items():
        file.write_bytes(data)
    agent.start()
    failed = home.oauthctl("get-token", "work", check=False)
    assert (failed.status, failed.stdout) == (5, "") and "damaged" in failed.stderr, failed
    vault = json.loads(home.oauthctl("status", "--json").stdout)["vault"]
    assert vault["state"] == "damaged" and vault["reason"]
    agent.stop()
    for file, data in whole.items():
        file.write_bytes(data)
    agent.start()
    assert get_token(home) == token
