"""Where a refresh token is kept that the vault has no room for, and who finds it."""

import os
import threading
from pathlib import Path

import pytest

from faults.test_full_disk import aside, assert_login_is_kept, assert_login_lives, refresh_without_room
from login.provider import Provider, use_silent_browser
from network.namespaces import isolated, needs_root, run
from support.accounts import define
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
        if end == "vault lock":
            told = home.oauthctl("vault", "unlock", check=False)
            assert told.status in (5, 6) and "Now:" not in told.stdout + told.stderr, told
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
        # What could not be written whole takes no room.
        assert not list((home.root / "disk").rglob("*.new"))
        filler.unlink()
        wait_until(lambda: home.oauthctl("get-token", "work", check=False).status == 0, 30, "room")
        home.oauthctl("agent", "stop")
        home.agent.kill()
        home.agent.start()
        assert_login_is_kept(home, server, mark)
        home.agent.stop()

    isolated(story)


# What every user is who is not root: kept out by the mode of his own folder.
ORDINARY = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")


@needs_root
@pytest.mark.parametrize("mode", [0, 0o600])
def test_a_folder_that_nobody_can_look_into_is_told_and_no_used_refresh_token_is_sent(home, world, mode):
    server = world(access_ttl=4)

    def story():
        login_folder(home)
        filler = one_disk(home)
        mark = refresh_on_full_disk(home, server, filler)
        home.agent.kill()
        [file] = aside(home)
        file.parent.chmod(mode)
        filler.unlink()
        home.agent.start(before=ORDINARY)
        refused = home.oauthctl("get-token", "work", check=False)
        assert refused.status != 0 and str(file.parent) in refused.stderr, refused
        assert "vault cannot be used" in home.oauthctl("vault", "status").stdout
        file.parent.chmod(0o700)
        assert_login_is_kept(home, server, mark)
        home.agent.stop()

    isolated(story)


@needs_root
@pytest.mark.parametrize("how", ["mode", "link", "folder", "folder above", "the session's", "moved"])
def test_a_record_that_is_kept_is_read_whatever_became_of_its_folder(home, world, how):
    """As of a snapshot that makes second names, a script that sets modes, or a person who makes room. It is sealed."""
    server = world(access_ttl=4)

    def story():
        login_folder(home)
        filler = one_disk(home)
        # The socket has to stay where nobody else can write.
        home.environment["OAUTHCTL_SOCKET"] = str(home.root / "agent.sock")
        home.socket = home.root / "agent.sock"
        mark = refresh_on_full_disk(home, server, filler)
        home.agent.kill()
        [file] = aside(home)
        folder = file.parent
        if how == "link":
            os.link(file, home.runtime / "copy")
        elif how == "moved":
            folder.parent.rename(home.runtime / "moved")
            folder.parent.symlink_to(home.runtime / "moved")
        else:
            {"mode": file, "folder": folder, "folder above": folder.parent,
             "the session's": home.runtime}[how].chmod(0o775)
        filler.unlink()
        home.agent.start()
        # Nothing is removed from where others could exchange it.
        assert_login_lives(home, server, mark)
        home.agent.stop()

    isolated(story)


@needs_root
def test_a_record_that_is_kept_stays_while_its_folder_is_full(home, world):
    """It was removed first, and then there was no room for it."""
    server = world(access_ttl=4)

    def story():
        login_folder(home)
        run("mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", home.runtime)
        filler = one_disk(home)
        mark = refresh_on_full_disk(home, server, filler)
        [file] = aside(home)
        written = file.stat().st_mtime_ns
        fill(home.runtime / "filler")
        with open(home.runtime / "filler", "ab", buffering=0) as more, open(home.agent.log) as log:
            log.read()
            tries = 0

            def tried():
                nonlocal tries
                try:
                    # What becomes free there is taken at once.
                    more.write(bytes(4096))
                except OSError:
                    pass
                tries += log.read().count("a record could not be saved")
                return tries >= 3

            wait_until(tried, 60, "three more tries")
        assert aside(home) == [file] and file.stat().st_mtime_ns == written
        home.agent.kill()
        (home.runtime / "filler").unlink()
        filler.unlink()
        home.agent.start()
        assert_login_is_kept(home, server, mark)
        home.agent.stop()

    isolated(story)


class Twice(Provider):
    """Takes whatever it is sent. The first refresh is answered when the second one has been."""

    def __init__(self):
        self.refreshes, self.second = [], threading.Event()
        super().__init__()

    def answer(self, method, url, fields, body):
        answer = super().answer(method, url, fields, body)
        kind, form = self.seen[-1] if self.seen else (None, {})
        if url.path == "/token" and kind == "refresh_token":
            self.refreshes.append(form["refresh_token"])
            if len(self.refreshes) == 1:
                self.second.wait(30)
            self.second.set()
        return answer


@needs_root
@pytest.mark.parametrize("what", ["login", "logout"])
def test_a_change_that_a_full_disk_did_not_take_is_not_kept_aside(home, what):
    """There are two refresh tokens, of one refresh that was answered twice. Only a token that a server gave is kept."""

    def story():
        use_silent_browser(home)
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home.data)
        home.agent.start()
        with Twice() as provider:
            home.oauthctl("vault", "create")
            define(home, "work", f'issuer = "{provider.issuer}"', 'client_id = "app"', "reuse_grace_s = 8")
            home.oauthctl("login", "work")
            home.oauthctl("get-token", "work", "--force")
            log = home.agent.log
            wait_until(lambda: log.read_text().count("a token was granted") >= 2, 30, "both answers")
            # What they have brought is written before this is read.
            home.oauthctl("vault", "check")
            filler = home.data / "filler"
            fill(filler)
            assert home.oauthctl(what, "work", check=False).status == 6 and not aside(home)
            home.agent.kill()
            filler.unlink()
            home.agent.start()
            home.oauthctl("get-token", "work", "--force")
            # Of the refresh, and of no login that came after it.
            assert provider.refreshes[-1] in ("refresh-2", "refresh-3")
        home.agent.stop()

    isolated(story)
