"""Account files that change where a watch of their folder sees nothing: a host that was taken out gets no token."""

import os
import shutil
import time

import pytest

from faults.strace import start_traced
from login.provider import Provider, use_silent_browser
from network.namespaces import isolated
from support.accounts import account_file
from support.hanging import HangingFolder, needs_fuse
from support.login import wait_until

OTHER = "https://second.example"


def log_in(home, server):
    use_silent_browser(home)
    server.define(home, 'scope = "read"', f'hosts = ["{server.issuer}", "{OTHER}"]')
    home.oauthctl("login", "work")
    assert is_given(home)


def is_given(home):
    return home.oauthctl("get-token", "--url", OTHER + "/x", check=False).status == 0


def take_out(file):
    with open(file, "r+") as open_file:
        text = open_file.read().replace(f', "{OTHER}"', "")
        open_file.seek(0)
        open_file.write(text)
        open_file.truncate()


@pytest.mark.parametrize(
    "how", ["behind a link", "behind a link, replaced", "by another name", "by a name that it got later"])
def test_a_host_that_is_taken_out_of_a_linked_file_gets_no_token(home, agent, how):
    with Provider() as server:
        log_in(home, server)
        file, real = account_file(home), home.root / "dotfile.toml"
        if how == "by another name":
            os.link(file, real)
        elif how.startswith("behind"):
            shutil.move(file, real)
            file.symlink_to(real)
        home.oauthctl("reload")
        assert is_given(home)
        # What was done in the folder has been read by then.
        time.sleep(2)
        if how == "by a name that it got later":
            os.link(file, real)
            time.sleep(2)
        if how.endswith("replaced"):
            shutil.copy(real, home.root / "new.toml")
            take_out(home.root / "new.toml")
            os.replace(home.root / "new.toml", real)
        else:
            take_out(real)
        wait_until(lambda: not is_given(home), 20, "the change counts")


@needs_fuse
def test_nor_while_another_linked_file_hangs(home):
    drive, real = home.root / "drive", home.root / "dotfile.toml"
    drive.mkdir(mode=0o700)

    def story():
        home.agent.start()
        with Provider() as server:
            log_in(home, server)
            shutil.move(account_file(home), real)
            account_file(home).symlink_to(real)
            shutil.copy(real, drive / "other.toml")
            take_out(drive / "other.toml")
            account_file(home, "other").symlink_to(drive / "other.toml")
            home.oauthctl("reload")
            # What was done in the folder has been read by then.
            time.sleep(2)
            with HangingFolder(drive):
                # The first look that meets it is given up after five seconds.
                time.sleep(8)
                assert is_given(home)
                take_out(real)
                wait_until(lambda: not is_given(home), 30, "the change counts")
                assert home.agent.stop() == 0

    isolated(story)


@pytest.mark.parametrize("fault", ["inotify_add_watch:error=ENOSPC", "inotify_init1:error=EMFILE"])
def test_nor_where_the_system_has_no_room_to_watch(home, fault):
    """An editor of the user has used it up."""
    start_traced(home, "-e", f"trace={fault.split(':')[0]}", "-e", f"inject={fault}")
    with Provider() as server:
        log_in(home, server)
        take_out(account_file(home))
        wait_until(lambda: not is_given(home), 20, "the change counts")


def test_nor_where_a_folder_further_up_is_exchanged(home, agent):
    """A backup of the whole configuration is put back."""
    with Provider() as server:
        log_in(home, server)
        other = home.root / "other"
        shutil.copytree(home.config, other)
        take_out(other / account_file(home).relative_to(home.config))
        # What was done in the folder has been read by then.
        time.sleep(2)
        home.config.rename(home.root / "away")
        other.rename(home.config)
        wait_until(lambda: not is_given(home), 20, "the change counts")
