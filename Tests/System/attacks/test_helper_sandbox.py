"""What the processes that talk to servers and browsers could do, were they broken into: measured by trying.

`confined.c` calls what `oauthd-fetch` or `oauthd-redirect` calls before the first byte of a network, and then tries
each thing; `oauthd-fetch` itself is looked at while a silent server holds it, `oauthd-redirect` in
login/test_redirect_helper.py.
"""

import platform
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from support import processes
from support.login import wait_until
from support.unattended import log_in, server_of

CLINUX = ROOT / "Sources" / "CLinux"
NEEDED = ["IPv4", "IPv6", "own addresses", "the named authority", "the system's authorities", "name servers",
          "a thread", "a name"]
# By Landlock alone; where the kernel has none they go through.
FILES = {"read a file": "EACCES", "list a folder": "EACCES", "read the users": "EACCES"}
CALLS = {
    **dict.fromkeys(["write to a file", "append to a file", "make a file", "make a file without a name", "listen",
                     "fork", "trace", "read memory", "signal", "signal a thread", "signal by a descriptor",
                     "writable code", "code made later", "keys of the kernel", "be dumpable", "a namespace",
                     "another program", "make memory with a name"], {"EPERM"}),
    # By name or in a folder: two calls each on x86_64, and one of them is not known to the filter at all.
    **dict.fromkeys(["link a file", "rename a file", "remove a file", "make a folder", "change a mode"],
                    {"EPERM", "ENOSYS"}),
    **dict.fromkeys(["a Unix socket", "an abstract socket", "a pair of datagrams", "audit messages", "raw packets",
                     "kernel ciphers"], {"EAFNOSUPPORT"}),
    "a stream pair to elsewhere": {"EISCONN"},
    "take a connection": {"ENOSYS"},
}
# Who answers on a socket that was handed over needs nothing else.
ANSWERS = {
    **CALLS, "take a connection": {"allowed"},
    **dict.fromkeys(["IPv4", "IPv6", "own addresses", "a thread", "a Unix socket", "an abstract socket",
                     "a pair of datagrams", "audit messages", "raw packets", "kernel ciphers",
                     "a stream pair to elsewhere"], {"EPERM"}),
    "a name": {"ENOENT"},
}
ANSWERS_FILES = {
    **FILES, **dict.fromkeys(["the named authority", "the system's authorities", "name servers"], "EACCES")}
# What a machine may refuse to anybody, so that the free run proves nothing.
MAY_BE_REFUSED = {"raw packets", "kernel ciphers", "audit messages", "a namespace", "keys of the kernel", "trace",
                  "read memory", "a stream pair to elsewhere", "link a file"}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "a C compiler is needed, as for the build"
    target = tmp_path_factory.mktemp("confined") / "confined"
    subprocess.run(
        [compiler, "-O1", "-Wall", "-Werror", f"-I{CLINUX}/include", CLINUX / "clinux_confine.c",
         Path(__file__).with_name("confined.c"), "-o", target, "-pthread"], check=True)
    return target


@pytest.fixture
def tried(home, program):
    """A function: what becomes of each attempt in a mode, and how the program ended."""
    def run(mode):
        folder = home.root / "prey"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        for name in ("secret", "spare", "ca.pem"):
            (folder / name).write_text(name)
        neighbour = home.start("sleep", "60")
        listener, abstract = (socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(2))
        with listener, abstract:
            listener.bind(str(folder / "socket"))
            abstract.bind(b"\0" + folder.name.encode())
            for it in (listener, abstract):
                it.listen()
            try:
                process = home.start(program, mode, folder, neighbour.pid)
                output, errors = process.communicate(timeout=30)
            finally:
                neighbour.kill()
                neighbour.communicate()
        return dict(line.split("\t") for line in output.splitlines()), process.returncode, errors
    return run


def test_each_attempt_would_go_through_without_the_restrictions(tried):
    found, status, _ = tried("free")
    assert status == 0
    refused = {what for what, result in found.items() if what != "version" and result != "allowed"}
    assert refused <= MAY_BE_REFUSED
    assert set(found) == {"version", *NEEDED, *FILES, *CALLS}


def test_nothing_is_left_but_the_network_and_the_files_it_needs(tried):
    found, status, errors = tried("confined")
    assert {what: found[what] for what in NEEDED} == dict.fromkeys(NEEDED, "allowed"), errors
    assert {what: found[what] for what in CALLS if found[what] not in CALLS[what]} == {}
    if int(found["version"]) > 0:
        assert {what: found[what] for what in FILES} == FILES
    if platform.machine() == "x86_64":
        assert status == -signal.SIGSYS, "32-bit calls end the process"


def test_nothing_is_left_but_the_connections_for_who_answers_browsers(tried):
    found, status, errors = tried("answers")
    assert {what: found[what] for what in ANSWERS if found[what] not in ANSWERS[what]} == {}, errors
    assert set(found) == {"version", *ANSWERS, *ANSWERS_FILES}
    if int(found["version"]) > 0:
        assert {what: found[what] for what in ANSWERS_FILES} == ANSWERS_FILES
    if platform.machine() == "x86_64":
        assert status == -signal.SIGSYS, "32-bit calls end the process"


def test_only_the_files_are_open_where_the_kernel_has_no_landlock(tried):
    found, _, _ = tried("bare")
    assert found["version"] == "0"
    assert {what: found[what] for what in [*NEEDED, *FILES]} == dict.fromkeys([*NEEDED, *FILES], "allowed")
    assert {what: found[what] for what in CALLS if found[what] not in CALLS[what]} == {}


def test_a_name_below_local_leaves_unix_sockets_and_nothing_else(tried):
    found, _, _ = tried("local")
    assert found["a Unix socket"] == "allowed"
    others = set(CALLS) - {"a Unix socket", "an abstract socket"}
    assert {what: found[what] for what in others if found[what] not in CALLS[what]} == {}
    if int(found["version"]) >= 6:
        assert found["an abstract socket"] == "EPERM"


# The helper itself

def status_of(process):
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def helpers(home):
    children = Path(f"/proc/{home.agent.process.pid}/task").glob("*/children")
    return [process for file in children for process in file.read_text().split()
            if Path(f"/proc/{process}/comm").read_text().strip() == "oauthd-fetch"]


def test_the_helper_that_waits_for_a_server_is_restricted(home):
    server = server_of(home, "strict")
    home.agent.start()
    log_in(home, server)
    processes.stop(server.process.pid)
    caller = home.start(home.programs / "oauthctl", "get-token", "work", "--force")
    try:
        # It sends after it has restricted itself. Its descriptors would tell nobody but root.
        (helper,) = wait_until(lambda: server.has_unread_request() and helpers(home), 20, "a helper that waits")
        status = status_of(helper)
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
        limits = Path(f"/proc/{helper}/limits").read_text()
        assert re.search(r"Max core file size +0 +0", limits)
        if Path("/proc/self/status").stat().st_uid != 0:
            assert Path(f"/proc/{helper}/status").stat().st_uid == 0, "undumpable"
    finally:
        server.process.send_signal(signal.SIGCONT)
        caller.communicate(timeout=60)
        home.agent.stop()
        server.stop()
    assert caller.returncode == 0, "and it got the token"
