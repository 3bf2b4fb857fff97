"""`make install` and `make uninstall`: everything in its place, nothing enabled, and away again without a trace."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from install.installation import ROOT, commands, installation, tree
from support.memory import may_attach, may_read
from support.others import as_nobody, before_its_first_line

PROGRAMS = {"oauthctl", "oauthd", "oauthd-fetch", "oauthd-redirect"}


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


def test_a_folder_without_programs_is_told_by_the_variable_that_named_it(installation):
    told = installation.make("install", "OAUTHCTL_BIN=/nowhere", check=False)
    assert told.status != 0 and "OAUTHCTL_BIN=/nowhere has no oauthctl:" in told.stderr, told
    assert "make build" not in told.stderr
    assert not (installation.prefix / "bin").exists()


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


def test_destdir_stands_before_every_path_and_in_none(installation, home):
    destination = home.root / "image"
    before = set(tree(home.root))
    result = installation.make("install", f"DESTDIR={destination}", "PREFIX=/usr/local")
    assert result.lines == [f"Installed below {destination}/usr/local."]
    assert all(path.is_relative_to("image") for path in set(tree(home.root)) - before)
    units = [path for path in (destination / "usr/local/lib/systemd/user").rglob("*") if path.is_file()]
    assert {path.name for path in units} == {"oauthd.service", "oauthd.socket"}
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


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_program_that_is_of_no_use_by_itself_says_so(home, option):
    told = home.run(home.programs / "oauthd-fetch", option)
    assert len(told.lines) == 1 and "started by oauthd" in told.stdout and told.stderr == ""


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
        | {"oauthctl.1", "git-credential-oauthctl.1", "oauthd.8", "oauthd-fetch.8", "oauthd-redirect.8"})
    for name, page in pages.items():
        read = home.run("man", "--warnings", "-l", page, environment={"MANWIDTH": "80", "MANROFFSEQ": ""})
        assert read.stderr == "", name
        assert {"NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"} <= set(read.lines), name
        others = re.findall(r"^\.Xr (\S+) (\d)", page.read_text(), re.MULTILINE)
        assert {f"{other}.{section}" for other, section in others} <= set(pages), f"{name} leads nowhere"
        assert not name.startswith("oauthctl-") or ("oauthctl", "1") in others and "EXIT STATUS" in read.lines, name
    vault = home.run("man", "-l", pages["oauthctl-vault.1"], environment={"MANWIDTH": "80"}).stdout
    for command in ("passphrase set", "passphrase remove", "key-file add", "key-file remove", "recovery renew"):
        assert f"oauthctl vault {command}" in vault
    first = home.run("man", "-l", pages["oauthctl.1"], environment={"MANWIDTH": "80"}).stdout
    assert "oauthctl [-v] command [argument ...]" in first
    curl = home.run("man", "-l", pages["oauthctl-curl.1"], environment={"MANWIDTH": "80"}).stdout
    assert "oauthctl curl [--any-host] [--scope scope] [--resource URL] [--audience text]" in " ".join(curl.split())
    login = home.run("man", "-l", pages["oauthctl-login.1"], environment={"MANWIDTH": "80"}).stdout
    assert "oauthctl login https://mcp.example.com/mcp" in map(str.strip, login.splitlines()), "an example a line"
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
