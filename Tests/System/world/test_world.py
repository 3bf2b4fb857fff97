"""The test world keeps its own promises: what later tests rely on, proved without oauthctl."""

import base64
import hashlib
import http.server
import os
import secrets
import subprocess
import threading
import time
import urllib.parse

import pytest
import requests

from support import processes
from support.home import Home
from world.accounts import CLIENTS
from world.browser import Browser

REDIRECT = "http://127.0.0.1:9/callback"


class Person:
    """A minimal OAuth client together with its user, by the book and by hand."""

    def __init__(self, server, client="native-app", answer="allow"):
        self.server, self.client = server, CLIENTS[client]
        self.browser = Browser(answer=answer, ca_file=server.ca_file)

    def authorize(self):
        """The parameters of the authorization response."""
        self.verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(16)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=")
        query = urllib.parse.urlencode({
            "response_type": "code", "client_id": self.client.id, "redirect_uri": REDIRECT, "state": state,
            "scope": "read", "code_challenge": challenge, "code_challenge_method": "S256"})
        location = self.browser.open(f"{self.server.authorization_endpoint}?{query}", follow_redirect=False)
        parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))
        assert parameters["state"] == state
        return parameters

    def post(self, **form):
        if self.client.secret:
            # RFC 6749 section 2.3.1: form-urlencoded before Basic.
            login = tuple(urllib.parse.quote_plus(part) for part in (self.client.id, self.client.secret))
            return self.server.http("POST", self.server.token_endpoint, data=form, auth=login)
        return self.server.http("POST", self.server.token_endpoint, data={"client_id": self.client.id, **form})

    def log_in(self):
        answer = self.post(
            grant_type="authorization_code", code=self.authorize()["code"], redirect_uri=REDIRECT,
            code_verifier=self.verifier)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refresh(self, token):
        return self.post(grant_type="refresh_token", refresh_token=token)


@pytest.mark.parametrize("client", ["native-app", "web-app"])
def test_login_consent_exchange_and_refresh(dot, client):
    mark = dot.mark()
    person = Person(dot, client)
    tokens = person.log_in()
    assert dot.say_hello(tokens["access_token"]) == 200

    renewed = person.refresh(tokens["refresh_token"]).json()
    assert renewed["refresh_token"] != tokens["refresh_token"]
    assert dot.say_hello(renewed["access_token"]) == 200

    assert len(dot.token_requests("authorization_code", mark)) == 1
    assert [entry["status"] for entry in dot.refreshes(mark)] == [200]
    assert any(url.startswith(dot.issuer + "/accounts/login/") for _, url, _ in person.browser.pages)


def test_the_log_holds_no_token(dot):
    tokens = Person(dot).log_in()
    log = (dot.directory / "requests.jsonl").read_text()
    assert tokens["access_token"] not in log and tokens["refresh_token"] not in log


def test_denied_consent_comes_back_as_an_error(dot):
    assert Person(dot, answer="deny").authorize()["error"] == "access_denied"


def test_metadata_and_issuer_parameter(dot):
    for document in ("oauth-authorization-server", "openid-configuration"):
        metadata = dot.http("GET", f"{dot.issuer}/.well-known/{document}").json()
        assert metadata["issuer"] == dot.issuer
        assert metadata["token_endpoint"] == dot.token_endpoint
    assert Person(dot).authorize()["iss"] == dot.issuer


def test_a_used_refresh_token_ends_the_grant(dot):
    person = Person(dot)
    first = person.log_in()
    second = person.refresh(first["refresh_token"]).json()
    assert person.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert person.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"


def test_grace_lets_a_refresh_be_repeated(world):
    server = world(refresh_grace=30)
    person = Person(server)
    first = person.log_in()["refresh_token"]
    assert [person.refresh(first).status_code for _ in range(2)] == [200, 200]


def test_rotation_can_be_off(world):
    server = world(rotate=False)
    person = Person(server)
    first = person.log_in()["refresh_token"]
    assert person.refresh(first).json()["refresh_token"] == first


def test_short_tokens_die(world):
    server = world(access_ttl=2)
    tokens = Person(server).log_in()
    end = time.monotonic() + 10
    assert tokens["expires_in"] == 2 and server.say_hello(tokens["access_token"]) == 200
    while server.say_hello(tokens["access_token"]) == 200:
        assert time.monotonic() < end
        time.sleep(0.1)


def test_https_needs_the_private_authority(world):
    server = world(tls=True)
    assert server.issuer.startswith("https://")
    assert server.say_hello(Person(server).log_in()["access_token"]) == 200


def test_a_server_can_be_down_and_come_back(dot):
    token = Person(dot).log_in()["access_token"]
    with dot.down(), pytest.raises(requests.ConnectionError):
        dot.say_hello(token)
    assert dot.say_hello(token) == 200


def test_held_answers_are_decided_and_logged_first(dot):
    person = Person(dot)
    token = person.log_in()["refresh_token"]
    mark, answers = dot.mark(), []
    with dot.token_answers_held():
        waiting = threading.Thread(target=lambda: answers.append(person.refresh(token)))
        waiting.start()
        end = time.monotonic() + 20
        while not dot.refreshes(mark):
            assert time.monotonic() < end
            time.sleep(0.01)
        assert waiting.is_alive() and not answers
    waiting.join()
    assert answers[0].status_code == 200


def test_resources_refuse_revoked_and_worn_out_tokens(dot):
    tokens = [Person(dot).log_in()["access_token"] for _ in range(2)]
    dot.revoke(tokens[0])
    assert [dot.say_hello(token) for token in tokens] == [401, 200]
    dot.limit_token_uses(2)
    try:
        assert [dot.say_hello(tokens[1]) for _ in range(3)] == [200, 200, 401]
    finally:
        dot.limit_token_uses(None)


@pytest.fixture
def git(scratch):
    """git(*arguments, token=None, scheme="Bearer") -> CompletedProcess, without any configuration of the caller."""
    folder = scratch / "git"
    folder.mkdir(exist_ok=True)

    def run(*arguments, token=None, scheme="Bearer"):
        settings = []
        if token is not None:
            value = token if scheme == "Bearer" else base64.b64encode(f"oauth2:{token}".encode()).decode()
            settings = ["-c", f"http.extraHeader=Authorization: {scheme} {value}"]
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t",
            "GIT_COMMITTER_EMAIL": "t@example.org"}
        return subprocess.run(
            ["git", *settings, *map(str, arguments)], env=environment, cwd=folder, capture_output=True, text=True)

    run.folder = folder
    return run


@pytest.mark.parametrize("scheme", ["Bearer", "Basic"])
def test_git_clones_and_pushes_with_a_token(dot, git, scheme):
    token = Person(dot).log_in()["access_token"]
    clone = git.folder / f"clone-{scheme}"
    assert git("clone", dot.repository, clone, token=token, scheme=scheme).returncode == 0
    # More than git's post buffer: the push comes in chunks.
    (clone / scheme).write_bytes(secrets.token_bytes(2_000_000))
    git("-C", clone, "add", ".")
    git("-C", clone, "commit", "-qm", scheme)
    pushed = git("-C", clone, "push", token=token, scheme=scheme)
    assert pushed.returncode == 0, pushed.stderr
    head = git("-C", clone, "rev-parse", "HEAD").stdout.strip()
    assert head in git("ls-remote", dot.repository, token=token).stdout


def test_git_without_a_good_token_gets_both_challenges(dot, git):
    assert git("ls-remote", dot.repository).returncode != 0
    assert git("ls-remote", dot.repository, token="wrong").returncode != 0
    url = dot.repository + "/info/refs?service=git-upload-pack"
    answer = dot.http("GET", url)
    challenges = answer.raw.headers.getlist("WWW-Authenticate")
    assert answer.status_code == 401 and [value.split()[0] for value in challenges] == ["Basic", "Bearer"]
    token = Person(dot).log_in()["access_token"]
    dot.revoke(token)
    refused = dot.http("GET", url, headers={"Authorization": f"Bearer {token}"})
    assert refused.status_code == 401 and 'error="invalid_token"' in refused.headers["WWW-Authenticate"]


def test_the_browser_program_detaches_and_reaches_the_loopback_listener(dot, scratch):
    seen, arrived = [], threading.Event()

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            self.send_response(200 if "callback" in self.path else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            if self.path == "/favicon.ico":
                arrived.set()

        def log_message(self, *_):
            pass

    before = processes.children()
    root = scratch / "browser"
    root.mkdir()
    home = Home(root, scratch)
    home.use_browser()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever).start()
        query = urllib.parse.urlencode({
            "response_type": "code", "client_id": "native-app", "state": "s", "scope": "read",
            "redirect_uri": f"http://127.0.0.1:{server.server_port}/callback",
            "code_challenge": "x" * 43, "code_challenge_method": "S256"})
        result = home.run(home.environment["BROWSER"], f"{dot.authorization_endpoint}?{query}")
        assert (result.status, result.stdout, result.stderr) == (0, "", "")
        assert arrived.wait(30), home.describe(["browser"], "did not arrive", "", "")
        server.shutdown()
    assert [urllib.parse.urlsplit(path).path for path in seen] == ["/callback", "/favicon.ico"]
    processes.end_orphans(before)


def test_requests_of_the_resource_are_logged(dot):
    mark = dot.mark()
    dot.say_hello("nothing")
    [entry] = dot.log_entries(mark)
    assert (entry["path"], entry["status"], entry["authorization"]) == ("/api/hello", 401, "bearer")
