"""`make install` and `make uninstall`: everything in its place, nothing enabled, and away again without a trace."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support import processes
from support.memory import may_attach, may_read
from support.others import as_nobody, before_its_first_line

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = {"oauthctl", "oauthd", "oauthd-fetch", "oauthd-redirect", "oauth-dev-server"}
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a process, or a file, of another user")


class Installation:
    """`make` in a home of its own; systemctl is pretended, and every call of it noted."""

    def __init__(self, home):
        self.home, self.prefix = home, home.root / ".local"
        self.calls = home.root / "calls"
        systemctl = home.bin / "systemctl"
        systemctl.write_text(f'#!/bin/sh\necho "$*" >>{self.calls}\n')
        systemctl.chmod(0o700)
        self.path = f"{home.bin}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

    def make(self, target, *variables, check=True, **environment):
        return self.home.run(
            "make", "-s", "-C", ROOT, target, f"OAUTHCTL_BIN={self.home.programs}", *variables, check=check,
            environment={"PATH": self.path, **environment}, timeout=120)


    @property
    def changes(self):
        """Calls of systemctl that do more than ask."""
        calls = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [call for call in calls if not re.search(r"^list-units |\bshow ", call)]


@pytest.fixture
def installation(home):
    del home.environment["XDG_DATA_HOME"]
    return Installation(home)


def tree(folder):
    """Every path below `folder` with its content, or where it leads."""
    return {
        path.relative_to(folder): os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
        for path in folder.rglob("*")}


def test_what_is_installed_works_and_is_told_in_the_last_lines(installation, home):
    result = installation.make("install", "PREFIX=~/.local")
    assert {path.name for path in (installation.prefix / "bin").iterdir()} == PROGRAMS | {"git-credential-oauthctl"}
    assert result.stderr == ""
    assert result.lines[1:] == [
        "Not in PATH yet:", f"  export PATH={installation.prefix}/bin:$PATH",
        "To have systemd start the agent when it is needed, which is optional:",
        "  systemctl --user enable --now oauthd.socket"]
    # The installed client finds the installed agent beside it.
    status = home.run(installation.prefix / "bin" / "oauthctl", "status")
    agent = int(re.search(r"pid (\d+), started on demand", status.stdout)[1])
    # Unlike its executable, its command line may be read by its user.
    line = Path(f"/proc/{agent}/cmdline").read_bytes()
    assert line.split(b"\0")[0] == bytes(installation.prefix / "bin" / "oauthd")
    helper = home.run(
        installation.prefix / "bin" / "git-credential-oauthctl", "capability", stdin="")
    assert helper.stdout.startswith("version 0")
    assert not installation.calls.exists(), "install enables and starts nothing"
    documents = installation.prefix / "share/doc/oauthctl"
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", (documents / "README.md").read_text()):
        assert target.startswith("https://") or (documents / target).exists(), target
    assert (documents / "examples/caller.py").exists()


@pytest.mark.parametrize("name", ["oauthd", "oauthd-fetch", "oauthd-redirect"])
def test_a_program_with_secrets_may_be_traced_by_no_other_from_its_first_moment_on(installation, scratch, name):
    """Installed by root, for others: a user who may not read the file."""
    destination = scratch / "image"
    installation.make("install", f"DESTDIR={destination}", "PREFIX=/usr/local")
    program = destination / "usr/local/bin" / name
    mode = scratch.stat().st_mode
    scratch.chmod(0o711)
    try:
        for rights, is_open in ((None, False), (0o755, True)):
            if rights:
                program.chmod(rights)
            with before_its_first_line(program, destination) as pid:
                assert as_nobody(lambda: (may_read(pid), may_attach(pid))) == (is_open, is_open)
    finally:
        scratch.chmod(mode)
        shutil.rmtree(destination)


def test_a_folder_in_path_needs_no_line_about_path(installation):
    folder = f"{installation.prefix}/bin"
    result = installation.make("install", f"PREFIX={installation.prefix}/", PATH=f"{folder}:{installation.path}")
    assert "PATH" not in result.stdout


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


def commands(text):
    return [line.strip() for line in text.splitlines() if line.startswith("  ")]


def test_uninstall_leaves_no_agent_and_nothing_that_points_to_it(installation, home):
    installation.make("install")
    home.run("git", "config", "--global", "user.name", "Mine")
    units = installation.prefix / "share/systemd/user"
    wants = point_to(home, installation.prefix / "bin/oauthctl", units, home.config)
    settings, links, agents = left(home, wants)
    assert "oauthctl" in settings and "oauthd.socket" in links and len(agents) == 1
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


def test_uninstall_takes_its_lines_out_of_git_where_the_program_is_gone_already(installation, home):
    installation.make("install")
    own, url = installation.prefix / "bin/git-credential-oauthctl", "https://localhost:8443"
    copy = home.state / "oauthctl/authorities/work.pem"
    for key, values in {
            f"credential.{url}.helper": ["", own], "credential.https://localhost.helper": [own],
            f"credential.{url}.useHttpPath": ["true"], f"http.{url}.sslCAInfo": [copy],
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


def test_what_is_left_in_homes_after_a_shared_installation_is_told_with_what_removes_it(installation, home, scratch):
    prefix = scratch / "shared"
    del home.environment["XDG_CONFIG_HOME"], home.environment["XDG_STATE_HOME"]
    installation.make("install", f"PREFIX={prefix}")
    wants = point_to(home, prefix / "bin/oauthctl", prefix / "lib/systemd/user", home.root / ".config")
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
    assert left(home, wants) == ("", {"mine.socket"}, []) and not any(folder.exists() for folder in folders)


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


def test_destdir_stands_before_every_path_and_in_none(installation, home):
    destination = home.root / "image"
    before = set(tree(home.root))
    result = installation.make("install", f"DESTDIR={destination}", "PREFIX=/usr/local")
    assert result.lines == [f"Installed below {destination}/usr/local."]
    assert all(path.is_relative_to("image") for path in set(tree(home.root)) - before)
    units = [path for path in (destination / "usr/local/lib/systemd/user").rglob("*") if path.is_file()]
    assert {path.name for path in units} == {"oauthd.service", "oauthd.socket", "50-sandbox.conf"}
    for unit in units:
        assert not re.search(r"@[A-Z]+@", unit.read_text())
    assert re.search(
        r"^ExecStart=/usr/local/bin/oauthd\b", (destination / "usr/local/lib/systemd/user/oauthd.service").read_text(),
        re.MULTILINE)
    assert str(destination) not in (destination / "usr/local/lib/oauthctl/installed").read_text()
    installation.make("uninstall", f"DESTDIR={destination}", "PREFIX=/usr/local")
    assert not [path for path in destination.rglob("*") if not path.is_dir()]


def test_units_of_a_home_stand_where_its_own_manager_looks(installation):
    installation.make("install")
    folder = installation.prefix / "share" / "systemd" / "user"
    assert f"ExecStart={installation.prefix}/bin/oauthd" in (folder / "oauthd.service").read_text()
    # Not where the manager looks: then the line that links them is told.
    result = installation.make("install", XDG_DATA_HOME="/elsewhere")
    assert f"systemctl --user link {folder}/oauthd.socket {folder}/oauthd.service" in result.stdout
    # A link brings no drop-ins, so the service has it all.
    assert not (folder / "oauthd.service.d").exists()
    sandbox = (ROOT / "systemd/oauthd.service.d/50-sandbox.conf").read_text()
    assert (folder / "oauthd.service").read_text().endswith("\n" + sandbox)


def test_no_sandbox_is_installed_where_the_service_could_not_start_with_it(installation, home):
    drop_in = installation.prefix / "share/systemd/user/oauthd.service.d/50-sandbox.conf"
    unshare = home.bin / "unshare"
    for status in (0, 1, 0):
        unshare.write_text(f"#!/bin/sh\nexit {status}\n")
        unshare.chmod(0o700)
        result = installation.make("install")
        assert drop_in.exists() == (status == 0)
        assert ("user namespaces" in result.stdout) == (status != 0)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_program_that_is_of_no_use_by_itself_says_so(home, option):
    told = home.run(home.programs / "oauthd-fetch", option)
    assert len(told.lines) == 1 and "started by oauthd" in told.stdout and told.stderr == ""


def test_what_an_agent_leaves_below_the_runtime_folder_goes_with_uninstall(installation, home):
    installation.make("install")
    runtime = Path(home.environment["XDG_RUNTIME_DIR"])
    home.oauthctl("status")
    home.oauthctl("agent", "stop")
    assert home.socket.exists()
    installation.make("uninstall", XDG_RUNTIME_DIR=str(runtime))
    assert not home.socket.parent.exists()


@pytest.mark.parametrize("prefix", ["relative", "/", "/with blank", "/quo'te", "/per$cent"])
def test_a_prefix_that_units_cannot_name_is_refused(installation, home, prefix):
    before = tree(home.root)
    result = home.run(
        ROOT / "Packaging/install", "install", environment={"PREFIX": prefix, "PROGRAMS": str(home.programs)},
        check=False)
    assert result.status == 64 and result.stderr.startswith("PREFIX=")
    assert tree(home.root) == before


def test_a_prefix_that_may_not_be_written_is_refused_in_one_sentence_before_anything_is_done(installation, home):
    closed = home.root / "closed"
    closed.mkdir(mode=0o555)
    # Root may write anywhere by one capability.
    unprivileged = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
    for command in ("install", "uninstall", "check"):
        result = home.run(
            *unprivileged, ROOT / "Packaging/install", command, check=False,
            environment={"PREFIX": str(closed / "local"), "PROGRAMS": str(home.programs)})
        assert result.status == 64 and result.stdout == "" and list(closed.iterdir()) == []
        first, run, otherwise = result.stderr.splitlines()
        assert "may not write" in first and otherwise.endswith("/.local")
        made = "sudo make uninstall" if command == "uninstall" else "make build && sudo make install"
        assert run == f"  {made} PREFIX={closed}/local"


def test_every_command_has_a_manual_page_that_man_reads_without_a_warning(installation, home):
    installation.make("install")
    manual = installation.prefix / "share" / "man"
    pages = {path.name: path for path in manual.rglob("*.[18]")}
    commands = re.findall(r"^  ([a-z][a-z-]+)  ", home.oauthctl("--help").stdout, re.MULTILINE)
    assert len(commands) > 10
    assert set(pages) == (
        {f"oauthctl-{command}.1" for command in commands if command != "help"}
        | {"oauthctl.1", "git-credential-oauthctl.1", "oauth-dev-server.1", "oauthd.8", "oauthd-fetch.8",
           "oauthd-redirect.8"})
    for name, page in pages.items():
        read = home.run("man", "--warnings", "-l", page, environment={"MANWIDTH": "80", "MANROFFSEQ": ""})
        assert read.stderr == "", name
        assert {"NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"} <= set(read.lines), name
    vault = home.run("man", "-l", pages["oauthctl-vault.1"], environment={"MANWIDTH": "80"}).stdout
    for command in ("passphrase set", "passphrase remove", "key-file add", "key-file remove", "recovery renew"):
        assert f"oauthctl vault {command}" in vault
    login = home.run("man", "-l", pages["oauthctl-login.1"], environment={"MANWIDTH": "80"}).stdout
    for option in re.findall(r"^  (--[a-z-]+)", home.oauthctl("login", "--help").stdout, re.MULTILINE):
        assert option in login or option == "--version"


def test_completions_are_taken_by_their_shells(installation, home):
    installation.make("install")
    share = installation.prefix / "share"
    script = f". {share}/bash-completion/completions/oauthctl; complete -p oauthctl"
    assert re.search(r"complete .*-F \S+ oauthctl", home.run("bash", "-c", script).stdout)
    for shell, file in (("zsh", "zsh/site-functions/_oauthctl"), ("fish", "fish/vendor_completions.d/oauthctl.fish")):
        text = (share / file).read_text()
        assert "get-token" in text and "min-validity" in text
        if shutil.which(shell):
            assert subprocess.run([shell, "-n", share / file], capture_output=True).returncode == 0
