"""`oauthctl doctor`: it finds what was broken on purpose, says what to do, and that helps."""

import json
import os
import signal
import socket
import sys

import pytest

from support.dev_server import DevServer
from support.login import log_in, wait_until
from support.others import NOBODY, home_of_nobody
from support.processes import stopped


# A process that is called as the agent is, takes a request, and does not answer.
SILENT = """
import ctypes, socket, sys
ctypes.CDLL(None).prctl(15, b"oauthd", 0, 0, 0)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("ready", flush=True)
connection = listener.accept()[0]
while connection.recv(65536):
    pass
listener.accept()
"""


@pytest.fixture
def server(home):
    server = DevServer(home)
    yield server
    server.stop()


def examine(home):
    """(healthy, {(check, account): finding}) of everything that is not ok."""
    result = home.oauthctl("doctor", "--json", check=False)
    report = json.loads(result.stdout)
    assert result.stderr == "" and result.status == (0 if report["healthy"] else 1)
    for finding in report["findings"]:
        assert finding["level"] != "wrong" or finding["fix"], "everything wrong has a fix"
    return report["healthy"], {
        (finding["check"], finding.get("account")): finding for finding in report["findings"]
        if finding["level"] != "ok"}


def write_account(home, name, text):
    folder = home.config / "oauthctl" / "accounts.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.toml").write_text(text)


def test_without_an_agent_it_looks_at_the_rest_and_starts_none(home):
    healthy, troubles = examine(home)
    assert healthy and troubles[("agent", None)]["level"] == "note"
    assert not home.socket.exists()
    page = home.oauthctl("doctor")
    assert page.lines[-1] == "Nothing is wrong."
    assert any(line.startswith("ok     programs") for line in page.lines)


def test_a_living_login_has_nothing_wrong(home, dot, agent):
    log_in(home, dot)
    healthy, troubles = examine(home)
    assert healthy
    assert not {check for check, _ in troubles} & {"agent", "socket", "vault", "key file", "server", "login"}
    lines = home.oauthctl("doctor").lines
    assert any("work" in line and "answers" in line for line in lines)


@pytest.mark.parametrize("target", ["key", "vault", "accounts", "socket"])
def test_what_is_open_to_others_is_found_and_its_fix_closes_it(home, dot, agent, target):
    log_in(home, dot)
    path, check = {
        "key": (home.state / "oauthctl" / "vault.key", "key file"),
        "vault": (home.data / "oauthctl" / "vault.db", "vault"),
        "accounts": (home.config / "oauthctl" / "accounts.d" / "work.toml", "configuration"),
        "socket": (home.socket, "socket"),
    }[target]
    path.chmod(path.stat().st_mode | 0o066)
    healthy, troubles = examine(home)
    finding = troubles[(check, None)]
    assert not healthy and finding["level"] == "wrong" and path.name in finding["message"]
    home.run("sh", "-c", finding["fix"])
    assert examine(home)[0]


def test_a_server_that_is_away_is_told_with_its_account(home, server, agent):
    write_account(home, "work", f'issuer = "{server.issuer}"\nclient_id = "dev"\n')
    home.oauthctl("reload")
    healthy, troubles = examine(home)
    assert healthy and troubles[("login", "work")]["fix"] == "oauthctl login work"
    server.stop()
    healthy, troubles = examine(home)
    assert not healthy and troubles[("server", "work")]["level"] == "wrong"


def test_a_taken_redirect_port_is_told(home, server, agent):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        text = f'issuer = "{server.issuer}"\nclient_id = "dev"\nredirect_uri = "http://127.0.0.1:{port}/callback"\n'
        write_account(home, "work", text)
        home.oauthctl("reload")
        assert examine(home)[1][("redirect", "work")]["fix"] == f"ss -ltnp 'sport = :{port}'"
    assert ("redirect", "work") not in examine(home)[1]


def test_a_file_the_agent_cannot_use_is_told_with_its_line(home, agent):
    write_account(home, "work", 'issuer = "https://h.example"\nclient_id = "c"\nca_file = "/nowhere.pem"\n')
    home.oauthctl("reload", check=False)
    healthy, troubles = examine(home)
    assert not healthy and "work.toml:3: ca_file" in troubles[("configuration", None)]["message"]


def test_an_authority_of_all_accounts_that_is_gone_is_one_fault_of_its_own_file(home, agent):
    # Before the accounts: of those that were read without it the agent would keep what they said.
    (home.config / "oauthctl").mkdir(mode=0o700, exist_ok=True)
    (home.config / "oauthctl" / "config.toml").write_text('ca_file = "/nowhere.pem"\n')
    for name in ("work", "other", "third"):
        write_account(home, name, 'issuer = "http://127.0.0.1:1"\nclient_id = "c"\n')
    home.oauthctl("reload", check=False)
    words = "~/config/oauthctl/config.toml:1: ca_file: /nowhere.pem does not exist"
    for command in ("doctor", "status"):
        told = home.oauthctl(command, check=False).stdout
        assert told.count("/nowhere.pem") == 1 and words in told, told
    assert "1 thing is wrong" in home.oauthctl("doctor", check=False).stdout
    refused = home.oauthctl("get-token", "work", check=False)
    assert refused.status == 3 and words in refused.stderr, refused


def test_a_closed_folder_of_configurations_is_one_fault(scratch, programs):
    """Two were told, one of a file that may not be there."""
    with home_of_nobody(scratch, programs) as home:
        home.config.chmod(0o000)
        told = "".join(home.begin(home.programs / "oauthctl", "doctor").communicate(timeout=60))
        assert told.count("~/config, which is closed to you (mode 000)") == 1 and "1 thing is wrong" in told, told
        home.begin_agent()
        for command in ("status", "doctor"):
            process = home.begin(home.programs / "oauthctl", command)
            told = "".join(process.communicate(timeout=60))
            assert process.returncode in (0, 1) and told.count("closed to you (mode 000)") == 1, told
            assert "config.toml" not in told and told.count("run: chmod 700 ~/config\n") == 1, told
        home.config.chmod(0o700)


def test_files_of_root_are_told_as_that_with_the_command_that_gives_them_back(scratch, programs):
    """After `sudo cp` of a backup, or an editor that was started by sudo."""
    with home_of_nobody(scratch, programs) as home:
        write_account(home, "work", 'issuer = "http://127.0.0.1:1"\nclient_id = "c"\n')
        home.give()
        file, vault = home.config / "oauthctl/accounts.d/work.toml", home.data / "oauthctl/vault.db"

        def told(*command):
            process = home.begin(home.programs / "oauthctl", *command)
            return "".join(process.communicate(timeout=60))

        agent = home.begin_agent()
        told("vault", "create")
        assert "belongs to" not in told("doctor")
        for path in (file, vault):
            path.chmod(0o600)
            os.chown(path, 0, 0)
            agent.terminate()
            agent.wait(timeout=70)
            agent = home.begin_agent()
            for command in (["status"], ["doctor"]):
                page = told(*command)
                assert f"{home.shown(path)}{': the file' if path == file else ''} belongs to root" in page, page
                assert page.count(f"run: sudo chown {NOBODY}: {home.shown(path)}\n") == 1, page
            home.give()


def test_one_fault_is_told_once_and_one_account_can_be_looked_at_alone(home, agent):
    for name in ("work", "other"):
        write_account(home, name, 'issuer = "http://127.0.0.1:1"\nclient_id = "c"\n')
    file = home.config / "oauthctl" / "accounts.d" / "work.toml"
    file.chmod(0o666)
    home.oauthctl("reload", check=False)
    assert home.oauthctl("doctor", check=False).stdout.count("work.toml") == 2, "in the finding and in its fix"
    alone = home.oauthctl("doctor", "other", check=False).stdout
    assert "other" in alone
    unknown = home.oauthctl("doctor", "nobody", check=False)
    assert unknown.status == 3 and "nobody: no such account" in unknown.stderr


def test_the_files_are_looked_at_as_they_are_now_and_a_folder_s_fault_is_one(home, dot, agent):
    log_in(home, dot)
    write_account(home, "other", (home.config / "oauthctl" / "accounts.d" / "work.toml").read_text())
    home.oauthctl("reload")
    folder = home.config / "oauthctl"
    folder.chmod(0o777)
    page = home.oauthctl("doctor", check=False).stdout
    assert page.count("may be written by others") == 1 and "which concerns 2 accounts" in page, page
    folder.chmod(0o700)
    folder.rename(home.config / "elsewhere")
    healthy, troubles = examine(home)
    assert not healthy and troubles[("login", "work")]["message"].startswith(
        f"{folder} is gone with all account files"), troubles
    assert ("definition", "work") not in troubles, "that is told once"


def test_an_agent_that_was_stopped_is_told_at_once_with_what_wakes_it(home, agent):
    with stopped(agent.process.pid):
        healthy, troubles = examine(home)
        assert not healthy and troubles[("agent", None)]["fix"] == f"kill -CONT {agent.process.pid}"


def test_an_agent_that_hangs_is_named_and_no_other_agent_is_to_be_ended(home):
    home.socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    silent = home.start(sys.executable, "-c", SILENT, home.socket)
    try:
        assert silent.stdout.readline() == "ready\n"
        healthy, troubles = examine(home)
        finding = troubles[("agent", None)]
        assert not healthy and f"(pid {silent.pid}) did not answer" in finding["message"]
        assert finding["fix"].startswith(f"kill {silent.pid}   #")
    finally:
        silent.kill()
        silent.communicate()


@pytest.mark.parametrize("door", ["asked", "not asked"])
def test_another_agent_that_holds_the_vault_is_named_and_ended_by_what_it_says(home, agent, dot, door):
    """It is asked through another socket, or another runtime folder in which no agent runs."""
    log_in(home, dot)
    other = home.root / "other-runtime"
    other.mkdir(mode=0o700)
    home.environment["XDG_RUNTIME_DIR"] = str(other)
    if door == "asked":
        home.oauthctl("status", check=False)
    healthy, troubles = examine(home)
    finding = troubles[("vault", None)]
    assert not healthy and f"pid {agent.process.pid}," in finding["message"] and str(home.socket) in finding["message"]
    assert finding["fix"] == (
        f"export XDG_RUNTIME_DIR={home.runtime}   # or, to end that agent: kill {agent.process.pid}")
    # Either is enough.
    home.run("sh", "-c", finding["fix"] + '\n"$0" get-token work', home.programs / "oauthctl")
    home.run("kill", str(agent.process.pid))
    wait_until(lambda: ("vault", None) not in examine(home)[1], 30, "the vault is the other agent's")


def test_a_socket_that_a_killed_agent_left_is_nothing_wrong_since_the_next_command_starts_one(home):
    home.oauthctl("status")
    pid = home.oauthctl("status").stdout.split("pid ")[1].split(",")[0]
    home.run("kill", f"-{signal.SIGKILL}", pid)
    healthy, troubles = examine(home)
    finding = troubles[("agent", None)]
    assert finding["level"] == "note" and finding["message"].startswith("none runs; one is started")
    assert "systemctl" not in json.dumps(finding)
    home.oauthctl("status")
    assert examine(home)[0]


def test_a_mode_is_told_as_chmod_takes_it(home, agent):
    home.socket.parent.chmod(0o070)
    finding = examine(home)[1][("socket", None)]
    assert finding["message"].endswith("is open to others (mode 070)"), finding


def test_a_closed_runtime_folder_is_told_by_every_command(scratch, programs):
    with home_of_nobody(scratch, programs) as home:
        home.runtime.chmod(0o000)
        for command in ("doctor", "status"):
            process = home.begin(home.programs / "oauthctl", command)
            told = "".join(process.communicate(timeout=60))
            assert process.returncode != 0 and "is closed to you (mode 000)" in told, told
            assert "run: chmod 700 ~/run\n" in told, told
        home.runtime.chmod(0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a file system")
def test_a_file_system_with_room_for_more_than_can_be_counted_is_fine(home):
    script = """mount -t tmpfs -o size=15E,mode=700 none "$1" && "$0" vault create && "$0" doctor
        ended=$?; "$0" agent stop; exit $ended"""
    told = home.run("unshare", "--mount", "sh", "-c", script, home.programs / "oauthctl", home.data, check=False)
    assert told.status in (0, 1) and "vault" in told.stdout and "room" not in told.stdout, told


def test_settings_of_git_that_never_end_are_told(home, agent):
    """Every git waits for them: a pipe here, a drive that hangs elsewhere."""
    os.mkfifo(home.root / ".gitconfig")
    result = home.oauthctl("doctor", check=False)
    assert "git cannot read its configuration: it has not ended after 10 s" in result.stdout, result


@pytest.mark.parametrize("says", ["exec >&-; exec sleep 100", "while echo; do sleep 1; done"])
def test_a_git_that_lives_on_is_told(home, agent, says):
    git = home.bin / "git"
    git.write_text(f"#!/bin/sh\n{says}\n")
    git.chmod(0o700)
    result = home.oauthctl("doctor", check=False)
    assert "git cannot read its configuration: it has not ended after 10 s" in result.stdout, result
