"""No secret is where it could be seen: not in a file, a log, a message, a command line, an environment, a core."""

import json
import os
import re
import socket
import stat
import threading
import types

import pytest

from support import processes
from support.home import Home, accepts
from support.login import get_token, log_in, wait_until
from support.others import as_nobody
from support.watch import Watch, contents, files_with
from support.wire import Wire, WireError
from login.clients import LEGACY, MACHINE, device_login
from world.accounts import CLIENTS, PASSWORD

# The scripted browser knows its person's password, and logs the addresses it visits, the code among them.
THE_BROWSER_S = ("bin/browser", "browser.log")


def a_whole_day(home, server):
    """Everything that the programs do with secrets; returns all that they said beside a token that was asked for."""
    said = []

    def do(*arguments, **options):
        result = home.oauthctl(*arguments, check=False, **options)
        said.append(result.stderr)
        if arguments[0] != "get-token":
            said.append(result.stdout)
        return result.stdout.strip()

    said.append(log_in(home, server, "zebra", client="web-app").stderr)
    said.append(log_in(home, server, "gnu").stderr)
    do("login", "machine", server.issuer, *MACHINE, stdin=CLIENTS["machine"].secret + "\n")
    do("login", "legacy", server.issuer, *LEGACY, "--client-secret-stdin", stdin=CLIENTS["legacy"].secret)
    do("login", "legacy", "--password-stdin", "--keep-password", stdin=PASSWORD + "\n")
    said += device_login(home, server, "allow")[1:]
    do("login", "wrong", server.issuer, *[word for word in MACHINE], stdin="wrong-wrong-wrong\n")
    for account in ("zebra", "gnu", "machine", "legacy", "tv"):
        token = do("get-token", account)
        do("get-token", account, "--rejected-stdin", stdin=token + "\n")
        do("curl", account, "-sS", server.resource)
        server.revoke(do("get-token", account))
        do("curl", account, "-sS", "-d", "@-", server.api("echo"), stdin="body")
    git_day(home, server, said)
    for arguments in (["status"], ["account", "list"], ["account", "show", "zebra"],
                      ["account", "show", "zebra", "--json"],
                      ["vault", "status"], ["reload"]):
        do(*arguments)
    do("account", "forget", "machine", "--yes")
    do("logout", "tv")
    home.agent.restart()
    do("get-token", "zebra", "--force")
    server.end_grants()
    do("get-token", "legacy", "--force")
    do("get-token", "gnu", "--force")
    return said


def git_day(home, server, said):
    """With one account for the host, as git wants it."""
    with home.agent.connect() as wire:
        names = [it["account"] for it in wire.call("account.list")["accounts"] if it["account"] != "gnu"]
    files = home.config / "oauthctl" / "accounts.d"
    aside = home.root / "aside"
    aside.mkdir()
    for name in names:
        (files / f"{name}.toml").rename(aside / f"{name}.toml")
    said.append(home.oauthctl("reload").stderr)
    said.append(home.oauthctl("setup", "git", "--yes").stderr)
    environment = {"GIT_TRACE": "1", "GIT_TRACE_CURL": str(home.root / "git-trace"), "GIT_CURL_VERBOSE": "1"}
    said.append(home.run("git", "clone", server.repository, "clone", environment=environment).stderr)
    server.revoke(get_token(home, "gnu"))
    for _ in range(2):
        said.append(home.run("git", "-C", "clone", "fetch", check=False).stderr)
    for name in names:
        (aside / f"{name}.toml").rename(files / f"{name}.toml")
    said.append(home.oauthctl("reload", check=False).stderr)


@pytest.fixture(scope="module")
def day(scratch, programs, world):
    """What is there after a whole day: `home`, `secrets`, `said`, `watch`."""
    server = world(access_ttl=296)
    root = scratch / "day"
    root.mkdir(mode=0o700)
    before = processes.children()
    home = Home(root, programs)
    home.agent.start("--log-level", "trace")
    try:
        with Watch() as watch:
            said = a_whole_day(home, server)
    finally:
        home.agent.stop()
        processes.end_orphans(before)

    codes = set(re.findall(r"[?&]code=([^& ]+)", home.browser_log.read_text()))
    tokens = [token for _, token, _ in server.issued()] + server.device_codes()
    known = [client.secret for client in CLIENTS.values() if client.secret] + [PASSWORD, "wrong-wrong-wrong"]
    secrets = {*codes, *tokens, *known}
    # Several tokens for each of the five accounts, a code for each login with a browser.
    assert len(codes) == 2 and len(tokens) >= 12

    return types.SimpleNamespace(home=home, secrets=secrets, said=said, watch=watch, server=server)


def test_no_file_holds_a_secret(day):
    assert files_with(day.home, *day.secrets, but=THE_BROWSER_S) == set()
    # The search does find what is there.
    assert files_with(day.home, *day.secrets) == set(THE_BROWSER_S)


def test_the_log_tells_of_logins_and_refreshes_without_their_secrets(day):
    log = day.home.agent.log.read_text()
    assert "logged in" in log and "asking for a token" in log
    assert not any(secret in log for secret in day.secrets)
    assert not any(word in log for word in ("Authorization", "Bearer ", "refresh_token=", "client_secret="))


def test_no_message_holds_a_secret(day):
    said = "\n".join(day.said)
    assert "Logged in as zebra" in said and "login needed" in said
    assert [secret for secret in day.secrets if secret in said] == []


def test_no_command_line_and_no_environment_held_a_secret(day):
    """R6, over all programs of the day: the token goes to curl, git and the server's requests."""
    assert {"oauthctl", "oauthd", "oauthd-fetch", "oauthd-redirect", "curl", "git", "git-remote-http"} <= day.watch.seen
    assert day.watch.places_of(*day.secrets) == set()


def test_the_recovery_code_is_shown_once_and_written_nowhere(day):
    codes = re.findall(r"^  ([0-9A-Z]{5}(?:-[0-9A-Z]{4,6})+)$", "\n".join(day.said), re.MULTILINE)
    assert len(codes) == 1
    assert files_with(day.home, codes[0], codes[0].replace("-", "")) == set()


def test_the_vault_tells_nothing_of_what_is_in_it(day):
    """Not even with whom its owner has accounts."""
    words = [
        *day.secrets, "zebra", "legacy", "web-app", "localhost", str(day.server.port), "127.0.0.1", "alice",
        "access_token", "refresh", "client", "issuer", "scope", "oauth2"]
    vault = day.home.data / "oauthctl"
    found = {
        (path.name, word) for path in vault.iterdir() for word in words
        if word.encode() in contents(path).replace(b"\0", b"")}
    # The lock says who holds it: that is what it is for.
    found = {(name, word) for name, word in found if name != "vault.lock"}
    assert found == set() and any(path.stat().st_size > 8192 for path in vault.iterdir())


def test_the_vault_s_files_are_for_their_owner_alone(day):
    assert {stat.S_IMODE(path.stat().st_mode) for path in (day.home.data / "oauthctl").iterdir()} == {0o600}


# Other users

@pytest.fixture
def open_house(scratch, home):
    """The home with every door open that only file permissions hold: what is left is the programs' own check."""
    mode = scratch.stat().st_mode
    scratch.chmod(0o711)
    home.root.chmod(0o711)
    home.agent.start()
    for path in (home.runtime, home.socket.parent):
        path.chmod(0o777)
    home.socket.chmod(0o777)
    yield home
    scratch.chmod(mode)


def test_the_agent_hangs_up_on_another_user_before_it_reads_a_byte(open_house, dot):
    log_in(open_house, dot)
    path = str(open_house.socket)
    question = b'{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"work"}}\n'

    def ask():
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(60)
            connection.connect(path)
            try:
                connection.sendall(question)
                return connection.recv(65536)
            except (BrokenPipeError, ConnectionResetError):
                return b""

    assert as_nobody(ask) == b""
    assert ask().startswith(b'{"jsonrpc"'), "our own user gets an answer by the same way"
    wait_until(
        lambda: "refused a connection of another user" in open_house.agent.log.read_text(), 20, "it is in the log")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to listen as another user")
@pytest.mark.parametrize("door", ["a folder of everybody's", "our own folder"])
def test_the_client_tells_another_user_s_agent_nothing(scratch, home, door):
    """Whoever listens there, as another user, must not see what is asked, least of all a rejected token."""
    mode = scratch.stat().st_mode
    scratch.chmod(0o711)
    home.root.chmod(0o711)
    folder = home.root / "open"
    folder.mkdir()
    folder.chmod(0o777)
    bound, path = folder / "bound", folder / "agent.sock"

    def listen():
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(bound))
            listener.listen()
            listener.settimeout(10)
            os.rename(bound, path)
            try:
                connection, _ = listener.accept()
                connection.settimeout(60)
                return "connected", connection.recv(65536)
            except TimeoutError:
                return "alone", b""
            except ConnectionResetError:
                return "connected", b""

    heard = []
    thread = threading.Thread(target=lambda: heard.append(as_nobody(listen)))
    thread.start()
    try:
        wait_until(path.exists, 20, "somebody listens")
        if door == "our own folder":
            # Put there, and given to us, by somebody who could: only the kernel still knows who listens.
            home.socket.parent.mkdir(mode=0o700)
            path = path.rename(home.socket)
            os.chown(path, os.getuid(), os.getgid())
        result = home.oauthctl(
            "get-token", "work", "--rejected-stdin", stdin="secret-secret\n", check=False,
            environment={"OAUTHCTL_SOCKET": str(path)})
    finally:
        thread.join(90)
        scratch.chmod(mode)
    assert heard == [("alone" if door == "a folder of everybody's" else "connected", b"")]
    assert (result.status, result.stdout) == (7, "") and len(result.stderr.splitlines()) in (1, 2)
    assert ("may be written" if door == "a folder of everybody's" else "another user") in result.stderr


# R12

def test_a_second_agent_on_one_vault_says_so_and_sends_nothing(home, agent, dot):
    log_in(home, dot)
    token = get_token(home)
    path = home.runtime / "second.sock"
    second = home.start(home.programs / "oauthd", environment={"OAUTHCTL_SOCKET": str(path)})
    elsewhere = {"OAUTHCTL_SOCKET": str(path)}
    try:
        wait_until(lambda: accepts(path), 20, "the second agent listens")
        mark = dot.mark()
        with Wire(path) as wire:
            for method, parameters in [
                    ("token.get", {"account": "work"}),
                    ("token.get", {"account": "work", "rejected": {"token": token}}),
                    ("token.reject", {"account": "work", "rejected": {"token": token}}),
                    ("logout", {"account": "work"}),
                    ("login.start", {"account": "work", "request_id": "r"}), ("account.list", {})]:
                with pytest.raises(WireError) as refused:
                    wire.call(method, **parameters)
                assert refused.value.failure == "vault_in_use", method
                assert str(agent.process.pid) in refused.value.message, "it says who has it"
        result = home.oauthctl("get-token", "work", check=False, environment=elsewhere)
        assert (result.status, result.stdout) == (6, "")
        assert dot.log_entries(mark) == [] and get_token(home) == token
        # Once the first has gone the second serves, without a restart.
        agent.stop()
        assert home.oauthctl("get-token", "work", environment=elsewhere).lines == [token]
        assert home.oauthctl("get-token", "work", "--force", environment=elsewhere).lines != [token]
        assert [entry["status"] for entry in dot.refreshes(mark)] == [200]
    finally:
        second.terminate()
        second.communicate(timeout=60)


def test_status_tells_of_locked_memory(home, agent, dot):
    """Pages that hold keys and tokens stay out of swap; where the system refuses that, status says so."""
    log_in(home, dot)
    get_token(home)
    with open(f"/proc/{agent.process.pid}/status") as file:
        locked = int(re.search(r"VmLck:\s+(\d+) kB", file.read()).group(1))
    status = home.oauthctl("status")
    assert locked > 0 or "lock" in status.stdout + status.stderr
    with agent.connect() as wire:
        assert json.dumps(wire.call("agent.status")["degraded"]) == "[]" or locked == 0
