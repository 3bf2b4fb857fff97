"""What a command replaces is opened to nobody else, and is in no home of another user."""

import os
import struct
import subprocess

import pytest

from support.others import NOBODY, home_of_nobody

OTHER, OWN_GROUP, USERS = 65533, 4321, 100
LISTED = "[Default Applications]\ntext/html=firefox.desktop\n"
COMMANDS = {"mimeapps.list": ["setup", "scheme", "com.example.app", "--yes"], "oauthctl/config.toml": [
    "setup", "proxy", "--yes"], "git": ["setup", "git", "--host", "git.example", "--yes"]}


def access_list(*entries):
    """As the kernel keeps it: tag, rights and id of each (acl(5))."""
    nobody = 0xFFFFFFFF
    return struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, rights, who if who is not None else nobody) for tag, rights, who in entries)


# user::rw-, user:4444:r--, group::---, mask::r--, other::---
LIST = access_list((1, 6, None), (2, 4, 4444), (4, 0, None), (16, 4, None), (32, 0, None))


def may_read(path):
    """Another user, of the group that is everybody's."""
    return subprocess.run(["cat", path], user=OTHER, group=USERS, extra_groups=[], capture_output=True).returncode == 0


@pytest.fixture
def files(scratch, programs):
    """(home, file by what it is of): a home of `nobody`."""
    with home_of_nobody(scratch, programs) as home:
        (home.config / "oauthctl").mkdir(parents=True, exist_ok=True)
        files = {name: home.config / name for name in ("mimeapps.list", "oauthctl/config.toml")}
        files["mimeapps.list"].write_text(LISTED)
        files["oauthctl/config.toml"].write_text("# mine\n")
        files["git"] = home.root / ".gitconfig"
        files["git"].write_text("[user]\n\tname = Alice\n")
        for path in [home.root, *home.root.rglob("*")]:
            os.lchown(path, NOBODY, USERS)
        for path in (home.root, home.config, home.config / "oauthctl"):
            path.chmod(0o755)
        yield home, files


def run(home, command, user, **more):
    process = home.start(
        home.programs / "oauthctl", *COMMANDS[command], user=user, group=USERS if user else 0, extra_groups=[
            OWN_GROUP] if user else [], environment={"HTTPS_PROXY": "http://proxy.example:3128"}, **more)
    _, told = process.communicate(timeout=60)
    return process.returncode, told


@pytest.mark.parametrize("kind", ["group", "access list", "list of the folder"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_replaced_is_opened_to_nobody_else(files, command, kind):
    home, files = files
    file = files[command]
    if kind == "access list":
        file.chmod(0o600)
        os.setxattr(file, "system.posix_acl_access", LIST)
    else:
        os.chown(file, NOBODY, OWN_GROUP)
        file.chmod(0o640)
    if kind == "list of the folder":
        os.setxattr(file.parent, "system.posix_acl_default", access_list(
            (1, 7, None), (2, 6, OTHER), (4, 0, None), (16, 6, None), (32, 0, None)))
    before = file.stat()
    assert not may_read(file)
    status, told = run(home, command, NOBODY)
    home.start(
        home.programs / "oauthctl", "agent", "stop", user=NOBODY, group=USERS, extra_groups=[]).communicate(timeout=60)
    assert status == 0 and file.stat().st_ino != before.st_ino, told
    assert not may_read(file)
    assert (file.stat().st_mode, file.stat().st_gid) == (before.st_mode, before.st_gid)
    kept = [LIST] if kind == "access list" else []
    assert [os.getxattr(file, name) for name in os.listxattr(file)] == kept


def test_a_group_that_cannot_be_kept_loses_its_rights(files):
    home, files = files
    file = files["mimeapps.list"]
    os.chown(file, NOBODY, OWN_GROUP)
    file.chmod(0o664)
    process = home.start(
        home.programs / "oauthctl", *COMMANDS["mimeapps.list"], user=NOBODY, group=USERS, extra_groups=[])
    process.communicate(timeout=60)
    assert process.returncode == 0 and "com.example.app" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600 and not may_read(file)


@pytest.mark.parametrize("command", COMMANDS)
def test_root_sets_nothing_up_in_the_home_of_another_user(files, command):
    home, files = files
    before = {path: (path.lstat().st_uid, path.lstat().st_ino) for path in home.root.rglob("*")}
    environment = {"HOME": str(home.root), "PATH": home.environment["PATH"], "HTTPS_PROXY": "http://proxy.example:3128"}
    told = subprocess.run(
        [home.programs / "oauthctl", *COMMANDS[command]], env=environment, cwd="/", stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60)
    assert told.returncode == 3 and "HOME belongs to another user" in told.stderr, told
    assert {path: (path.lstat().st_uid, path.lstat().st_ino) for path in home.root.rglob("*")} == before


@pytest.mark.parametrize("command", COMMANDS)
def test_root_sets_nothing_up_where_variables_of_another_user_lead(files, home, command):
    """su(1) keeps them, and sets HOME alone."""
    theirs, _ = files
    before = {path: (path.lstat().st_uid, path.lstat().st_ino) for path in theirs.root.rglob("*")}
    told = home.oauthctl(*COMMANDS[command], check=False, environment={
        "XDG_CONFIG_HOME": str(theirs.config), "XDG_DATA_HOME": str(theirs.data),
        "GIT_CONFIG_GLOBAL": str(theirs.root / ".gitconfig"), "HTTPS_PROXY": "http://proxy.example:3128"})
    assert told.status == 3 and "belongs to another user" in told.stderr, told
    assert {path: (path.lstat().st_uid, path.lstat().st_ino) for path in theirs.root.rglob("*")} == before
