"""Another user of this machine has the port of a login, and shows an address with a code of his own to be pasted.

The server takes a code_verifier for a code that was asked for without a challenge, as many do."""

import base64
import json
import re
import socket
import time

import pytest

from login.provider import Provider, use_silent_browser
from support.login import get_token, wait_until
from support.others import NOBODY, listening_as_nobody


def encoded(members):
    return base64.urlsafe_b64encode(json.dumps(members).encode()).rstrip(b"=").decode()


class OpenIDProvider(Provider):
    """The code `c` is alice's, with the nonce she was sent with; `stranger` is mallory's, asked for without one."""

    nonce = None

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/authorize":
            self.nonce = self.form("authorize").get("nonce")
        if url.path == "/token" and answer:
            subject = "mallory" if self.form("authorization_code")["code"] == "stranger" else "alice"
            claims = {"iss": self.issuer, "sub": subject, "aud": "mine", "exp": time.time() // 1 + 600,
                      "iat": time.time() // 1, "preferred_username": subject}
            if subject == "alice" and self.nonce:
                claims["nonce"] = self.nonce
            answer["id_token"] = f"{encoded({'alg': 'RS256'})}.{encoded(claims)}.c2ln"
        return status, headers, answer


@pytest.fixture
def server(home, agent):
    use_silent_browser(home)
    with OpenIDProvider() as provider:
        yield provider


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def log_in(home, server, port, scope):
    home.oauthctl("login", "work", server.issuer, "--client-id", "mine", "--scope", scope, "--port", port)
    # The listener is gone some moments after its login.
    wait_until(lambda: is_free(port), 20, "the redirect's port is free")
    return get_token(home)


def is_free(port):
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def paste(home, code, meanwhile=lambda: None):
    """Begins a login without a browser, and pastes its address with `code`. Returns what oauthctl says."""
    command = home.start(home.programs / "oauthctl", "login", "work", "--no-browser", stdin=-1)
    url = next(found.group() for line in command.stderr if (found := re.search(r"http\S+[?&]state=\S+", line)))
    meanwhile()
    state = re.search(r"[?&]state=([^&\s]+)", url)[1]
    redirect = re.search(r"redirect_uri=([^&\s]+)", url)[1].replace("%3A", ":").replace("%2F", "/")
    _, stderr = command.communicate(f"{redirect}?code={code}&state={state}\n", timeout=60)
    return command.returncode, stderr


def test_another_user_s_address_is_taken_from_nobody_without_an_id_token(home, server, port):
    token = log_in(home, server, port, "read")
    with listening_as_nobody(socket.AF_INET, "127.0.0.1", port):
        told = home.oauthctl("login", "work", "--no-browser", check=False, stdin="x\n")
    assert told.status == 6 and f"another user (uid {NOBODY})" in told.stderr and "paste" not in told.stderr, told
    assert get_token(home) == token


@pytest.mark.parametrize("is_first", [False, True])
def test_another_user_s_code_is_refused_for_want_of_the_nonce(home, server, port, is_first):
    token = log_in(home, server, port, "openid read")
    if is_first:
        home.oauthctl("logout", "work")
    with listening_as_nobody(socket.AF_INET, "127.0.0.1", port):
        status, told = paste(home, "stranger")
    assert status == 4 and "no ID token" in told, (status, told)
    if not is_first:
        # Where a login is there, its server might end that one with them.
        assert get_token(home) == token and "revoke" not in server.kinds()
        home.oauthctl("logout", "work")
    assert server.kinds()[-1] == "revoke"


@pytest.mark.parametrize("scope", ["read", "openid read"])
def test_a_port_of_one_s_own_program_may_be_another_user_s_before_the_paste(home, server, port, scope):
    token = log_in(home, server, port, scope)
    with socket.create_server(("127.0.0.1", port)) as own:
        if scope == "read":
            told = home.oauthctl("login", "work", "--no-browser", check=False, stdin="x\n")
            assert told.status == 6 and "paste" not in told.stderr, told
        else:
            status, told = paste(home, "stranger", own.close)
            assert status == 4 and "no ID token" in told, (status, told)
    assert get_token(home) == token


def test_one_s_own_code_still_passes_another_user_s_port(home, server, port):
    token = log_in(home, server, port, "openid read")
    with listening_as_nobody(socket.AF_INET, "127.0.0.1", port):
        # The browser's own request tells the server the nonce.
        command = home.start(home.programs / "oauthctl", "login", "work", "--no-browser", stdin=-1)
        url = next(found.group() for line in command.stderr if (found := re.search(r"http\S+[?&]state=\S+", line)))
        page = home.run("curl", "-sS", "--noproxy", "*", "-o", "/dev/null", "-w", "%{redirect_url}", url).stdout
        _, stderr = command.communicate(page + "\n", timeout=60)
    assert command.returncode == 0, stderr
    assert get_token(home) != token
