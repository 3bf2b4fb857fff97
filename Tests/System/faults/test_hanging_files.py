"""A file system that hangs costs the accounts whose files are on it, and nobody else: no answer, no unlock and no end
of the agent waits for it."""

import pytest

from network.namespaces import isolated
from support.accounts import account_file
from support.hanging import HangingFolder, needs_fuse
from support.login import get_token, wait_until
from support.unattended import log_in, refresh

HANGS = "does not answer: its file system may hang"


def ca_file(home, hanging):
    """An account whose private authority hangs. Returns what is told of it."""
    (hanging / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    home.oauthctl(
        "login", "other", home.server.issuer, "--client-id", "dev", "--scope", "read", "--ca", hanging / "ca.pem")
    return f"{home.shown(account_file(home, 'other'))}:"


def linked(home, hanging):
    """An account's file is a link to where it hangs."""
    log_in(home, home.server, "other")
    account_file(home, "other").rename(hanging / "other.toml")
    account_file(home, "other").symlink_to(hanging / "other.toml")
    return f"{home.shown(account_file(home, 'other'))}: the file {HANGS}"


@needs_fuse
@pytest.mark.parametrize("hang", [ca_file, linked])
def test_a_file_that_hangs_costs_its_own_account_alone(vault, server, hang):
    """Unlocking, logins, reloads and the end go on; the account is back once its file is."""
    home, home.server = vault, server
    hanging = home.root / "drive"
    hanging.mkdir(mode=0o700)

    def story():
        home.agent.restart()
        told = hang(home, hanging)
        home.oauthctl("reload")
        with HangingFolder(hanging) as folder:
            reloaded = home.oauthctl("reload", check=False)
            assert reloaded.status != 0 and told in reloaded.stderr and HANGS in reloaded.stderr, reloaded
            assert refresh(home).status == 0
            log_in(home, server, "third")
            home.oauthctl("vault", "lock")
            home.oauthctl("vault", "unlock")
            assert get_token(home) and get_token(home, "third")
            state = home.oauthctl("status")
            assert "file invalid" in next(line for line in state.lines if line.startswith("other ")), state
            assert home.agent.stop() == 0, "the end waits for no file"
            home.agent.start()
            assert get_token(home)
            folder.release()
            wait_until(lambda: get_or_none(home, "other"), 30, "the account is back")
        home.oauthctl("reload")
        home.agent.stop()

    isolated(story)


@needs_fuse
def test_a_drive_that_hangs_is_one_place_however_many_folders_of_it_are_named(vault, server):
    """More accounts have a private authority there, each in a folder of its own, than places may hang."""
    home, drive = vault, vault.root / "drive"
    names = [f"other{number}" for number in range(6)]
    for name in names:
        (drive / name).mkdir(mode=0o700, parents=True)
        (drive / name / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")

    def story():
        home.agent.restart()
        for name in names:
            home.oauthctl(
                "login", name, server.issuer, "--client-id", "dev", "--scope", "read", "--ca", drive / name / "ca.pem")
        with HangingFolder(drive) as folder:
            reloaded = home.oauthctl("reload", check=False)
            assert reloaded.status != 0 and reloaded.stderr.count(HANGS) == len(names), reloaded
            assert refresh(home).status == 0
            assert home.agent.stop() == 0
            home.agent.start()
            assert get_token(home), "what is read at a start is read without the drive"
            home.oauthctl("vault", "lock")
            home.oauthctl("vault", "unlock")
            assert get_token(home)
            folder.release()
            wait_until(lambda: all(get_or_none(home, name) for name in names), 30, "the accounts are back")
        home.agent.stop()

    isolated(story)


def get_or_none(home, name):
    return home.oauthctl("get-token", name, check=False).stdout.strip()


@needs_fuse
@pytest.mark.parametrize("name", ["accounts.d", "."])
def test_a_folder_that_hangs_is_told_and_its_accounts_are_served_as_they_were(vault, name):
    home = vault
    hanging = home.config / "oauthctl" / name

    def story():
        home.agent.restart()
        assert get_token(home)
        with HangingFolder(hanging) as folder:
            reloaded = home.oauthctl("reload", check=False)
            assert reloaded.status != 0 and HANGS in reloaded.stderr, reloaded
            assert refresh(home).status == 0, "the last good definition holds"
            home.oauthctl("vault", "lock")
            home.oauthctl("vault", "unlock")
            assert home.agent.stop() == 0
            home.agent.start()
            told = home.oauthctl("get-token", "work", check=False)
            assert told.status != 0 and HANGS in told.stderr, told
            folder.release()
            wait_until(lambda: get_or_none(home, "work"), 30, "the account is back")
        home.agent.stop()

    isolated(story)
