"""Names that are no UTF-8, beside what a program makes of them that repairs them. Each test is the attack."""

import os
import subprocess
import tempfile

import pytest

from support.accounts import account_file
from support.others import as_nobody
from support.unattended import log_in

ODD, REPAIRED = b"d\xff", "d\ufffd".encode()
PRECIOUS = b"precious = 1\n"


def put(path, data, mode=0o600):
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


def behind_link(home, file, data):
    """`file` becomes a link to one with `data` in a folder with an odd name; the repaired name has another."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    root = os.fsencode(home.root)
    mine, other = (root + b"/" + folder + b"/" + os.fsencode(file.name) for folder in (ODD, REPAIRED))
    put(mine, data)
    put(other, PRECIOUS)
    os.symlink(mine, file)
    return mine, other


COMMANDS = {
    "add-scope": ("login", "work", "--add-scope", "openid"),
    "replace": ("login", "work", "http://127.0.0.1:1", "--client-id", "other", "--replace"),
    "proxy": ("setup", "proxy", "--yes"), "scheme": ("setup", "scheme", "com.example.app", "--yes")}


@pytest.mark.parametrize("command", list(COMMANDS))
def test_no_file_is_replaced_behind_a_link_to_a_name_that_is_no_text(vault, command):
    file, data = {
        "proxy": (vault.config / "oauthctl" / "config.toml", b'log_level = "info"\n'),
        "scheme": (vault.config / "mimeapps.list", b"[Default Applications]\nx=y\n"),
    }.get(command) or (account_file(vault), account_file(vault).read_bytes())
    mine, other = behind_link(vault, file, data)
    vault.oauthctl("reload", check=False)
    told = vault.oauthctl(
        *COMMANDS[command], check=False, environment={"https_proxy": "http://127.0.0.1:3128"})
    assert told.status != 0, told
    assert [open(path, "rb").read() for path in (mine, other)] == [data, PRECIOUS]
    assert os.path.islink(file) and os.listdir(os.path.dirname(other)) == [os.path.basename(other)]


def test_an_account_file_behind_such_a_link_is_not_read_by_another_way(vault, server):
    """The folder may be written by everybody; that of the repaired name may not."""
    log_in(vault, server)
    file = account_file(vault)
    mine, other = behind_link(vault, file, file.read_bytes())
    os.chmod(os.path.dirname(mine), 0o777)
    put(other, open(mine, "rb").read())
    told = vault.oauthctl("reload", check=False)
    assert told.status == 3 and "no UTF-8" in told.stderr, told


@pytest.fixture
def shared():
    """A folder in which everybody may make files, as /tmp."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o1777)
        yield folder


def test_no_agent_is_started_from_a_folder_of_the_repaired_name(home, shared):
    """The folder of the repaired name is another user's."""
    common = os.fsencode(shared)
    os.mkdir(common + b"/" + ODD)
    os.chmod(common + b"/" + ODD, 0o755)
    for name in ("oauthctl", "oauthd"):
        put(common + b"/" + ODD + b"/" + os.fsencode(name), (home.programs / name).read_bytes(), 0o755)
    ran = common + b"/ran"

    def plant():
        os.mkdir(common + b"/" + REPAIRED)
        put(common + b"/" + REPAIRED + b"/oauthd", b"#!/bin/sh\nid >%s" % ran, 0o755)
        os.chmod(common + b"/" + REPAIRED, 0o755)

    as_nobody(plant)
    told = subprocess.run(
        ["oauthctl", "status"], executable=common + b"/" + ODD + b"/oauthctl", env=home.environment,
        capture_output=True, text=True, timeout=60)
    assert told.returncode != 0 and "no UTF-8" in told.stderr, told
    assert not os.path.exists(ran)


@pytest.mark.parametrize("variable", ["BROWSER", "PATH"])
def test_no_program_of_the_repaired_name_is_started(vault, variable):
    root = os.fsencode(vault.root)
    for folder in (ODD, REPAIRED):
        put(root + b"/" + folder + b"/opener", b"#!/bin/sh\necho %s >%s/ran\n" % (folder[-1:], root), 0o755)
    environment = {os.fsencode(name): os.fsencode(value) for name, value in vault.environment.items()}
    environment |= {b"BROWSER": root + b"/" + ODD + b"/opener"}
    if variable == "PATH":
        environment |= {b"BROWSER": b"opener", b"PATH": root + b"/" + ODD + b":/usr/bin:/bin"}
    told = subprocess.run(
        [vault.programs / "oauthctl", "login", "work", "--timeout", "2"], env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, timeout=60)
    assert told.returncode != 0 and not os.path.exists(root + b"/ran"), told


@pytest.mark.parametrize("folder", ["no text", "gone"])
def test_a_file_is_not_looked_for_in_another_folder_than_the_shell_s(home, agent, folder):
    root = os.fsencode(home.root)
    for name in (ODD, REPAIRED):
        put(root + b"/" + name + b"/ca.pem", b"-----BEGIN CERTIFICATE-----\n")
    command = [str(home.programs / "oauthctl"), "login", "work", "https://127.0.0.1:9", "--client-id", "a"]
    if folder == "gone":
        put(root + b"/gone/x", b"")
        command += ["--ca", home.root.relative_to("/") / REPAIRED.decode() / "ca.pem"]
        shell = ["sh", "-c", 'cd "$0" && rm -r "$0" && exec "$@"', root + b"/gone", *command]
    else:
        shell = ["sh", "-c", 'cd "$0" && exec "$@"', root + b"/" + ODD, *command, "--ca", "ca.pem"]
    told = subprocess.run(shell, env=home.environment, capture_output=True, text=True, timeout=60)
    assert told.returncode == 64 and "whole path" in told.stderr, told
    assert not account_file(home).exists()
