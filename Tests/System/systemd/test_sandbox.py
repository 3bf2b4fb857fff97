"""What the unit's lines and the agent's own fence do to a process, one by one; the text of a line proves nothing."""

import ctypes
import json

import pytest

from systemd.machine import BIN, unit

# What the agent needs works in the sandbox as it does without.
NEEDS = [
    "write to the vault's folder", "write to the key's folder", "write to the socket's folder", "read the home",
    "Unix sockets", "IPv4", "IPv6", "own priority", "fences of its own",
]
# Lines that allow something.
PERMISSIONS = {
    "SystemCallFilter=setpriority",
    "SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self"}
# Line of the unit: what is tried, and what becomes of it. Without the unit each of them goes through.
BY_UNIT = {
    "NoNewPrivileges=yes": {"new privileges": "1"},
    "LockPersonality=yes": {"other personality": "EPERM"},
    "MemoryDenyWriteExecute=yes": {"writable code": "EPERM"},
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6": {"netlink": "EAFNOSUPPORT"},
    "RestrictNamespaces=yes": {"user namespace": "EPERM"},
    "RestrictSUIDSGID=yes": {"set-user-ID file": "EPERM"},
    "SystemCallArchitectures=native": {"32-bit system call": "status -31"},
    "SystemCallFilter=@system-service": {"trace": "EPERM"},
    "SystemCallFilter=~@privileged @resources": {
        "scheduler": "EPERM", "read the clock's settings": "EPERM", "chroot": "EPERM"},
    "SystemCallFilter=~@aio": {"io_uring": "EPERM"},
    "SystemCallFilter=~chmod fchmod fchmodat fchmodat2 setxattr lsetxattr fsetxattr removexattr lremovexattr "
    "fremovexattr": {
        "change rights": "EPERM", "change rights by the newer call": "EPERM", "set an attribute": "EPERM"},
    "SystemCallFilter=~utime utimes utimensat futimesat truncate": {
        "change times": "EPERM", "empty a file by its name": "EPERM"},
    "UMask=0077": {"file mode mask": "0077"},
    "LimitCORE=0": {"core size": "0"},
    "LimitNOFILE=9216": {"open files": "9216"},
}
# What the agent takes away from itself, and from what it starts. Without the fence each of them goes through.
BY_FENCE = {
    "write where everybody may": "EACCES", "write to the home": "EACCES", "write to the configuration": "EACCES",
    "write to the runtime folder": "EACCES", "change a file of the home": "EACCES",
    "remove a file of the home": "EACCES", "move a file out": "EACCES", "make a folder in the home": "EACCES",
    "make a link in the home": "EACCES", "change what a device is set to": "EACCES",
}
UNIT = "oauthd.service"


def landlock_version():
    """By the number that the call (landlock_create_ruleset) has everywhere; -1: the kernel has none."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1)


def probe(user, *files):
    """What `probe.py` finds in a service with the lines of these unit files: its program is all that differs."""
    result = f"/srv/open/probe-{user.uid}.json"
    user.machine.path(result).unlink(missing_ok=True)
    # What a system may set by default; the unit's own lines come later and win.
    defaults = "[Service]\nLimitCORE=1M\n"
    lines = [defaults] + [unit(file).replace("oauthd.socket", "") for file in files] + [
        "[Service]", "Type=oneshot", "WatchdogSec=0", "Restart=no", "ExecReload=", "ExecStart=",
        "ExecStart=/usr/bin/python3 -B /srv/tests/probe.py", f"StandardOutput=truncate:{result}", ""]
    user.write(".config/systemd/user/probe.service", "\n".join(lines))
    user.systemctl("daemon-reload")
    user.systemctl("start", "probe.service")
    return json.loads(user.machine.path(result).read_text())


def probe_in_agent(user):
    """The same in the place of `oauthd-fetch`, started by an agent in its unit."""
    result = ".local/state/oauthctl/probe.json"
    user.write("fenced/oauthd-fetch", f"""#!/bin/sh
export HOME={user.home} XDG_RUNTIME_DIR={user.runtime}
cd && /usr/bin/python3 -B /srv/tests/probe.py >{result}.new && mv {result}.new {result}
""", 0o755)
    user.run("cp", f"{BIN}/oauthd", "fenced/oauthd")
    user.set_unit("50-fenced", f"[Service]\nExecStart=\nExecStart={user.home}/fenced/oauthd\n")
    user.oauthctl("login", "work", "http://127.0.0.1:9", "--client-id", "x", check=False)
    return json.loads(user.path(result).read_text())


@pytest.fixture(scope="module")
def found(machine):
    """What the probes find under no line, under the unit's, and in an agent."""
    user = machine.new_user()
    user.systemctl("start", "oauthd.socket")
    for folder in (".config", ".local/share/oauthctl", ".local/state/oauthctl"):
        user.write(f"{folder}/.keep", "")
    yield [probe(user), probe(user, UNIT), probe_in_agent(user)]
    user.stop()


def line_and_effects(table):
    return [pytest.param(line, effects, id=line) for line, effects in table.items()]


@pytest.mark.parametrize("what", NEEDS)
def test_what_the_agent_needs_is_allowed(found, what):
    assert [result[what] for result in found] == ["allowed"] * 3


@pytest.mark.parametrize(("line", "effects"), line_and_effects(BY_UNIT))
def test_a_line_of_the_unit(found, line, effects):
    without, under_unit, in_agent = found
    for what, effect in effects.items():
        assert without[what] != effect and (under_unit[what], in_agent[what]) == (effect, effect), what


@pytest.mark.parametrize(("what", "effect"), BY_FENCE.items(), ids=BY_FENCE)
def test_the_agent_changes_no_file_but_its_own(found, what, effect):
    # Of devices Landlock knows since Linux 6.10.
    needed = 5 if what == "change what a device is set to" else 1
    if landlock_version() < needed:
        pytest.skip(f"needs a kernel with Landlock, version {needed} or later")
    assert [result[what] for result in found] == ["allowed", "allowed", effect]


def test_no_line_goes_unmeasured():
    """A line whose effect nobody looks at is only hoped for, and an effect without its line is another's.

    Those left out are read elsewhere or are no restriction.
    """
    lines = unit(UNIT).split("# Files are fenced off by oauthd itself", 1)[1].split("[Install]", 1)[0].splitlines()[1:]
    measured = [
        line for line in lines if "=" in line and line[0] not in "#["
        and not line.startswith("SystemCallErrorNumber=") and line not in PERMISSIONS]
    assert sorted(measured) == sorted(set(measured) & BY_UNIT.keys())
    assert BY_UNIT.keys() <= set(unit(UNIT).splitlines())


def test_the_agent_itself_is_in_it(user):
    user.systemctl("start", "oauthd.socket")
    user.oauthctl("status")
    process = user.machine.path(f"/proc/{user.agent}")
    status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    # Nor may another program of its user look into it.
    for file in ("environ", "fd", "mem"):
        looked = user.run("head", "-c1", f"/proc/{user.agent}/{file}", check=False)
        assert looked.status != 0 and "Permission denied" in looked.stderr
