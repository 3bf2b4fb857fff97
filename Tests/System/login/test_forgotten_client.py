"""A server forgets a client that was registered dynamically."""

import threading

import pytest

from login.provider import Provider, use_silent_browser
from login.test_registration import Managing, deletion
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
    # It is there: the next login registers none.
    home.oauthctl("login", "tool", "--accept-changes")
    assert provider.kinds().count("register") == 2


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


@pytest.mark.parametrize("line", ['token_endpoint = "{0}/token"', 'hosts = ["{0}"]'])
def test_a_first_login_goes_by_what_was_shown_with_the_new_client_alone(home, agent, provider, line):
    """Somebody changes the file as soon as the new client's id is in it. There is no login that it is compared with."""
    file = account_file(home, "tool")
    provider.known, answering = set(), provider.hold("/token")

    def watch(sign, change):
        """Change the file once it holds `sign`."""
        def wait():
            while not over.is_set():
                text = file.read_text() if file.exists() else ""
                if sign in text and text.endswith("\n"):
                    draft = file.with_suffix(".draft")
                    draft.write_text(change(text))
                    draft.chmod(0o600)
                    draft.rename(file)
                    return answering.set()
        over = threading.Event()
        thread = threading.Thread(target=wait)
        thread.start()
        return lambda: (over.set(), thread.join())

    with Provider() as evil:
        # What somebody has edited is not taken back with the login that failed.
        end = watch("client-1", lambda text: text + "# edited\n")
        assert home.oauthctl("login", "tool", provider.url, check=False).status != 0
        end()
        assert file.exists()
        provider.known = {"client-2"}
        end = watch("client-2", lambda text: text + line.format(evil.issuer) + "\n")
        told = home.oauthctl("login", "tool", provider.url, "--accept-changes", check=False)
        end()
        # The change comes before the login has begun, or after.
        assert evil.seen == []
        assert "has changed since it was shown" in told.stderr or "file changed" in home.oauthctl("status").stdout, told
