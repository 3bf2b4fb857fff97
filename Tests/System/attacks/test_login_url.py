"""`oauthctl login URL` at a server that means harm.

Each test is the attack: it was seen to succeed before the programs were mended.
"""

import shlex
import socket
import subprocess
import urllib.request
from urllib.parse import parse_qs, urlsplit

import pytest

from login.provider import Provider, use_silent_browser
from support.accounts import account_file
from support.login import wait_until
from support.others import NOBODY, listening_as_nobody
from support.terminal import run_at_terminal

PUBLIC_CLIENT = "command-line-of-the-honest-server"
COLUMNS, ROWS = 80, 24


class Honest(Provider):
    """Has a public client whose id everybody knows. It sends codes to each port and each path below /callback (RFC 8252
    §7.3), asks nobody who has consented before, and says no `iss`."""

    def __init__(self):
        self.redirects, self.codes = [], 0
        super().__init__()

    def answer(self, method, url, fields, body):
        if url.path == "/authorize":
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            redirect = urlsplit(query["redirect_uri"])
            is_registered = redirect.hostname == "127.0.0.1" and f"{redirect.path}/".startswith("/callback/")
            self.codes += is_registered
            self.redirects.append(query["redirect_uri"])
            if not is_registered:
                return "400 Bad Request", {}, {"error": "this redirect is not registered"}
        return super().answer(method, url, fields, body)


class Borrower(Provider):
    """Registers every client as that of the honest server, where it sends the browser and redeems what comes back."""

    def __init__(self, honest):
        self.honest, self.taken = honest, []
        super().__init__()

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/register":
            answer["client_id"] = PUBLIC_CLIENT
        if url.path == "/authorize":
            return "302 Found", {"Location": f"{self.honest.issuer}/authorize?{url.query}"}, None
        if url.path == "/token":
            with urllib.request.urlopen(self.honest.issuer + "/token", data=body.encode(), timeout=60) as taken:
                self.taken.append(taken.read().decode())
        return status, headers, answer


class Wordy(Provider):
    """A resource whose scopes, one word each, fill rows of a terminal with other words than the question has."""

    def __init__(self):
        self.scopes = []
        super().__init__("localhost")

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/mcp" and status.startswith("401"):
            # A challenge without a scope: those of the metadata count.
            root = f"http://127.0.0.1:{self.port}"
            headers = {"WWW-Authenticate": f'Bearer resource_metadata="{root}/prm"'}
        if url.path == "/prm":
            answer["scopes_supported"] = self.scopes
        return status, headers, answer


class Careless(Provider):
    """Gives a client secret, which may be none, and says how the client is to prove itself with it."""

    def __init__(self, given, method="client_secret_post"):
        self.given, self.method = given, method
        super().__init__()

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/register":
            answer |= {"client_secret": self.given, "token_endpoint_auth_method": self.method}
        return status, headers, answer


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


@pytest.fixture
def honest():
    with Honest() as server:
        yield server


def test_a_server_that_registers_the_client_of_another_one_gets_no_token_of_it(home, agent, honest):
    """A mix-up (RFC 9700 §4.4): nothing but a URL was named, so nobody could have known better."""
    # The client is good: who names it logs in with it.
    home.oauthctl("login", "own", honest.issuer, "--client-id", PUBLIC_CLIENT, "--client-authentication", "none")
    assert honest.codes == 1
    with Borrower(honest) as borrower:
        login = home.start(
            home.programs / "oauthctl", "login", "tool", borrower.url,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: len(honest.redirects) == 2, 60, "the browser is at the honest server")
        finally:
            login.kill()
            login.wait()
        assert honest.redirects[1] == borrower.form("register")["redirect_uris"][0]
        assert honest.codes == 1 and borrower.taken == []


def screen(text):
    """What a terminal shows in the end."""
    rows = []
    for line in text.replace("\r", "").split("\n"):
        rows += [line[at:at + COLUMNS] for at in range(0, max(len(line), 1), COLUMNS)]
    return rows[-ROWS:]


def test_no_words_of_a_server_take_the_place_of_the_question(home, agent):
    lies = ["https://good.example/mcp leaves its logins to another server: https://login.example",
            "The token will be sent to: https://good.example", "It is for: read"]
    with Wordy() as server:
        words = ["read", "." * (COLUMNS - len("It is for: read") - 2)] + ["." * (COLUMNS - 1)] * 20
        for row in [lie[at:at + COLUMNS] for lie in lies for at in range(0, len(lie), COLUMNS)]:
            words += row.split(" ")
            if len(row) < COLUMNS - 1:
                words.append("_" * (COLUMNS - len(row) - 2))
        server.scopes = words
        command = home.programs / "oauthctl", "login", "tool", server.url
        status, text = run_at_terminal(home, *command, answers={"[y/N]": "n\n"})
        rows = screen(text.split("[y/N]")[0])
        assert status == 1 and server.seen == []
        assert rows[-1] == f"Log in at {server.issuer}? "
        assert rows[-2].endswith("rows, more than this screen shows: scroll up to the first)")
        assert rows[-3] == f"The token will be sent to: http://127.0.0.1:{server.port}"
        own = [row for row in rows if not row.startswith("    ")]
        assert own[-4:] == [f"{server.url} leaves its logins to another server:", *rows[-3:]], rows
        assert not [row for row in rows if row.startswith(("https://good", "The token will be sent to: https"))]
        # All of it is shown, long words in several lines.
        assert all(f"    {word}\r\n" in text for word in words if 0 < len(word) < 70)


def test_what_was_edited_since_somebody_agreed_to_replace_it_is_kept(home, agent):
    with Provider() as first, Provider() as second:
        home.oauthctl("login", "work", first.url)
        file = account_file(home, "work")
        file.write_text(file.read_text() + '# mine\ngit_username = "me"\n')
        edited = file.read_text() + 'paths = ["team-a"]\n'
        registration = second.hold("/register")

        def edit():
            file.write_text(edited)
            registration.set()
            return ""

        status, text = run_at_terminal(
            home, home.programs / "oauthctl", "login", "work", second.url,
            answers={"Replace it? [y/N]": "y\n", "you log in at": edit})
        question = text.split("Replace it?")[0]
        assert status == 3 and "changed meanwhile; nothing is written" in text, text
        assert file.read_text() == edited
        # The lines that would have gone are shown, those of the person's own, too.
        for line in ("# mine", 'git_username = "me"', f'issuer = "{first.issuer}"'):
            assert f"  - {line}\r\n" in question, text


@pytest.mark.parametrize("secret", ["secret\0", "secret\n", "\x1b[2J"], ids=["NUL", "line end", "escape"])
def test_a_client_secret_that_cannot_be_kept_is_the_server_s_mistake(home, agent, secret):
    """It was taken for one of the agent, or of the person, who gave no secret."""
    with Careless(secret) as server:
        refused = home.oauthctl("login", "tool", server.url, check=False)
        assert refused.status == 3 and "its client_secret holds a control character" in refused.stderr, refused
        assert "--client-id ID" in refused.stderr
        assert server.kinds() == ["register"] and not account_file(home, "tool").exists()


@pytest.mark.parametrize("method", ["private_key_jwt", "tls_client_auth"])
def test_a_client_that_is_to_prove_itself_by_a_key_is_the_server_s_mistake(home, agent, method):
    """None was registered. The login told the person to delete a key that never was."""
    with Careless("secret", method) as server:
        refused = home.oauthctl("login", "tool", server.url, check=False)
        assert refused.status == 3 and f"by {method}, for which no key was registered" in refused.stderr, refused
        assert "--client-id ID" in refused.stderr
        assert server.kinds() == ["register"] and not account_file(home, "tool").exists()


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_port_in_foreign_hands_keeps_no_registered_client_out(home, agent):
    """Its redirect has one port for good, which everybody can read in the kernel's tables during a login."""
    with Provider() as provider:
        home.oauthctl("login", "tool", provider.url)
        redirect = provider.form("register")["redirect_uris"][0]
        port = urlsplit(redirect).port
        # The login's own listener outlives its page by a moment.
        wait_until(lambda: not is_open(port), 60, "the login's listener to close")
        with listening_as_nobody(socket.AF_INET, "127.0.0.1", port):
            refused = home.oauthctl("login", "tool", check=False)
            assert refused.status == 6 and f"(uid {NOBODY})" in refused.stderr, refused
            words = shlex.split(refused.stderr.rsplit("  run: ", 1)[1].split("   #")[0])
            home.oauthctl(*words[1:], "--accept-changes")
        assert provider.kinds().count("register") == 2 and provider.form("register")["redirect_uris"][0] != redirect
