"""What the unit's sandbox does to a process in it, line by line; the text of a line proves nothing."""

import json
import re

import pytest

from systemd.machine import unit

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
BY_FILTER = {
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
    "UMask=0077": {"file mode mask": "0077"},
    "LimitCORE=0": {"core size": "0"},
    "LimitNOFILE=9216": {"open files": "9216"},
}
BY_NAMESPACE = {
    "PrivateUsers=yes": {"who root is": "65534"},
    "ProtectSystem=strict": {"write where everybody may": "EROFS"},
    "ProtectHome=read-only": {
        "write to the home": "EROFS", "write to the configuration": "EROFS", "write to the runtime folder": "EROFS"},
    "PrivateTmp=yes": {"see files of /tmp": "ENOENT", "see files of /var/tmp": "ENOENT"},
    "PrivateDevices=yes": {"see devices": "ENOENT"},
    "ProtectKernelTunables=yes": {"change the kernel's settings": "read-only", "change sysfs": "read-only"},
    "ProtectKernelModules=yes": {"see kernel modules": "hidden"},
    "ProtectKernelLogs=yes": {"see the kernel's log": "hidden"},
    "ProtectControlGroups=yes": {"make a cgroup": "EROFS"},
    "ProtectHostname=yes": {"share the host name": "own"},
    "CapabilityBoundingSet=": {"capabilities to gain": "0000000000000000"},
}

FILTER, NAMESPACE = "oauthd.service", "oauthd.service.d/50-sandbox.conf"


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


@pytest.fixture(scope="module")
def found(machine):
    """What the probes find under no line, under the first part of the sandbox, under both."""
    user = machine.new_user()
    for path in ("/tmp/everybody", "/var/tmp/everybody", "/dev/marker"):
        machine.path(path).touch()
    machine.path("/usr/lib/modules").mkdir(exist_ok=True)
    user.systemctl("start", "oauthd.socket")
    for folder in (".config", ".local/share/oauthctl", ".local/state/oauthctl"):
        user.write(f"{folder}/.keep", "")
    results = [probe(user), probe(user, FILTER), probe(user, FILTER, NAMESPACE)]
    host = machine.run("readlink", "/proc/1/ns/uts").stdout.strip()
    for result in results:
        result["share the host name"] = "allowed" if result["share the host name"] == host else "own"
    yield results
    user.stop()


def line_and_effects(table):
    return [pytest.param(line, effects, id=line) for line, effects in table.items()]


@pytest.mark.parametrize("what", NEEDS)
def test_what_the_agent_needs_is_allowed(found, what):
    assert [result[what] for result in found] == ["allowed"] * 3


@pytest.mark.parametrize(("line", "effects"), line_and_effects(BY_FILTER))
def test_a_line_that_needs_no_namespace(found, line, effects):
    without, under_filter, under_both = found
    for what, effect in effects.items():
        assert without[what] != effect and (under_filter[what], under_both[what]) == (effect, effect), what


@pytest.mark.parametrize(("line", "effects"), line_and_effects(BY_NAMESPACE))
def test_a_line_that_needs_a_user_namespace(found, line, effects):
    without, under_filter, under_both = found
    for what, effect in effects.items():
        assert without[what] == under_filter[what] != effect and under_both[what] == effect, what


def test_no_line_goes_unmeasured():
    """A line whose effect nobody looks at is only hoped for, and an effect without its line is another's.

    Those left out are read elsewhere or are no restriction.
    """
    elsewhere = {"SystemCallErrorNumber", "ReadWritePaths", "ExecStartPre"}
    service = unit(FILTER).split("# What follows needs no namespaces", 1)[1].split("[Install]", 1)[0]
    lines = [line for line in (service + unit(NAMESPACE)).splitlines() if "=" in line and line[0] not in "#["]
    measured = [line for line in lines if line.split("=")[0] not in elsewhere and line not in PERMISSIONS]
    assert sorted(measured) == sorted(set(measured) & (BY_FILTER.keys() | BY_NAMESPACE.keys()))
    for file, table in ((FILTER, BY_FILTER), (NAMESPACE, BY_NAMESPACE)):
        assert table.keys() <= set(unit(file).splitlines()), file


def test_the_agent_itself_is_in_it(user):
    user.systemctl("start", "oauthd.socket")
    user.oauthctl("status")
    process = user.machine.path(f"/proc/{user.agent}")
    status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
    assert (status["NoNewPrivs"], status["Seccomp"], status["CapBnd"]) == ("1", "2", "0" * 16)
    assert (process / "uid_map").read_text().split() == [str(user.uid), str(user.uid), "1"]
    # Nor may another program of its user look into it.
    for file in ("environ", "fd", "mem"):
        looked = user.run("head", "-c1", f"/proc/{user.agent}/{file}", check=False)
        assert looked.status != 0 and "Permission denied" in looked.stderr


def test_files_of_root_are_known_for_roots_in_it(user):
    """Inside, only the user has an owner's number; what belongs to root and to strangers looks the same."""
    user.systemctl("start", "oauthd.socket")
    for path in ("/etc/private-ca.pem", "/srv/open/private-ca.pem"):
        user.machine.path(path).write_text("-----BEGIN CERTIFICATE-----\n")
        name = path.split("/")[1]
        user.write(
            f".config/oauthctl/accounts.d/{name}.toml",
            f'issuer = "https://as.example"\nclient_id = "x"\nca_file = "{path}"\n')
    problems = json.loads(user.oauthctl("status", "--json").stdout)["problems"]
    assert [(problem["file"].rsplit("/", 1)[1], problem["key"]) for problem in problems] == [("srv.toml", "ca_file")]
    assert "belongs to another user" in problems[0]["reason"]


def forbid_user_namespaces(user):
    """As where a hardened kernel or a policy gives none to ordinary users."""
    folder = user.machine.path(f"/etc/systemd/system/user@{user.uid}.service.d")
    folder.mkdir(parents=True)
    (folder / "namespaces.conf").write_text("[Service]\nRestrictNamespaces=~user\n")
    user.machine.run("systemctl", "daemon-reload")
    user.machine.run("systemctl", "restart", f"user@{user.uid}.service")


def test_without_user_namespaces_the_first_part_still_holds(user):
    forbid_user_namespaces(user)
    user.write(".config/systemd/user/oauthd.service.d/50-sandbox.conf", "")
    user.systemctl("daemon-reload")
    user.systemctl("start", "oauthd.socket")
    assert json.loads(user.oauthctl("status", "--json").stdout)["started"] == "systemd"
    process = user.machine.path(f"/proc/{user.agent}/status").read_text()
    assert "NoNewPrivs:\t1" in process and "Seccomp:\t2" in process


def test_without_user_namespaces_the_second_part_does_not_start(user):
    """That is why it is a file of its own."""
    forbid_user_namespaces(user)
    user.systemctl("start", "oauthd.socket")
    assert user.systemctl("start", "oauthd.service", check=False).status != 0
    assert user.show("Result") == "exit-code"


def test_a_service_that_gets_no_user_namespace_is_told_and_one_step_starts_it(user):
    """Callers would wait at a socket behind which nobody will ever be."""
    forbid_user_namespaces(user)
    user.systemctl("enable", "--now", "oauthd.socket")
    cause = "systemd cannot start oauthd.service (217/USER): its sandbox (50-sandbox.conf) takes user namespaces"
    for command in (["status"], ["agent", "restart"], ["get-token", "work"]):
        refused = user.oauthctl(*command, check=False, timeout=25)
        assert refused.status == 7 and cause in refused.stderr, refused
        step = re.search(r"(?m)^  run: (.*)$", refused.stderr)[1]
    report = json.loads(user.oauthctl("doctor", "--json", check=False).stdout)
    found = {finding["check"]: finding for finding in report["findings"] if finding["level"] == "wrong"}
    assert cause in found["units"]["message"] and found["units"]["fix"] == step, found
    assert "agent" not in found
    user.run("sh", "-c", step)
    assert json.loads(user.oauthctl("status", "--json").stdout)["started"] == "systemd"
