"""A server forgets a client that was registered dynamically."""

import threading
import time

import pytest

from login.provider import Provider, use_silent_browser
from login.test_registration import Managing, deletion
from network.identities import Authority
from support.accounts import account_file
from support.login import wait_until
from support.terminal import run_at_terminal


class Forgetful(Managing):
    """Knows the clients that are in `known`; nil: all."""

    def __init__(self):
        self.known = None
        super().__init__()

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/register" and self.secret:
            answer["client_secret"] = "secret-of-" + answer["client_id"]
        if url.path == "/token" and self.known is not None:
            if self.form(self.seen[-1][0])["client_id"] in self.known:
                return status, headers, answer
            return "401 Unauthorized", {}, {"error": "invalid_client"}
        return status, headers, answer


@pytest.fixture
def provider():
    with Forgetful() as provider:
        yield provider


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def test_a_client_that_the_server_forgot_is_registered_anew_with_the_same_redirect(home, agent, provider):
    home.oauthctl("login", "tool", provider.url)
    redirects = provider.form("register")["redirect_uris"]
    provider.known = {"client-2"}
    done = home.oauthctl("login", "tool", "--accept-changes")
    assert "another was registered" in done.stderr + done.stdout
    assert "client-1" in done.stderr + done.stdout and "client-2" in done.stderr + done.stdout
    assert provider.kinds().count("register") == 2 and provider.form("register")["redirect_uris"] == redirects
    assert provider.form("authorize")["client_id"] == "client-2"
    assert 'client_id = "client-2"\n' in account_file(home, "tool").read_text()
    home.oauthctl("get-token", "tool", "--force")
    # The server has forgotten it, and is told all the same.
    wait_until(lambda: provider.deleted, 30, "the first client to be deleted")
    assert provider.deleted == [deletion(1)]


def test_a_person_sees_the_new_client_before_it_is_used(home, agent, provider):
    home.oauthctl("login", "tool", provider.url)
    provider.known = {"client-2"}
    status, text = run_at_terminal(home, home.programs / "oauthctl", "login", "tool", answers={"[y/N]": "n\n"})
    assert status == 1 and "client-1" in text and "client-2" in text, text
    assert provider.kinds().count("register") == 2 and provider.kinds().count("authorize") == 2
    assert 'client_id = "client-1"\n' in account_file(home, "tool").read_text()


@pytest.mark.parametrize("flags", [(), ("--add-scope", "write")], ids=["anew", "scope"])
@pytest.mark.parametrize("end", ["n", "no terminal", "denied"])
def test_a_client_that_was_not_forgotten_keeps_its_secret_and_its_login(home, agent, provider, flags, end):
    """One answer of a server is enough to have another client registered, and not enough to lose a login."""
    provider.secret = True
    home.oauthctl("login", "tool", provider.url)
    before = account_file(home, "tool").read_text()
    # `invalid_client` for the code of client-1, once.
    provider.known = {"client-2"}
    if end == "n":
        status, _ = run_at_terminal(
            home, home.programs / "oauthctl", "login", "tool", *flags, answers={"[y/N]": "n\n"})
    else:
        if end == "denied":
            provider.known = set()
        status = home.oauthctl(
            "login", "tool", *flags, *["--accept-changes"][:end == "denied"], check=False).status
    provider.known = None
    assert status != 0 and provider.kinds().count("register") == 2
    assert account_file(home, "tool").read_text() == before
    home.oauthctl("get-token", "tool", "--force")
    sent = provider.form("refresh_token")
    assert (sent["client_id"], sent["client_secret"]) == ("client-1", "secret-of-client-1")


def test_a_server_that_knows_no_client_is_asked_for_one_once_in_a_login(home, agent, provider):
    home.oauthctl("login", "tool", provider.url)
    provider.known = set()
    refused = home.oauthctl("login", "tool", "--accept-changes", check=False)
    assert refused.status == 9 and provider.kinds().count("register") == 2


def test_an_id_that_a_person_gave_is_not_replaced(home, agent, provider):
    home.oauthctl("login", "tool", provider.issuer, "--client-id", "mine", "--client-authentication", "none")
    provider.known = set()
    refused = home.oauthctl("login", "tool", "--accept-changes", check=False)
    assert refused.status == 9 and "register" not in provider.kinds()
    assert 'client_id = "mine"\n' in account_file(home, "tool").read_text()


def when(condition, act):
    """Do `act` once `condition` is true. Returns the call that waits for that, or gives it up."""
    def wait():
        while not over.is_set():
            if condition():
                return act()
            # Who changes files at the right moment looks often.
            time.sleep(0.001)

    over = threading.Event()
    thread = threading.Thread(target=wait)
    thread.start()
    return lambda: (over.set(), thread.join())


def change(file, line):
    draft = file.with_suffix(".draft")
    draft.write_text(file.read_text() + line + "\n")
    draft.chmod(0o600)
    draft.rename(file)


def holds(file, sign):
    text = file.read_text() if file.exists() else ""
    return sign in text and text.endswith("\n")


def fail_first(home, provider):
    """A first login fails, and its account stays since somebody has edited the file meanwhile; the file."""
    file = account_file(home, "tool")
    provider.known, answering = set(), provider.hold("/token")
    end = when(
        lambda: "authorization_code" in provider.kinds(), lambda: (change(file, "# edited"), answering.set()))
    assert home.oauthctl("login", "tool", provider.url, check=False).status != 0
    end()
    assert file.exists()
    provider.known = {"client-2"}
    return file


@pytest.mark.parametrize("line", ['token_endpoint = "{0}/token"', 'hosts = ["{0}"]'])
def test_a_first_login_goes_by_what_was_shown_with_the_new_client_alone(home, agent, provider, line):
    """Somebody changes the file as soon as the new client's id is in it. There is no login that it is compared with."""
    file = fail_first(home, provider)
    with Provider() as evil:
        end = when(lambda: holds(file, "client-2"), lambda: change(file, line.format(evil.issuer)))
        told = home.oauthctl("login", "tool", provider.url, "--accept-changes", check=False)
        end()
        # The change comes before the login has begun, or after.
        assert evil.seen == []
        assert "has changed since it was shown" in told.stderr or "file changed" in home.oauthctl("status").stdout, told


@pytest.mark.parametrize("which", ["path", "content"])
@pytest.mark.parametrize("registered", [1, 2], ids=["first", "anew"])
def test_an_authority_that_changes_while_a_client_is_registered_gets_nothing(
        home, agent, provider, registered, which):
    """Whoever is believed then has neither given the client's secret nor been shown. The servers are plain here."""
    provider.secret = True
    one, two = [home.root / f"{name}.pem" for name in ("one", "two")]
    for path in one, two:
        path.write_text(Authority(home.root / path.stem).file.read_text())
    settings = home.config / "oauthctl" / "config.toml"

    def believe(path):
        settings.write_text(f'ca_file = "{path}"\n')
        settings.chmod(0o600)
        home.oauthctl("reload", check=False)

    settings.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    believe(one)
    if registered == 2:
        fail_first(home, provider)
    answering = provider.hold("/register")
    end = when(
        lambda: provider.kinds().count("register") == registered,
        lambda: (believe(two) if which == "path" else one.write_text(two.read_text()), answering.set()))
    refused = home.oauthctl("login", "tool", provider.url, "--accept-changes", check=False)
    end()
    assert refused.status == 3 and "(ca_file) has changed meanwhile" in refused.stderr, refused
    assert provider.kinds().count("authorization_code") == 2 * (registered - 1)


@pytest.mark.parametrize("way", ["given", "file gone"])
def test_a_login_that_fails_takes_no_client_secret_of_the_one_that_is_there(home, agent, provider, way):
    provider.secret = True
    home.oauthctl("login", "tool", provider.url)
    file = account_file(home, "tool")
    away, before = file.with_suffix(".away"), file.read_text()
    provider.known = set()
    if way == "given":
        refused = home.oauthctl("login", "tool", "--client-secret-stdin", stdin="wrong\n", check=False)
    else:
        file.rename(away)
        home.oauthctl("reload", check=False)
        refused = home.oauthctl("login", "tool", provider.url, check=False)
        assert not file.exists()
        away.rename(file)
        home.oauthctl("reload")
    provider.known = None
    assert refused.status != 0 and file.read_text() == before
    home.oauthctl("get-token", "tool", "--force")
    sent = provider.form("refresh_token")
    assert (sent["client_id"], sent["client_secret"]) == ("client-1", "secret-of-client-1")
