"""What was checked for one login, or answered to it, when another has taken its place. Each test is the attack."""

import json
import subprocess
import threading
from urllib.parse import parse_qs

import pytest

from network.accounts import endpoints, write_account
from network.listeners import Listener
from support.accounts import account_file
from support.login import wait_until
from support.terminal import run_at_terminal
from attacks.test_server import read_request
from world.accounts import PASSWORD


class Server(Listener):
    """Gives tokens that name it; the first refresh is answered when `goes_on` is set."""

    def __init__(self, name):
        self.name, self.seen, self.refreshes, self.refuses = name, [], 0, False
        # The only refresh token that it takes.
        self.takes = None
        self.revokes, self.logs_in = True, True
        self.goes_on, self.late_was_read = threading.Event(), threading.Event()
        super().__init__()
        self.url = f"http://127.0.0.1:{self.port}"

    def serve(self, connection):
        _, body = read_request(connection)
        form = {key: values[0] for key, values in parse_qs(body).items()}
        self.seen.append(form)
        status, answer = "200 OK", {"access_token": f"access-{len(self.seen)}-of-{self.name}", "token_type": "Bearer",
                                    "expires_in": 3600, "refresh_token": f"refresh-{len(self.seen)}-of-{self.name}"}
        is_late = False
        if form.get("grant_type") == "refresh_token":
            self.refreshes += 1
            is_late = self.refreshes == 1
            if self.refuses or self.takes not in (None, form["refresh_token"]):
                status, answer = "400 Bad Request", {"error": "invalid_grant"}
        if form.get("grant_type") == "password" and not self.logs_in:
            status, answer = "400 Bad Request", {"error": "invalid_grant"}
        if "token" in form and not self.revokes:
            status = "503 Service Unavailable"
        if is_late:
            self.goes_on.wait(55)
        text = json.dumps(answer).encode()
        connection.sendall(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
                           f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n".encode() + text)
        if is_late:
            connection.recv(1)
            self.late_was_read.set()

    def sent(self, name):
        """What it was sent of the server `name`."""
        return [value for form in self.seen for value in form.values() if value.endswith(f"-of-{name}")]


def write(home, server, **keys):
    write_account(home, "work", **endpoints(server.url), revocation_endpoint=server.url + "/revoke",
                  client_authentication="none", **keys)
    home.oauthctl("reload")


def log_in(home, *arguments):
    home.oauthctl("login", "work", "--password-stdin", *arguments, stdin=PASSWORD + "\n")


@pytest.fixture
def first():
    with Server("first") as server:
        yield server
        server.goes_on.set()


@pytest.fixture
def overtaken(home, agent, first):
    """The second of two requests within the reuse window was answered, and the first one is still open."""
    write(home, first, reuse_grace_s=4)
    log_in(home)
    home.oauthctl("get-token", "work", "--force")
    assert first.refreshes == 2
    return home


@pytest.mark.parametrize("end", ["refused", "logout"])
def test_a_late_refresh_token_goes_to_no_other_server(overtaken, first, end):
    with Server("second") as second:
        second.goes_on.set()
        write(overtaken, second)
        log_in(overtaken, "--accept-changes")
        first.goes_on.set()
        assert first.late_was_read.wait(20)
        second.refuses = end == "refused"
        command = ["get-token", "work", "--force"] if end == "refused" else ["logout", "work"]
        overtaken.oauthctl(*command, check=False)
        assert second.sent("first") == [] and second.sent("second") != []


def test_a_late_refresh_token_of_a_login_that_is_over_is_revoked(overtaken, first):
    overtaken.oauthctl("logout", "work")
    sent = first.sent("first")
    first.goes_on.set()
    (late,) = wait_until(lambda: first.sent("first")[len(sent):], 20, "it is revoked")
    assert late not in sent and first.seen[-1]["token_type_hint"] == "refresh_token"


@pytest.mark.parametrize("end", ["stop", "vault lock"])
def test_an_end_of_the_agent_waits_for_the_first_of_two_requests(overtaken, first, end):
    """Its server may be keeping what that one brings, as here."""
    agent = overtaken.agent
    if end == "vault lock":
        lock = overtaken.start(overtaken.programs / "oauthctl", "vault", "lock")
        with pytest.raises(subprocess.TimeoutExpired):
            lock.wait(2)
        first.goes_on.set()
        assert lock.wait(30) == 0
        overtaken.oauthctl("vault", "unlock")
    else:
        agent.process.terminate()
        wait_until(lambda: "stopping" in agent.log.read_text(), 20, "the agent stops")
        first.goes_on.set()
        agent.process.wait(60)
        agent.start()
    # Of the first refresh, the second request of the account.
    first.takes = "refresh-2-of-first"
    overtaken.oauthctl("get-token", "work", "--force")
    assert "refresh-2-of-first" in first.sent("first")


def test_no_change_of_the_file_alone_has_a_refresh_token_sent_twice(home, agent, first):
    """A strict server would end the login."""
    write(home, first)
    log_in(home)
    write(home, first, reuse_grace_s=4)
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert refused.status == 3 and "(reuse_grace_s)" in refused.stderr and first.refreshes == 0
    assert "reuse_grace_s: (none) → 4" in home.oauthctl("account", "accept", "work", "--yes").stderr
    home.oauthctl("get-token", "work", "--force")
    assert first.refreshes == 2


def test_a_typed_refresh_token_waits_for_no_other_server(home, agent, first):
    """The question names the first server; the file names another when the refresh before it has ended."""
    write(home, first)
    log_in(home)
    with agent.connect() as wire, Server("second") as second:
        second.goes_on.set()
        refresh = home.start(home.programs / "oauthctl", "get-token", "work", "--force")
        wait_until(lambda: first.refreshes == 1, 20, "a refresh is under way")
        wire.request("secret.set", account="work", kind="client_secret", value="typed-secret-of-first")
        write(home, second)
        first.goes_on.set()
        refresh.communicate(timeout=60)
        assert json.loads(wire.read_line())["error"]["data"]["failure"] == "definition_changed"
        home.oauthctl("login", "work", "--password-stdin", "--accept-changes", stdin=PASSWORD + "\n", check=False)
        assert second.sent("first") == []


def kept(home):
    return json.loads(home.oauthctl("vault", "check", "--json").stdout)["records"]


def test_a_failed_login_forgets_nothing_that_a_logout_has_still_to_revoke(home, agent, first):
    write(home, first)
    log_in(home)
    first.revokes = first.logs_in = False
    home.oauthctl("logout", "work", check=False)
    owed = set(first.sent("first"))
    account_file(home).unlink()
    home.oauthctl("reload")
    failed = home.oauthctl(
        "login", "work", first.url, "--client-id", "c", "--grant", "password", "--username", "alice",
        "--token-endpoint", first.url + "/token", "--password-stdin", "--accept-changes", stdin="wrong\n", check=False)
    assert failed.status == 9 and "is removed again" in failed.stderr and kept(home) == 1
    first.revokes = True
    before = len(first.seen)
    agent.restart()
    home.oauthctl("status")
    wait_until(
        lambda: {form.get("token") for form in first.seen[before:]} >= owed, 20, "what was owed is told after all")
    wait_until(lambda: kept(home) == 0, 20, "nothing is kept of it")


def test_forgetting_ends_the_login_that_was_shown_and_no_other(home, agent, first):
    write(home, first)
    log_in(home)

    def log_in_anew():
        log_in(home)
        return "y\n"

    status, text = run_at_terminal(
        home, home.programs / "oauthctl", "account", "forget", "work", answers={"[y/N]": log_in_anew})
    assert status == 3 and "has changed since it was shown" in text and account_file(home).exists()
    assert home.oauthctl("get-token", "work").stdout == "access-2-of-first\n"


def test_forgetting_deletes_the_secrets_that_were_shown_and_no_others(home, agent, first):
    write(home, first)
    log_in(home)

    def forget(answer):
        return run_at_terminal(
            home, home.programs / "oauthctl", "account", "forget", "work", answers={"[y/N]": answer})

    def set_secret():
        home.oauthctl("secret", "set", "work", "client_secret", stdin="of-the-portal\n")
        return "y\n"

    status, text = forget(set_secret)
    assert status == 3 and "has changed since it was shown" in text and account_file(home).exists()
    assert home.oauthctl("get-token", "work").stdout == "access-1-of-first\n"
    home.oauthctl("secret", "set", "work", "password", stdin=PASSWORD + "\n")
    assert "Its client secret and password are deleted, too." in forget("y\n")[1]
    assert not account_file(home).exists()


def test_forgetting_keeps_a_file_that_was_changed_under_the_question(home, agent, first):
    write(home, first)

    def edit():
        with account_file(home).open("a") as file:
            file.write("# mine\n")
        return "y\n"

    status, text = run_at_terminal(
        home, home.programs / "oauthctl", "account", "forget", "work", answers={"[y/N]": edit})
    assert status == 3 and "was changed meanwhile; nothing is forgotten" in text
    assert account_file(home).read_text().endswith("# mine\n")
