"""The log of an agent that `oauthctl` started: bounded, private, without secrets, and never in the way."""

import contextlib
import fcntl
import json
import os
import re
import subprocess
from pathlib import Path

from network.namespaces import isolated, needs_root, run
from support.accounts import define
from support.dev_server import consenting
from support.disk import fill
from support.login import wait_until
from support.others import home_of_nobody

LINE = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warning|notice|info|debug): .+")
BOUND = 1 << 20


def log_file(home):
    return home.state / "oauthctl" / "oauthd.log"


def start(home, **options):
    return json.loads(home.oauthctl("status", "--json", **options).stdout)["pid"]


def logged(home, word):
    """Waits for it: lines are written by another thread than the one that answers."""
    return wait_until(lambda: log_file(home).exists() and word in log_file(home).read_text(), 20, f"{word} in the log")


def test_it_is_private_and_has_the_life_of_the_agent(home):
    pid = start(home)
    logged(home, "listening")
    assert log_file(home).stat().st_mode & 0o777 == 0o600 and log_file(home).parent.stat().st_mode & 0o777 == 0o700
    home.oauthctl("agent", "stop")
    lines = log_file(home).read_text().splitlines()
    assert all(LINE.fullmatch(line) for line in lines), lines
    assert f"pid={pid}" in lines[0] and lines[-1].endswith("info: stopping")


def test_it_has_no_secret(home):
    define_level(home, "debug")
    with consenting(home) as server:
        home.oauthctl("login", "work", server.issuer, "--client-id", "dev")
        tokens = {home.oauthctl("get-token", "work", *words).stdout.strip() for words in ([], ["--force"])}
        home.oauthctl("get-token", "nobody", check=False)
        logged(home, "refused (failure=account_unknown")
    text = log_file(home).read_text()
    assert "work: logged in" in text and "work: a token was granted" in text and len(tokens) == 2
    assert not any(secret in text for secret in tokens)
    assert not any(word in text for word in ("Bearer ", "refresh_token=", "code="))


def define_level(home, level):
    folder = home.config / "oauthctl"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "config.toml").write_text(f'log_level = "{level}"\n')


def test_the_level_follows_the_file_while_the_agent_runs(home):
    define_level(home, "error")
    start(home)
    home.oauthctl("get-token", "nobody", check=False)
    define_level(home, "debug")
    assert home.oauthctl("reload").status == 0
    home.oauthctl("get-token", "nobody", check=False)
    logged(home, "refused (failure=account_unknown")
    lines = log_file(home).read_text().splitlines()
    assert not any("listening" in line for line in lines) and sum("refused" in line for line in lines) == 1
    define_level(home, "warn")
    failed = home.oauthctl("reload", check=False)
    assert failed.status == 3 and 'log_level: "warn" is none of "error", "warning", "info", "debug"' in failed.stderr


def test_it_is_bounded(home):
    """Grown almost to its bound, the next lines begin a new one, and the one before the last is gone."""
    start(home)
    logged(home, "listening")
    for text in ("first", "second"):
        log_file(home).write_bytes(f"{text}\n".encode() * (BOUND // (len(text) + 1)))
        home.oauthctl("agent", "restart")
        logged(home, "listening")
    older = log_file(home).with_name("oauthd.log.1")
    assert older.read_text().startswith("second") and older.stat().st_size <= BOUND
    assert log_file(home).stat().st_size < BOUND and older.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in log_file(home).parent.glob("*.log*")} == {"oauthd.log", "oauthd.log.1"}


def test_no_link_is_followed(home):
    target = home.root / "target"
    target.touch(mode=0o600)
    log_file(home).parent.mkdir(mode=0o700)
    log_file(home).symlink_to(target)
    start(home)
    wait_until(lambda: "is a symbolic link" in home.oauthctl("status").stdout, 20, "what is wrong is told")
    assert target.read_text() == ""
    doctor = home.oauthctl("doctor", check=False)
    assert doctor.status == 1 and f"the log cannot be written: {home.shown(log_file(home))}" in doctor.stdout
    log_file(home).unlink()
    wait_until(lambda: "symbolic link" not in home.oauthctl("status").stdout, 20, "it is right again")


@needs_root
def test_a_full_disk_costs_lines_and_tells_how_many(home):
    """Only the state folder's disk: the vault is elsewhere."""

    def ask():
        assert home.oauthctl("get-token", "nobody", check=False).status == 3

    def story():
        run("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", home.state)
        define_level(home, "debug")
        pid = start(home)
        logged(home, "listening")
        fill(home.state / "filler")
        # What is left of the log's last page takes some lines.
        for _ in range(200):
            ask()
            if "No space left" in home.oauthctl("status").stdout:
                break
        # A shorter line than the first that was lost may still fit.
        for _ in range(10):
            ask()
        (home.state / "filler").unlink()
        ask()
        logged(home, "lost here")
        lost = int(re.search(r"warning: (\d+) lines were lost here\n", log_file(home).read_text())[1])
        assert lost >= 5 and start(home) == pid
        home.oauthctl("agent", "stop")

    isolated(story)


@needs_root
def test_a_read_only_state_folder_ends_nothing(home):
    def story():
        run("mount", "-t", "tmpfs", "-o", "ro,mode=700", "tmpfs", home.state)
        pid = start(home)
        wait_until(lambda: "Read-only file system" in home.oauthctl("status").stdout, 20, "what is wrong is told")
        assert start(home) == pid
        home.oauthctl("agent", "stop")

    isolated(story)


def test_a_sink_that_hangs_holds_nobody_up_and_loses_lines_that_are_counted(home):
    """A pipe that is full makes its writer wait as a disk does that is gone, and all lines go the same way."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    home.agent.process = home.start(
        home.programs / "oauthd", "--log-level", "trace", stdout=subprocess.DEVNULL, stderr=writing)
    os.close(writing)
    os.set_blocking(reading, False)
    wait_until(home.socket.exists, 20, "the agent's socket")
    text = b""

    def told(wire):
        nonlocal text
        with contextlib.suppress(BlockingIOError):
            text += os.read(reading, 1 << 16)
        wire.request("account.show", account="nobody")
        assert b"account_unknown" in wire.read_line()
        return b"lost here" in text

    with home.agent.connect() as wire:
        # The pipe takes 4 KiB, the thread that writes and the queue 64 KiB each: 3,000 lines are more.
        for _ in range(3_000):
            wire.request("account.show", account="nobody")
            assert b"account_unknown" in wire.read_line()
        threads = Path(f"/proc/{home.agent.process.pid}/task").glob("*/comm")
        assert "log" in {thread.read_text().strip() for thread in threads}, "the one that waits is the log's own"
        wait_until(lambda: told(wire), 60, "the number of lost lines")
    os.close(reading)


def test_a_start_that_fails_is_told_in_it(home):
    """Nobody sees the standard error of an agent that oauthctl started."""
    start(home)
    home.oauthctl("agent", "stop")
    assert "listening" in log_file(home).read_text()
    log_file(home).unlink()
    environment = {"OAUTHCTL_STARTED": "on_demand", "LISTEN_FDS": "1", "LISTEN_PID": "self"}
    script = 'LISTEN_PID=$$ exec "$0" 3</dev/null'
    failed = home.run("sh", "-c", script, home.programs / "oauthd", check=False, environment=environment)
    assert failed.status == 1 and re.search(r"Z oauthd: .*descriptor 3", log_file(home).read_text())


# oauthctl agent log

def test_the_end_of_it_is_shown(home):
    missing = home.oauthctl("agent", "log", check=False)
    assert missing.status == 1 and f"there is no log yet: {home.shown(log_file(home))}" in missing.stderr
    start(home)
    logged(home, "listening")
    assert "listening" in home.oauthctl("agent", "log").stdout
    log_file(home).with_name("oauthd.log.1").write_text("older\n")
    home.oauthctl("agent", "stop")
    whole = home.oauthctl("agent", "log").lines
    assert whole == ["older", *log_file(home).read_text().splitlines()]
    assert home.oauthctl("agent", "log", "-n", "1").lines == whole[-1:]
    assert home.oauthctl("agent", "log", "--lines", "0").lines == []
    assert home.oauthctl("agent", "log", "-n", "-1", check=False).status == 64


def test_what_comes_is_followed_over_a_new_file(home):
    start(home)
    logged(home, "listening")
    follower = home.start(home.programs / "oauthctl", "agent", "log", "-f")
    assert "listening" in follower.stdout.readline()
    define(home, "work", 'issuer = "https://as.example"', 'client_id = "c"')
    home.oauthctl("reload")
    assert "configuration read again" in follower.stdout.readline()
    log_file(home).rename(log_file(home).with_name("oauthd.log.1"))
    home.oauthctl("agent", "stop")
    seen = ""
    while "stopping" not in seen:
        seen = follower.stdout.readline()
        assert seen
    follower.stdout.close()
    # Nobody reads any more.
    assert follower.wait(20) is not None
    follower.stderr.close()


def test_the_log_of_an_agent_by_hand_is_its_standard_error(home, agent):
    told = home.oauthctl("agent", "log", check=False)
    assert told.status == 1 and f"the agent (pid {agent.process.pid}) was started by hand" in told.stderr
    assert not log_file(home).exists()


def test_a_closed_folder_above_the_log_is_told_with_what_opens_it(scratch, programs):
    with home_of_nobody(scratch, programs) as home:
        folder = log_file(home).parent
        folder.mkdir(mode=0o700)
        log_file(home).write_text("a line\n")
        home.give()
        folder.chmod(0o000)
        told = home.begin(home.programs / "oauthctl", "agent", "log").communicate(timeout=60)[1]
        assert f"is in {home.shown(folder)}, which is closed to you (mode 000)" in told, told
        assert f"run: chmod 700 {home.shown(folder)}" in told, told
        folder.chmod(0o700)
