"""Where a refresh token is kept that the vault has no room for, and who finds it."""

import os
from pathlib import Path

import pytest

from faults.test_full_disk import assert_login_is_kept, refresh_without_room
from network.namespaces import isolated, needs_root, run
from support.disk import fill
from support.login import log_in, wait_until


def login_folder(home):
    """The folder of a session, as the system names it: /run/user/UID."""
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run/user")
    home.runtime = Path(f"/run/user/{os.getuid()}")
    home.runtime.mkdir(mode=0o700)
    home.socket = home.runtime / "oauthctl" / "agent.sock"
    home.environment["XDG_RUNTIME_DIR"] = str(home.runtime)


def one_disk(home):
    """The vault and the agent's state on one small disk. Returns what fills it."""
    disk = home.root / "disk"
    disk.mkdir(mode=0o700)
    run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", disk)
    home.data, home.state = disk / "data", disk / "state"
    for folder in (home.data, home.state):
        folder.mkdir(mode=0o700)
    home.environment |= {"XDG_DATA_HOME": str(home.data), "XDG_STATE_HOME": str(home.state)}
    return disk / "filler"


def refresh_on_full_disk(home, server, filler):
    """A refresh whose answer finds the disk full, and has been tried to be kept."""
    home.agent.start()
    log_in(home, server)
    mark = server.mark()
    with server.token_answers_held():
        wait_until(lambda: server.refreshes(mark), 20, "a refresh")
        fill(filler)
    wait_until(lambda: "a record could not be saved" in home.agent.log.read_text(), 20, "the save that fails")
    return mark


@needs_root
@pytest.mark.parametrize("end", ["stop", "kill -9"])
def test_an_agent_of_a_cron_job_finds_what_one_of_a_session_kept_aside(home, world, end):
    """It is started without XDG_RUNTIME_DIR: it found the socket, and not the refresh token."""
    server = world(access_ttl=4)

    def story():
        login_folder(home)
        filler, mark = refresh_without_room(home, server, end)
        filler.unlink()
        del home.environment["XDG_RUNTIME_DIR"]
        home.agent.start()
        assert_login_is_kept(home, server, mark)
        home.agent.stop()

    isolated(story)


@needs_root
def test_it_finds_that_where_the_system_makes_no_folder_for_a_session(home, world):
    """As in a container: there is XDG_RUNTIME_DIR, and no /run/user/UID. The socket is in /tmp without the variable."""
    server = world(access_ttl=4)

    def story():
        run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run/user")
        filler = one_disk(home)
        mark = refresh_on_full_disk(home, server, filler)
        home.agent.kill()
        filler.unlink()
        del home.environment["XDG_RUNTIME_DIR"]
        # What lies there stays, and counts no more once the row is written.
        home.runtime = home.root / "elsewhere"
        # Other agents may have the one that is meant without it.
        home.environment["OAUTHCTL_SOCKET"] = str(home.root / "cron.sock")
        home.socket = home.root / "cron.sock"
        home.agent.start()
        assert_login_is_kept(home, server, mark)
        home.agent.stop()

    isolated(story)


@needs_root
@pytest.mark.parametrize("end", ["agent stop", "vault lock"])
def test_an_agent_of_a_cron_job_loses_nothing_with_a_full_disk_either(home, world, end):
    server = world(access_ttl=4)

    def story():
        login_folder(home)
        del home.environment["XDG_RUNTIME_DIR"]
        filler = one_disk(home)
        mark = refresh_on_full_disk(home, server, filler)
        home.oauthctl(*end.split(), check=False)
        filler.unlink()
        if end == "agent stop":
            home.agent.kill()
            home.agent.start()
        else:
            home.oauthctl("vault", "unlock")
        assert_login_is_kept(home, server, mark)
        home.agent.stop()

    isolated(story)


@needs_root
def test_an_agent_that_no_place_takes_a_refresh_token_from_refuses_to_stop(home, world):
    server = world(access_ttl=4)

    def story():
        run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run/user")
        # Of a socket that is nowhere else.
        other = Path(f"/tmp/oauthctl-{os.getuid()}")
        if other.is_dir():
            run("mount", "-t", "tmpfs", "-o", "nr_inodes=1,mode=700", "tmpfs", other)
        del home.environment["XDG_RUNTIME_DIR"]
        home.environment["OAUTHCTL_SOCKET"] = str(home.socket)
        home.socket.parent.mkdir(mode=0o700, exist_ok=True)
        filler = one_disk(home)
        mark = refresh_on_full_disk(home, server, filler)
        for words in (["agent", "stop"], ["agent", "restart"]):
            refused = home.oauthctl(*words, check=False)
            assert refused.status == 1 and "the agent alone has what was written to the vault last" in refused.stderr
        filler.unlink()
        wait_until(lambda: home.oauthctl("get-token", "work", check=False).status == 0, 30, "room")
        home.oauthctl("agent", "stop")
        home.agent.kill()
        home.agent.start()
        assert_login_is_kept(home, server, mark)
        home.agent.stop()

    isolated(story)
