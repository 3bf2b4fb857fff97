"""`make uninstall`: away again without a trace."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from install.installation import commands, installation, tree
from support import processes

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a process, or a file, of another user")


def test_uninstall_takes_exactly_that_away(installation, home):
    kept = installation.prefix / "bin" / "mine"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    (installation.prefix / "share" / "man").mkdir(parents=True)
    before = tree(installation.prefix)
    installation.make("install")
    # Once more, with something of an older version that the new one has not.
    record = installation.prefix / "lib" / "oauthctl" / "installed"
    old = installation.prefix / "bin" / "oauthctl-old"
    old.write_text("")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    record.write_text(record.read_text() + f"file {old} {empty}\n")
    again = installation.make("install")
    assert "oauthctl agent restart" in again.stdout and "try-restart" not in again.stdout
    assert not old.exists()
    installation.make("uninstall")
    assert tree(installation.prefix) == before
    assert installation.make("uninstall", check=False).status != 0
    assert installation.changes == []


def point_to(home, oauthctl, units, config):
    """What a user sets up: git's helper, an agent, units enabled; also a link that is none of ours."""
    home.run(oauthctl, "setup", "git", "--host", "git.example", "--host", "https://other.example:8443/team", "--yes")
    home.run(oauthctl, "status")
    wants = config / "systemd/user/sockets.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    for link, target in ((wants / "oauthd.socket", units / "oauthd.socket"), (wants / "mine.socket", "/nowhere")):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    return wants


def left(home, wants):
    """What still points to an installation."""
    settings = home.run("git", "config", "--global", "--list", check=False).stdout
    agents = [pid for pid in processes.children() if b"oauthd" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return settings, {path.name for path in wants.iterdir()}, agents


def test_uninstall_leaves_no_agent_and_nothing_that_points_to_it(installation, home):
    installation.make("install")
    home.run("git", "config", "--global", "user.name", "Mine")
    units = installation.prefix / "share/systemd/user"
    wants = point_to(home, installation.prefix / "bin/oauthctl", units, home.config)
    settings, links, agents = left(home, wants)
    assert "oauthctl" in settings and "oauthd.socket" in links and len(agents) == 1
    # The agent has its data elsewhere than this shell: its folder stays as well.
    folders = [folder / "oauthctl" for folder in (home.config, home.root / ".local/share", home.state)]
    for folder in folders[:2]:
        folder.mkdir(parents=True, exist_ok=True)
    told = installation.make("uninstall")
    assert left(home, wants) == ("user.name=Mine\n", {"mine.socket"}, []) and "cannot" not in told.stderr
    # And what stays is told with what removes it.
    [removal] = [line for line in commands(told.stdout) if line.startswith("rm ")]
    assert removal.startswith(f"rm -r '{folders[0]}' '{folders[1]}'")
    home.run("sh", "-c", removal)
    assert not any(folder.exists() for folder in folders)


def test_uninstall_takes_away_what_brings_schemes_to_it(installation, home):
    installation.make("install")
    home.run(installation.prefix / "bin/oauthctl", "setup", "scheme", "com.example.app", "--yes")
    folder, listed = home.root / ".local/share/applications", home.config / "mimeapps.list"
    (folder / "oauthctl-mine.desktop").write_text('[Desktop Entry]\nExec="/elsewhere/bin/oauthctl" redirect %u\n')
    assert "com.example.app" in listed.read_text()
    installation.make("uninstall")
    assert [path.name for path in folder.iterdir()] == ["oauthctl-mine.desktop"]
    assert not listed.exists(), "it was made by us"


def test_uninstall_tells_of_an_agent_of_another_installation_and_removes_nothing_of_it(installation, home, agent):
    installation.make("install")
    told = installation.make("uninstall")
    assert f"An agent of {home.programs} still runs" in told.stdout
    assert commands(told.stdout) == [f"{home.programs}/oauthctl agent stop"]


def test_uninstall_takes_its_lines_out_of_git_where_the_program_is_gone_already(installation, home):
    installation.make("install")
    own, url = installation.prefix / "bin/git-credential-oauthctl", "https://localhost:8443"
    copy = home.state / "oauthctl/authorities/work@localhost:8443.pem"
    for key, values in {
            f"credential.{url}.helper": ["", own], "credential.https://localhost.helper": [own],
            f"credential.{url}.useHttpPath": ["true"], f"http.{url}.sslCAInfo": [copy],
            f"http.{url}.sslCAPath": ["/dev/null"],
            "credential.https://two.helper": ["", own, "store"], "http.https://two.sslCAInfo": ["/mine.pem"],
            "user.name": ["Mine"]}.items():
        for value in values:
            home.run("git", "config", "--global", "--add", key, value)
    for program in (installation.prefix / "bin").iterdir():
        program.unlink()
    told = installation.make("uninstall")
    assert home.run("git", "config", "--global", "--list").stdout.splitlines() == [
        "credential.https://two.helper=", "credential.https://two.helper=store",
        "http.https://two.sslcainfo=/mine.pem", "user.name=Mine"]
    assert "failed to run" not in told.stderr and "git still asks" not in told.stdout


def test_uninstall_leaves_git_no_authority_that_goes_with_the_state_folder(installation, home):
    """Also where no helper is left beside it, but not where another installation answers for the host."""
    installation.make("install")
    copies = home.state / "oauthctl/authorities"
    for key, value in {
            "http.https://gone.sslCAInfo": copies / "gone.pem", "http.https://mine.sslCAInfo": "/mine.pem",
            "http.https://gone.sslCAPath": "/dev/null", "http.https://mine.sslCAPath": "/dev/null",
            "http.https://other.sslCAInfo": copies / "other.pem",
            "credential.https://other.helper": "/usr/bin/git-credential-oauthctl"}.items():
        home.run("git", "config", "--global", "--add", key, value)
    installation.make("uninstall")
    assert home.run("git", "config", "--global", "--list").stdout.splitlines() == [
        "http.https://mine.sslcainfo=/mine.pem", "http.https://mine.sslcapath=/dev/null",
        f"http.https://other.sslcainfo={copies}/other.pem",
        "credential.https://other.helper=/usr/bin/git-credential-oauthctl"]


def test_what_is_left_in_homes_after_a_shared_installation_is_told_with_what_removes_it(installation, home, scratch):
    prefix = scratch / "shared"
    del home.environment["XDG_CONFIG_HOME"], home.environment["XDG_STATE_HOME"]
    installation.make("install", f"PREFIX={prefix}")
    wants = point_to(home, prefix / "bin/oauthctl", prefix / "lib/systemd/user", home.root / ".config")
    own = ["credential.https://git.example.username=me", "credential.https://other.example:8443/team.helper=store"]
    copy = home.root / ".local/state/oauthctl/authorities/work@git.example.pem"
    for setting in [*own, f"http.https://git.example.sslCAInfo={copy}", "http.https://git.example.sslCAPath=/dev/null"]:
        home.run("git", "config", "--global", "--add", *setting.split("=", 1))
    # By somebody else, whose reach ends before this home.
    other = home.root / "other"
    other.mkdir()
    told = installation.make("uninstall", f"PREFIX={prefix}", HOME=str(other))
    settings, links, agents = left(home, wants)
    assert "oauthctl" in settings and "oauthd.socket" in links and agents == []
    assert not prefix.exists()
    folders = [home.root / name / "oauthctl" for name in (".config", ".local/share", ".local/state")]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    for command in commands(told.stdout):
        home.run("sh", "-c", command)
    # An empty helper stands before that of another program, as `setup git --remove` leaves it.
    own.insert(1, "credential.https://other.example:8443/team.helper=")
    settings, links, agents = left(home, wants)
    assert settings.splitlines() == own and (links, agents) == ({"mine.socket"}, [])
    assert not any(folder.exists() for folder in folders)


@AS_ROOT
def test_uninstall_by_root_waits_for_no_process_that_only_bears_the_agent_s_name(installation):
    """Another user's, which ignores the signal."""
    installation.make("install")
    agent = str(installation.prefix / "bin/oauthd")
    others = [subprocess.Popen(
        [agent, "-c", 'trap "" TERM; echo; read -r _'], executable="/bin/sh",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, user="nobody", group="nogroup", extra_groups=[],
    ) for _ in range(2)]
    try:
        for other in others:
            assert other.stdout.readline() == b"\n"
        told = installation.make("uninstall")
        assert "still busy" not in told.stdout and "Taken away" in told.stdout
        assert all(other.poll() is None for other in others)
    finally:
        for other in others:
            other.kill()
            other.communicate()


@AS_ROOT
@pytest.mark.parametrize("target", ["install", "uninstall"])
def test_root_removes_nothing_by_a_record_that_another_user_may_write(installation, scratch, target):
    victim, prefix = scratch / "victim", scratch / "prefix"
    victim.write_text("")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    folder = prefix / "lib/oauthctl"
    folder.mkdir(parents=True)
    (folder / "installed").write_text(f"file {victim} {empty}\n")
    # A record of one's own names what is below its own folder, and no more.
    installation.make(target, f"PREFIX={prefix}")
    assert victim.exists()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "installed").write_text(f"file {prefix}/../victim {empty}\nfile {prefix}/mine {empty}\n")
    mine = prefix / "mine"
    mine.write_text("")
    for path, owner in ((folder, "nobody"), (folder / "installed", "nobody")):
        shutil.chown(path, owner)
        result = installation.make(target, f"PREFIX={prefix}", check=False)
        assert result.status != 0 and "is not yours" in result.stderr
        shutil.chown(path, os.getuid())
    assert victim.exists() and mine.exists()
    installation.make(target, f"PREFIX={prefix}")
    assert victim.exists() and not mine.exists()
    shutil.rmtree(prefix, ignore_errors=True)


def test_what_was_changed_since_stays_and_is_named(installation):
    installation.make("install")
    completion = installation.prefix / "share" / "fish" / "vendor_completions.d" / "oauthctl.fish"
    completion.write_text("# mine\n")
    result = installation.make("uninstall")
    assert str(completion) in result.stderr
    assert [path for path in tree(installation.prefix).values() if path] == [b"# mine\n"]


def test_what_an_agent_leaves_below_the_runtime_folder_goes_with_uninstall(installation, home):
    installation.make("install")
    runtime = Path(home.environment["XDG_RUNTIME_DIR"])
    home.oauthctl("status")
    home.oauthctl("agent", "stop")
    assert home.socket.exists()
    installation.make("uninstall", XDG_RUNTIME_DIR=str(runtime))
    assert not home.socket.parent.exists()
