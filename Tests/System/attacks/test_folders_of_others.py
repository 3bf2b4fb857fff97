"""After su(1): variables that name folders of another user."""

import os
import socket
import subprocess
import threading

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


@needs_root
def test_no_vault_is_made_in_a_folder_that_another_user_may_exchange(home, scratch, server):
    theirs = scratch / "theirs"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    for variable in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
        home.environment[variable] = str(theirs / variable)
        (theirs / variable).mkdir(mode=0o755)
        os.chown(theirs / variable, NOBODY, NOBODY)
    home.agent.start()
    told = home.oauthctl("vault", "create", check=False)
    assert told.status != 0 and "could be read or changed by others" in told.stderr, told
    assert list(theirs.rglob("vault.*")) == []
