"""Attacks on what `oauthctl` does with a token: who gets it, which programs run, what a core file would keep.

Each test is the attack: it was seen to succeed before the program was mended.
"""

import fcntl
import os
import pty
import resource
import shutil
import signal
import subprocess
import termios

import pytest

from attacks.client import curl, work
from support.login import wait_until
from support.memory import search
from support.processes import stopped

PASSPHRASE = "a passphrase of some length, said once"
# Of a secret on its way to the agent.
COPIES = 3


# Which programs run

THIEF = '#!/bin/sh\ncat "$3" > {stolen} 2>&1\necho "$@" >> {stolen}\n'
# What stands before the system's folders in PATH. `bin` is the home's own folder, from where every command here is run.
FOLDERS = {
    "a dot": ".", "nothing": "", "a relative folder": "bin", "a dot of procfs": "/proc/self/cwd",
    "another": "/dev/fd/../cwd", "everybody's folder": "{root}/open",
    # Which everybody may replace.
    "a folder in everybody's": "{root}/open/below"}


@pytest.fixture(params=FOLDERS, ids=lambda name: name.replace(" ", "-"))
def thieves(request, work):
    """Programs with well-known names where PATH should not lead; `run` tells whether one ran."""
    stolen = work.root / "stolen"
    folder = work.root / "open"
    below = folder / "below"
    below.mkdir(parents=True)
    for place in (work.root, work.bin, folder, below):
        for name in ("curl", "git", "xdg-open"):
            (place / name).write_text(THIEF.format(stolen=stolen))
            (place / name).chmod(0o755)
    folder.chmod(0o777)
    first = FOLDERS[request.param].format(root=work.root)
    work.environment["PATH"] = f"{first}:/usr/local/bin:/usr/bin:/bin"
    work.environment.pop("BROWSER", None)
    yield stolen
    for place in (work.root, work.bin, folder, below):
        for name in ("curl", "git", "xdg-open"):
            (place / name).unlink()


def test_curl_is_not_taken_from_where_anybody_could_put_one(work, dot, thieves):
    assert curl(work, "-sS", dot.resource).stdout == '{"hello": "alice"}'
    assert not thieves.exists()


def test_git_is_not_taken_from_where_anybody_could_put_one(work, thieves):
    work.oauthctl("setup", "git", "--yes")
    work.oauthctl("doctor", check=False)
    assert not thieves.exists()
    assert "oauthctl" in (work.root / ".gitconfig").read_text()


def test_a_browser_is_not_taken_from_where_anybody_could_put_one(work, thieves):
    # Without a display none is looked for at all.
    work.environment["DISPLAY"] = ":0"
    work.run("timeout", "3", work.programs / "oauthctl", "login", "work", check=False)
    assert not thieves.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a link of another user's")
@pytest.mark.parametrize("link", ["another user's", "in a folder that anybody may write", "ours"])
def test_no_program_is_found_behind_a_link_that_somebody_else_may_turn(work, dot, link):
    """It leads to curl now, and to whatever he likes later."""
    folder = work.root / "shared"
    folder.mkdir()
    curl_there = shutil.which("curl")
    (folder / "link").symlink_to(os.path.dirname(curl_there))
    if link.startswith("another"):
        os.chown(folder / "link", 12345, 12345, follow_symlinks=False)
    elif link.startswith("in a"):
        folder.chmod(0o777)
    result = work.oauthctl(
        "-v", "curl", "-sS", dot.resource, environment={"PATH": f"{folder}/link"}, check=link == "ours")
    if link == "ours":
        # Without the link in its name: what was looked at is what is started.
        assert f"oauthctl: started {os.path.realpath(curl_there)}" in result.stderr.splitlines()
    else:
        assert result.status != 0 and "started" not in result.stderr, result


# Cores

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to see where another process sleeps")


def start_with_cores(home, *arguments, limit=None, **options):
    """Start `oauthctl` where the user wants cores of `limit` bytes, in a process group of its own."""
    def allow():
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1] if limit is None else limit
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        # Whoever runs the tests in the background has it ignored, which children inherit.
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)

    return home.start(home.programs / "oauthctl", *arguments, start_new_session=True, preexec_fn=allow, **options)


def cores(home):
    """Core files, which lie where the program ran."""
    with open("/proc/sys/kernel/core_pattern") as file:
        pattern = file.read().strip()
    if pattern.startswith(("/", "|", "@")) or resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        pytest.skip(f"cores of this machine go elsewhere: {pattern}")
    return sorted(path.name for path in home.root.glob(pattern.partition("%")[0] + "*"))


@needs_root
def test_a_quit_key_during_curl_leaves_no_core(work, dot):
    """Neither of `oauthctl` nor of curl; the key reaches both."""
    assert cores(work) == []
    process = start_with_cores(work, "curl", "-sS", dot.api("slow") + "?seconds=30")
    wait_in(wait_until(lambda: curl_of(process.pid), 20, "curl runs"), "poll")
    os.killpg(process.pid, signal.SIGQUIT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGQUIT, said
    assert cores(work) == []


def test_a_core_that_a_program_takes_has_no_memory_of_curl(work, dot):
    """A hard limit of 0 cannot be raised, and does not keep the kernel from handing a core to a program (core(5))."""
    process = start_with_cores(work, "curl", "-sS", dot.api("slow") + "?seconds=30", limit=0)
    curl = wait_until(lambda: curl_of(process.pid), 20, "curl runs")
    with open(f"/proc/{curl}/coredump_filter") as file:
        filtered = file.read().strip()
    process.terminate()
    process.communicate(timeout=20)
    assert filtered == "00000000"


def curl_of(pid):
    """The process id of the curl that a process has started; None before."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    for child in children:
        with open(f"/proc/{child}/comm") as file:
            if file.read() == "curl\n":
                return int(child)
    return None


def wait_in(pid, call):
    """Until a process sleeps in this call of the kernel."""
    def sleeps():
        with open(f"/proc/{pid}/wchan") as file:
            return call in file.read()

    wait_until(sleeps, 20, f"it waits in {call}")


@needs_root
@pytest.mark.parametrize("command", [
    "vault passphrase set", "secret set work client_secret", "get-token work --rejected-stdin"])
def test_a_quit_key_while_a_secret_is_handed_over_leaves_no_core(work, command):
    process = start_with_cores(work, *command.split(), stdin=subprocess.PIPE)
    wait_in(process.pid, "pipe_read")
    with stopped(work.agent.process.pid):
        process.stdin.write(PASSPHRASE + "\n")
        process.stdin.close()
        wait_in(process.pid, "poll")
        found = search(process.pid, {"secret": {PASSPHRASE.encode()}}, work.temporary)
        os.kill(process.pid, signal.SIGQUIT)
        process.wait(20)
    assert process.returncode == -signal.SIGQUIT and cores(work) == []
    # What is sent just then, and the value it was made from; the buffers of reading and printing are wiped.
    assert len(found) <= COPIES, found


@needs_root
@pytest.mark.parametrize("named", [None, "enable=yes,swift-backtrace={}"], ids=["beside", "by the environment"])
def test_a_crash_starts_no_program_that_prints_memory(home, named):
    """Swift's runtime would start one of this name, which is there to print the memory of who crashed."""
    folder = home.temporary / "programs"
    folder.mkdir()
    client = shutil.copy(home.programs / "oauthctl", folder)
    ran = folder / "ran"
    printer = folder / "swift-backtrace"
    printer.write_text(f"#!/bin/sh\necho ran > {ran}\n")
    printer.chmod(0o755)
    environment = {"SWIFT_BACKTRACE": named.format(printer)} if named else {}
    process = home.start(
        client, "get-token", "work", "--rejected-stdin", stdin=subprocess.PIPE,
        environment=environment)
    wait_in(process.pid, "pipe_read")
    os.kill(process.pid, signal.SIGSEGV)
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGSEGV and not ran.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to see whose the files of a process are")
def test_another_program_of_the_user_cannot_look_into_the_client(home):
    """The kernel gives the files of such a process to root; a user of this machine must not be able to open them."""
    found = as_user(home)
    assert found == (True, False)


def as_user(home):
    """As user nobody: whether a program of ours runs, and whether another of the same user may read its memory."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            ends = os.pipe()
            inner = os.fork()
            if inner == 0:
                os.dup2(ends[0], 0)
                arguments = ["oauthctl", "get-token", "x", "--rejected-stdin"]
                os.execve(home.programs / "oauthctl", arguments, {"PATH": "/bin"})

            def waits():
                with open(f"/proc/{inner}/comm") as name, open(f"/proc/{inner}/stat") as state:
                    return name.read().strip() == "oauthctl" and state.read().rpartition(")")[2].split()[0] == "S"
            wait_until(waits, 60, "it waits for its input")
            try:
                open(f"/proc/{inner}/mem", "rb").close()
                may = b"1"
            except PermissionError:
                may = b"0"
            os.write(write, b"1" + may)
            os.kill(inner, signal.SIGKILL)
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    return said[:1] == b"1", said[1:] == b"1"


@pytest.mark.parametrize("place", ["> /dev/full", ">&-"])
@pytest.mark.parametrize("command", ["recovery renew", "rekey"])
def test_a_recovery_code_that_was_not_written_is_told_so(work, command, place):
    result = work.run("sh", "-c", f'"$0" vault {command} {place}', work.programs / "oauthctl", check=False)
    assert result.status == 1 and "run: oauthctl vault recovery renew" in result.stderr, result


def test_data_for_a_closed_standard_output_is_no_success(work):
    result = work.run("sh", "-c", '"$0" get-token work >&-', work.programs / "oauthctl", check=False)
    assert result.status == 1 and "cannot write to standard output" in result.stderr, result


def test_an_end_while_a_secret_is_typed_leaves_the_terminal_as_it_was(work):
    ours, theirs = pty.openpty()
    process = work.start(
        work.programs / "oauthctl", "secret", "set", "work", "refresh_token", "--replace",
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    try:
        wait_until(lambda: not termios.tcgetattr(ours)[3] & termios.ECHO, 30, "the echo is off")
        shown = b""
        while b": " not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGTERM)
        # What was begun is taken back first; the status is that of whom the signal ended.
        assert process.wait(60) == 128 + signal.SIGTERM
        assert termios.tcgetattr(ours)[3] & termios.ECHO
    finally:
        process.kill()
        process.wait()
        os.close(theirs)
        os.close(ours)


@pytest.mark.parametrize("command", [
    ("setup", "proxy", "--remove", "--yes"), ("doctor",), ("login", "pipe", "http://127.0.0.1:9", "--client-id", "c")],
    ids=" ".join)
def test_no_pipe_in_place_of_a_file_is_waited_for(work, command):
    folder = work.config / "oauthctl"
    for file in (folder / "config.toml", folder / "accounts.d/pipe.toml"):
        os.mkfifo(file)
    work.oauthctl(*command, check=False)


def test_a_link_to_the_settings_stays_a_link(work):
    file, behind = work.config / "oauthctl/config.toml", work.root / "dotfiles.toml"
    behind.write_text("")
    behind.chmod(0o640)
    file.symlink_to(behind)
    result = work.oauthctl("setup", "proxy", "--yes", environment={"HTTPS_PROXY": "http://127.0.0.1:9"})
    assert file.is_symlink() and "127.0.0.1:9" in behind.read_text() and behind.stat().st_mode & 0o777 == 0o640
    assert "(a link to ~/dotfiles.toml)" in result.stdout + result.stderr, result
