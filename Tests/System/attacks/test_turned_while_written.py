"""What is changed between a yes and the write that follows. The disk is slow, so that the attack is never too late."""

import os
import signal
import threading

import pytest

from faults.strace import strace
from support.login import wait_until
from support.terminal import run_at_terminal

PRECIOUS = "precious = 1\n"


def run_while(home, act, place, *command, environment=None):
    """Runs oauthctl, and `act` as soon as it has its temporary file in the folder `place`."""
    _, traced = strace(home, "-e", "inject=fsync:delay_enter=1500000")
    acted = threading.Thread(target=lambda: (wait_until(lambda: list(place.glob("*.tmp")), 20, "it is written"), act()))
    acted.start()
    told = home.run(*traced, home.programs / "oauthctl", *command, environment=environment, check=False)
    acted.join()
    return told


def test_settings_that_are_changed_while_they_are_written_stay(home, agent):
    file = home.config / "oauthctl" / "config.toml"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.write_text('log_level = "info"\n')
    file.chmod(0o600)
    told = run_while(
        home, lambda: file.write_text(PRECIOUS), file.parent, "setup", "proxy", "--yes",
        environment={"https_proxy": "http://127.0.0.1:3128"})
    assert told.status == 3 and "was changed meanwhile" in told.stderr and file.read_text() == PRECIOUS


def test_a_desktop_entry_that_comes_while_one_is_written_stays(home, agent):
    folder = home.data / "applications"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    entry = folder / "oauthctl-com.example.app.desktop"
    told = run_while(
        home, lambda: entry.write_text(PRECIOUS), folder, "setup", "scheme", "com.example.app", "--yes")
    assert told.status == 3 and "was changed meanwhile" in told.stderr and entry.read_text() == PRECIOUS


@pytest.mark.parametrize("agent_is", [signal.SIGSTOP, signal.SIGKILL], ids=["stopped", "killed"])
def test_settings_that_no_agent_has_judged_are_taken_back(home, agent, agent_is):
    file = home.config / "oauthctl" / "config.toml"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    before = 'proxy = "http://127.0.0.1:3128"\n'
    file.write_text(before)
    file.chmod(0o600)
    # As it would be started anew, and be asked.
    home.environment["OAUTHCTL_SOCKET"] = str(home.socket)

    def end():
        os.kill(agent.process.pid, agent_is)
        return "y\n"

    try:
        status, shown = run_at_terminal(
            home, home.programs / "oauthctl", "setup", "proxy", answers={"[y/N]": end},
            environment={"https_proxy": "http://h.example:0"})
    finally:
        os.kill(agent.process.pid, signal.SIGCONT)
    assert status != 0 and file.read_text() == before, shown
