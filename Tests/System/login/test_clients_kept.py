"""The client of a living login is deleted by nothing that happens beside it."""

import signal
import subprocess
import time

import pytest

from login.provider import use_silent_browser
from login.test_registration import Managing, deletion
from support.accounts import account_file, edit
from support.login import wait_until


class Strict(Managing):
    """Gives each client a secret of its own, and takes none that was deleted, under either of its two names. While
    `busy` it deletes nothing."""

    def __init__(self):
        self.busy, self.rejects = False, 0
        super().__init__()
        self.secret = True

    def answer(self, method, url, fields, body):
        self.issuer = "http://" + fields["host"]
        if method == "DELETE" and self.busy:
            return "503 Service Unavailable", {"Retry-After": "1"}, None
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/register":
            answer["client_secret"] = "secret-of-" + answer["client_id"]
        if url.path == "/token":
            form = self.seen[-1][1]
            is_right = form.get("client_secret") == "secret-of-" + form["client_id"]
            self.rejects -= 1
            if not is_right or self.rejects >= 0 or f"/clients/{form['client_id']}" in dict(self.deleted):
                return "401 Unauthorized", {}, {"error": "invalid_client"}
        return status, headers, answer


@pytest.fixture
def provider():
    with Strict() as provider:
        yield provider


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def start(home, *arguments):
    return home.start(home.programs / "oauthctl", "login", *arguments, stdin=subprocess.DEVNULL)


def renew(home, name="one"):
    return home.oauthctl("get-token", name, "--force", check=False)


@pytest.mark.parametrize("count", [2, 3])
def test_of_commands_that_make_one_account_at_once_one_logs_in(home, agent, provider, count):
    home.oauthctl("vault", "create")
    gate = provider.hold("/register")
    provider.busy = True
    logins = [start(home, "one", provider.url) for _ in range(count)]
    wait_until(lambda: provider.kinds().count("register") == count, 30, "all to register")
    gate.set()
    errors = [login.communicate(timeout=60)[1] for login in logins]
    assert [login.returncode for login in logins].count(0) == 1, errors
    assert renew(home).status == 0
    provider.busy = False
    # Only those of the others, when they can be.
    used = int(provider.form("refresh_token")["client_id"].removeprefix("client-"))
    others = {deletion(number) for number in range(1, count + 1) if number != used}
    wait_until(lambda: set(provider.deleted) == others, 30, "the other clients to be deleted")
    assert renew(home).status == 0


def test_of_commands_that_renew_one_client_at_once_none_has_the_other_s_deleted(home, agent, provider):
    home.oauthctl("login", "one", provider.url)
    provider.deleted.append(("/clients/client-1", "by itself"))
    gate = provider.hold("/register")
    logins = [start(home, "one", "--accept-changes") for _ in range(2)]
    wait_until(lambda: provider.kinds().count("register") >= 2, 30, "a new client")
    time.sleep(1)
    gate.set()
    errors = [login.communicate(timeout=60)[1] for login in logins]
    assert 0 in [login.returncode for login in logins], errors
    assert renew(home).status == 0


@pytest.mark.parametrize("way", ["login", "copy"])
def test_a_server_that_has_got_another_address_is_not_told_to_delete_the_client_in_use(home, agent, provider, way):
    home.oauthctl("login", "one", provider.url)
    other = f'"http://localhost:{provider.port}"'
    if way == "login":
        edit(home, "one", issuer=other)
        home.oauthctl("login", "one", "--accept-changes", "--client-secret-stdin", stdin="secret-of-client-1\n")
        name = "one"
    else:
        name = "two"
        text = account_file(home, "one").read_text()
        account_file(home, name).write_text(text)
        account_file(home, name).chmod(0o600)
        edit(home, name, issuer=other)
        home.oauthctl("login", name, "--client-secret-stdin", stdin="secret-of-client-1\n")
        assert "stays" in home.oauthctl("account", "forget", "one", "--yes").stderr
    assert renew(home, name).status == 0
    home.agent.restart()
    assert renew(home, name).status == 0 and provider.deleted == []
    home.oauthctl("account", "forget", name, "--yes")
    assert provider.deleted == [deletion(1)]


@pytest.mark.parametrize("way", ["forget", "replace"])
def test_a_deletion_that_waits_is_not_made_where_the_client_is_used_again(home, agent, provider, way):
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    before = file.read_text()
    provider.busy = True
    if way == "forget":
        home.oauthctl("account", "forget", "one", "--yes")
    else:
        home.oauthctl("login", "one", provider.url, "--replace", "--accept-changes")
    file.write_text(before)
    file.chmod(0o600)
    home.oauthctl("reload")
    home.oauthctl(
        "login", "one", "--accept-changes", "--client-secret-stdin", stdin="secret-of-client-1\n")
    provider.busy = False
    home.agent.restart()
    others = [] if way == "forget" else [deletion(2)]
    wait_until(lambda: provider.deleted == others, 30, "what is used no more to be deleted")
    # The next try of what waited, which has been due for long.
    time.sleep(4)
    assert renew(home).status == 0 and provider.deleted == others
    home.oauthctl("account", "forget", "one", "--yes")
    assert deletion(1) in provider.deleted


@pytest.mark.parametrize("milliseconds", [0, 12, 16, 20, 24, 28, 40])
def test_an_interrupt_at_the_end_of_a_login_takes_back_no_file_that_somebody_is_logged_in_by(
        home, agent, provider, milliseconds):
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    before = file.read_text()
    gate = provider.hold("/authorize")
    login = start(home, "one", provider.url, "--replace", "--accept-changes")
    wait_until(lambda: provider.kinds().count("authorize") == 2, 30, "the browser")
    time.sleep(0.2)
    gate.set()
    time.sleep(milliseconds / 1_000)
    login.send_signal(signal.SIGINT)
    said = login.communicate(timeout=30)[1]
    is_logged_in = "ogged in as one" in said
    assert (file.read_text() == before) == (not is_logged_in), said
    assert renew(home).status == 0, said


@pytest.mark.parametrize("way", ["renewed", "replaced", "another scope"])
def test_a_lock_in_the_middle_of_a_login_takes_its_change_of_the_file_back(home, agent, provider, way):
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    before = file.read_text()
    gate = provider.hold("/authorize")
    arguments = {
        "renewed": [], "replaced": [provider.url, "--replace"], "another scope": ["--add-scope", "write"]}[way]
    count = 2
    if way == "renewed":
        # The login that finds the client unknown ends at once.
        gate.set()
        provider.rejects, count = 1, 3
        plain = provider.answer

        def answer(method, url, fields, body):
            nonlocal gate
            if url.path == "/authorize" and "client-2" in url.query:
                gate = provider.hold("/authorize")
            return plain(method, url, fields, body)

        provider.answer = answer
    login = start(home, "one", *arguments, "--accept-changes")
    wait_until(lambda: provider.kinds().count("authorize") == count, 30, "the browser")
    assert file.read_text() != before
    home.oauthctl("vault", "lock")
    said = login.communicate(timeout=60)[1]
    gate.set()
    assert login.returncode == 5 and "is as it was" in said, said
    assert file.read_text() == before
    home.oauthctl("vault", "unlock")
    assert renew(home).status == 0


@pytest.mark.parametrize("way", ["file gone", "wrong secret"])
def test_a_login_that_fails_after_a_logout_costs_no_client_and_no_secret(home, agent, provider, way):
    home.oauthctl("login", "one", provider.url)
    file = account_file(home, "one")
    before = file.read_text()
    home.oauthctl("logout", "one")
    if way == "file gone":
        file.unlink()
        # A no: there is nobody to ask.
        failed = home.oauthctl("login", "one", provider.url, check=False)
        file.write_text(before)
        file.chmod(0o600)
        home.oauthctl("reload")
    else:
        failed = home.oauthctl("login", "one", "--client-secret-stdin", stdin="wrong\n", check=False)
    assert failed.status != 0 and file.read_text() == before
    home.oauthctl("login", "one", "--accept-changes")
    sent = provider.form("authorization_code")
    assert (sent["client_id"], sent["client_secret"]) == ("client-1", "secret-of-client-1")
