"""A disk with a little room left, and what is kept in memory where it has none."""

import os
import shutil
import subprocess

import pytest

from faults.test_full_disk import aside, assert_login_lives
from faults.test_kept_aside import login_folder, one_disk, refresh_on_full_disk
from network.namespaces import isolated, needs_root
from support.disk import fill
from support.login import log_in, wait_until
from support.vault import status, vault_file

PAGE = 4096
NO_ROOM = "nothing is sent"
IN_MEMORY = "a restart of the machine loses it"


@needs_root
@pytest.mark.parametrize("pages", [5, 7, 20])
def test_nothing_is_sent_whose_answer_may_find_no_room(home, world, pages):
    """The intent fits and the answer does not: the server has used up the one that is kept, and given another."""
    server = world(access_ttl=4)

    def story():
        login_folder(home)
        filler = one_disk(home)
        home.agent.start()
        log_in(home, server)
        mark = server.mark()
        fill(filler)
        os.truncate(filler, filler.stat().st_size - pages * PAGE)
        told = wait_until(
            lambda: NO_ROOM in (ended := home.oauthctl("get-token", "work", "--force", check=False)).stderr and ended,
            20, "a refusal")
        assert told.status == 6 and "make room at ~/disk/data" in told.stderr, told.stderr
        assert len(server.refreshes(mark)) <= 1 and not aside(home)
        # As after a restart of the machine.
        home.agent.kill()
        subprocess.run(["umount", "/run/user"], check=True)
        login_folder(home)
        filler.unlink()
        home.agent.start()
        assert_login_lives(home, server, mark)

    isolated(story)


@needs_root
def test_nor_is_anything_where_an_older_vault_has_just_taken_the_place(home, world):
    server = world(access_ttl=600)

    def story():
        login_folder(home)
        filler = one_disk(home)
        home.agent.start()
        log_in(home, server)
        home.agent.stop()
        older = vault_file(home).with_name("vault.db.older")
        shutil.copy2(vault_file(home), older)
        home.agent.start()
        for _ in range(2):
            home.oauthctl("get-token", "work", "--force")
        mark = server.mark()
        fill(filler)
        os.truncate(filler, filler.stat().st_size - 5 * PAGE)
        older.rename(vault_file(home))
        told = home.oauthctl("get-token", "work", "--force", check=False)
        assert told.status == 6 and NO_ROOM in told.stderr and not server.refreshes(mark), told

    isolated(story)


@needs_root
def test_what_is_kept_in_memory_alone_is_told(home, world):
    server = world(access_ttl=4)

    def story():
        login_folder(home)
        filler = one_disk(home)
        mark = refresh_on_full_disk(home, server, filler)
        assert aside(home)
        for _ in range(2):
            now = status(home)
            assert now["kept_in_memory"] is True and IN_MEMORY in now["reason"] and "make room at" in now["hint"], now
            told = home.oauthctl("agent", "stop").stderr
            assert IN_MEMORY in told and "make room at ~/disk/data" in told, told
            # The next agent finds it there.
            home.agent.start()
        filler.unlink()
        assert_login_lives(home, server, mark)
        assert "kept_in_memory" not in status(home)

    isolated(story)
