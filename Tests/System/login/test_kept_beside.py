"""What was in an account's file before a login that changes it lies beside it until that login has ended."""

import signal
import subprocess

import pytest

from faults.strace import strace
from login.provider import Provider, use_silent_browser
from login.registered import home, provider, renew, start
from network.namespaces import isolated, needs_root, run
from support.accounts import account_file
from support.disk import fill
from support.login import wait_until

CHANGES = pytest.mark.parametrize("change", ["replaced", "another scope"])


def changing(home, provider, change, before=()):
    """A login that has changed the account's file and cannot end: that file, its bytes of before, and the command."""
    file = account_file(home, "one")
    if not file.exists():
        home.oauthctl("login", "one", provider.url)
    file.write_text("# mine\n" + file.read_text())
    home.oauthctl("reload")
    old = file.read_bytes()
    provider.hold("/authorize")
    arguments = [provider.url, "--replace"] if change == "replaced" else ["--add-scope", "write"]
    command = [*before, home.programs / "oauthctl", "login", "one", *arguments, "--accept-changes"]
    login = home.start(*command, stdin=subprocess.DEVNULL)
    wait_until(lambda: file.read_bytes() != old or login.poll() is not None, 30, "the change")
    return file, old, login


def names(file):
    return {path.name for path in file.parent.iterdir()}


@needs_root
@CHANGES
def test_a_disk_that_fills_during_a_login_costs_no_account_file(home, provider, change):
    def story():
        run("mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", home.config)
        home.agent.start()
        file, old, login = changing(home, provider, change)
        fill(home.config / "filler")
        login.send_signal(signal.SIGTERM)
        said = login.communicate(timeout=60)[1]
        assert file.read_bytes() == old and "is as it was" in said, said
        assert names(file) == {"one.toml"}
        (home.config / "filler").unlink()
        assert renew(home).status == 0
        home.agent.stop()

    isolated(story)


@needs_root
@CHANGES
def test_a_disk_without_room_for_the_old_account_file_lets_no_login_change_it(home, provider, change):
    """One without second names for files, and without room for a copy."""
    def story():
        run("mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", home.config)
        home.agent.start()
        home.oauthctl("login", "one", provider.url)
        file = account_file(home, "one")
        old = file.read_bytes()
        fill(home.config / "filler")
        arguments = [provider.url, "--replace"] if change == "replaced" else ["--add-scope", "write"]
        refused = home.oauthctl("login", "one", *arguments, "--accept-changes", check=False)
        assert refused.status == 6 and "the disk is full" in refused.stderr, refused
        assert file.read_bytes() == old and names(file) == {"one.toml"}
        home.agent.stop()

    isolated(story)


@CHANGES
def test_kill_9_during_a_login_leaves_the_account_file_of_before_beside_it(home, agent, provider, change):
    file, old, login = changing(home, provider, change)
    login.kill()
    login.communicate(timeout=60)
    assert file.read_bytes() != old and file.with_name("one.toml.old").read_bytes() == old
    # One that is there is nobody's to replace.
    asked = provider.kinds().count("authorize")
    login = home.start(home.programs / "oauthctl", "login", "one", "--add-scope", "third", "--accept-changes")
    wait_until(lambda: names(file) >= {"one.toml.old", "one.toml.old1"}, 30, "the next change")
    # Until then the login of before may be under way, for which the file would stay.
    wait_until(lambda: provider.kinds().count("authorize") > asked, 30, "its login")
    login.send_signal(signal.SIGTERM)
    login.communicate(timeout=60)
    assert names(file) == {"one.toml", "one.toml.old"} and file.with_name("one.toml.old").read_bytes() == old


@CHANGES
@pytest.mark.parametrize("limit", range(4, 12))
def test_a_login_without_descriptors_costs_no_account_file(home, agent, provider, change, limit):
    shell = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh"]
    file, old, login = changing(home, provider, change, before=shell)
    login.send_signal(signal.SIGTERM)
    said = login.communicate(timeout=60)[1]
    kept = file.with_name("one.toml.old")
    assert file.read_bytes() == old or kept.read_bytes() == old, said
    assert "another login has" not in said and "ended with the agent" not in said, said


@CHANGES
def test_a_login_that_ends_well_leaves_nothing_beside_the_account_file(home, agent, provider, change):
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    arguments = [provider.url, "--scope", "read", "--replace"] if change == "replaced" else ["--add-scope", "write"]
    home.oauthctl("login", "one", *arguments, "--accept-changes")
    assert names(file) == {"one.toml"}


@pytest.mark.parametrize("meanwhile", ["removed", "edited", "another's"])
@CHANGES
def test_a_file_of_before_that_is_gone_or_changed_is_put_back_from_memory(home, agent, provider, change, meanwhile):
    file, old, login = changing(home, provider, change)
    kept = file.with_name("one.toml.old")
    if meanwhile != "edited":
        kept.unlink()
    if meanwhile != "removed":
        kept.write_text("# another\n")
    login.send_signal(signal.SIGTERM)
    said = login.communicate(timeout=60)[1]
    assert file.read_bytes() == old and "is as it was" in said, said
    assert meanwhile == "removed" or kept.read_text() == "# another\n"


def test_a_file_of_before_that_cannot_be_put_back_is_kept_anew_where_it_has_gone(home, agent, provider):
    file, old, login = changing(home, provider, "another scope")
    file.with_name("one.toml.old").unlink()
    file.write_text(file.read_text() + "# edited\n")
    login.send_signal(signal.SIGTERM)
    said = login.communicate(timeout=60)[1]
    assert "what was there before is in" in said and file.with_name("one.toml.old").read_bytes() == old, said


def test_rights_that_were_taken_from_an_account_file_during_a_login_stay_taken(home, agent, provider):
    home.oauthctl("login", "one", provider.url)
    account_file(home, "one").chmod(0o644)
    file, old, login = changing(home, provider, "another scope")
    assert file.stat().st_mode & 0o777 == 0o644
    file.chmod(0o600)
    login.send_signal(signal.SIGTERM)
    login.communicate(timeout=60)
    assert file.read_bytes() == old and file.stat().st_mode & 0o777 == 0o600


def test_a_read_that_fails_once_costs_no_account_file(home, agent):
    """As on a network: the file counted as none that was there, so it was kept nowhere."""
    use_silent_browser(home)
    with Provider() as plain:
        home.oauthctl("vault", "create", check=False)
        plain.define(home, 'scope = "read"')
        home.oauthctl("login", "work")
        file, plain.refuses = account_file(home, "work"), True
        old = "# mine\n" + file.read_text()
        for number in range(1, 9):
            file.write_text(old)
            home.oauthctl("reload")
            _, command = strace(home, "-P", file, "-e", "trace=openat", "-e", f"inject=openat:error=EIO:when={number}")
            words = ["login", "work", plain.issuer, "--client-id", f"other-{number}", "--replace"]
            options = ["--accept-changes", "--timeout", "1"]
            failed = home.run(*command, home.programs / "oauthctl", *words, *options, check=False)
            kept = [path.read_text() for path in file.parent.iterdir()]
            assert failed.status != 0 and old in kept, (number, failed, kept)
            for path in file.parent.glob("*.old*"):
                path.unlink()


def test_behind_a_link_the_account_file_of_before_lies_beside_what_the_link_leads_to(home, agent, provider):
    home.oauthctl("login", "one", provider.url)
    link = account_file(home, "one")
    file = home.root / "dotfiles.toml"
    link.rename(file)
    link.symlink_to(file)
    old = file.read_bytes()
    provider.hold("/authorize")
    login = start(home, "one", "--add-scope", "write", "--accept-changes")
    kept = home.root / "dotfiles.toml.old"
    wait_until(lambda: file.read_bytes() != old and kept.exists(), 30, "the change")
    assert kept.read_bytes() == old and names(link) == {"one.toml"}
    login.send_signal(signal.SIGTERM)
    said = login.communicate(timeout=60)[1]
    assert file.read_bytes() == old and link.is_symlink() and not kept.exists(), said
