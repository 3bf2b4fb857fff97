"""A living login whose client the server has registered, and strict servers for it."""

import subprocess

import pytest

from login.test_registration import Managing, home


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


def start(home, *arguments):
    return home.start(home.programs / "oauthctl", "login", *arguments, stdin=subprocess.DEVNULL)


def renew(home, name="one"):
    return home.oauthctl("get-token", name, "--force", check=False)
