"""After su(1): variables that name folders of another user."""

import os
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

from network.namespaces import isolated, needs_root, run
from support.others import NOBODY, sockets_as_nobody


@needs_root
def test_the_systemd_of_another_user_is_asked_for_nothing(home):
    """His runtime directory has a socket unit, and his socket listens where systemd's does."""
    heard = []

    def hear(listener):
        while True:
            connection, _ = listener.accept()
            heard.append(connection)

    def story():
        os.makedirs("/run/user", exist_ok=True)
        run("mount", "-t", "tmpfs", "tmpfs", "/run/user")
        os.mkdir("/run/user/0", 0o700)
        his = f"/run/user/{NOBODY}"
        os.makedirs(his + "/systemd/user")
        with open(his + "/systemd/user/oauthd.socket", "w") as unit:
            unit.write("[Socket]\nListenStream=%t/oauthctl/agent.sock\n")
        for folder, _, files in os.walk(his):
            os.chmod(folder, 0o700)
            for path in [folder, *(os.path.join(folder, file) for file in files)]:
                os.chown(path, NOBODY, NOBODY)
        with sockets_as_nobody():
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(his + "/systemd/private")
            listener.listen(8)
        threading.Thread(target=hear, args=[listener], daemon=True).start()
        environment = {**home.environment, "XDG_RUNTIME_DIR": his}
        told = subprocess.run(
            [home.programs / "oauthctl", "status"], env=environment, capture_output=True, text=True, timeout=60)
        subprocess.run([home.programs / "oauthctl", "agent", "stop"], env=environment, check=True, timeout=60)
        assert told.returncode == 0 and heard == [], told

    isolated(story)


@pytest.fixture(params=[
    "his", "in his", "for all", "behind his link", "behind his link to nothing", "behind his odd link",
    "not there yet", "in his by way of nothing"])
def place(request, home, scratch):
    """A folder that another user may exchange, by one way or another."""
    theirs = Path(tempfile.mkdtemp(dir=scratch))
    theirs.chmod(0o755)
    inner = theirs / "inner"
    inner.mkdir(parents=True)
    links = {
        "behind his link": tempfile.mkdtemp(dir=scratch), "behind his link to nothing": theirs / "nothing",
        "behind his odd link": b"\xff"}
    if request.param in links:
        os.symlink(links[request.param], bytes(theirs / "link") if "odd" in request.param else theirs / "link")
        os.lchown(theirs / "link", NOBODY, NOBODY)
    # As /tmp is: what somebody else has there stays his.
    if request.param in links or request.param == "not there yet":
        theirs.chmod(0o1777)
    elif request.param == "for all":
        theirs.chmod(0o777)
    else:
        os.chown(theirs, NOBODY, NOBODY)
    names = {"his": "", "in his": "inner", "for all": "inner", "not there yet": "new/state"}
    if "by way" in request.param:
        return Path(f"{theirs}-/not there/../../{theirs.name}/inner")
    return theirs / names.get(request.param, "link")


def seen(place):
    inner = Path(os.path.normpath(place))
    root = next(path for path in (inner, *inner.parents) if path.name.startswith("tmp") and path.name != "tmp")
    return sorted(path for path in root.rglob("*") if "oauthctl" in path.name)


@needs_root
@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "XDG_STATE_HOME"])
def test_no_agent_keeps_anything_where_another_user_may_exchange_it(home, place, variable):
    environment = {**home.environment, variable: str(place)}
    environment.pop("OAUTHCTL_SOCKET", None)
    for command in (["vault", "create"], ["status"]):
        told = home.oauthctl(*command, check=False, environment=environment)
        assert told.status != 0 and f"{variable}: " in told.stderr and "none is started" in told.stderr, told
    by_hand = home.run(home.programs / "oauthd", check=False, environment=environment)
    assert by_hand.status == 1 and f"oauthd: {variable}: " in by_hand.stderr, by_hand
    assert seen(place) == []


@needs_root
def test_no_account_is_written_where_another_user_may_exchange_it(home, server, place):
    home.environment["XDG_CONFIG_HOME"] = str(place)
    home.agent.start()
    home.oauthctl("vault", "create", check=False)
    told = home.oauthctl(
        "login", "work", server.issuer, "--client-id", "dev", "--scope", "read", check=False)
    assert told.status == 3 and seen(place) == [], told


@needs_root
def test_git_is_given_no_authority_that_another_user_may_exchange(home, place, agent):
    """Whom git believes is a copy in the state folder, compared when git asks for a token, and not before."""
    environment = {**home.environment, "XDG_STATE_HOME": str(place)}
    told = home.oauthctl("setup", "git", "--yes", check=False, environment=environment)
    assert told.status != 0 and "nothing is written" in told.stderr and seen(place) == [], told
    assert not (home.root / ".gitconfig").exists()
