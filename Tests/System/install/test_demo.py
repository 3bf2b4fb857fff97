"""`make demo` as it is, but for the build: it passes without a terminal and leaves nothing behind, however it ends."""

import contextlib
import shutil
import signal
import time
from pathlib import Path

import pytest

from conftest import ROOT
from support import processes

DEMO = ROOT / "Tests/Demo/demo"


def living(pids):
    """Those of our children that are no zombies."""
    return {pid for pid in pids if (stat := status(pid)) and ") Z " not in stat}


def status(pid):
    """None of one that has ended, also while it is read."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text()


@pytest.fixture
def before(home):
    """What was there before; afterwards nothing may have been added. Folders are noted as they are made: other demos
    have theirs in the same place."""
    noted, mktemp = home.root / "made", home.bin / "mktemp"
    mktemp.write_text(f'#!/bin/sh\n{shutil.which("mktemp")} "$@" | tee -a {noted}\n')
    mktemp.chmod(0o700)
    pids = processes.children()
    yield noted
    made = noted.read_text().split() if noted.exists() else []
    assert [folder for folder in made if Path(folder).exists()] == []
    assert living(processes.children() - pids) == set()


def test_the_demo_passes(home, before):
    told = home.run(DEMO, environment={"OAUTHCTL_BIN": str(home.programs)}, timeout=120)
    assert "20 of 20 served; the server counted 1 refresh\n" in told.stdout
    assert "\033" not in told.stdout + told.stderr
    assert told.stdout.count("\n# ") >= 9
    assert before.read_text()


@pytest.mark.parametrize("seconds", [0.1, 0.5, 1, 4])
def test_an_interrupted_demo_cleans_up(home, before, seconds):
    process = home.start(DEMO, environment={"OAUTHCTL_BIN": str(home.programs)}, start_new_session=True)
    time.sleep(seconds)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143 or (process.returncode == -signal.SIGTERM and not before.exists()), "not yet begun"


def test_a_demo_that_goes_wrong_says_where_and_fails(home, before):
    """curl that always says 200: the revoked token seems to work."""
    curl = home.bin / "curl"
    curl.write_text('#!/bin/sh\ncase "$*" in *http_code*Bearer*) echo 200 ;; *) exec /usr/bin/curl "$@" ;; esac\n')
    curl.chmod(0o700)
    path = f"{home.bin}:{home.environment['PATH']}"
    told = home.run(DEMO, environment={"OAUTHCTL_BIN": str(home.programs), "PATH": path}, check=False, timeout=120)
    assert told.status == 1
    assert "status of a revoked token: 200, but should be 401" in told.stderr
