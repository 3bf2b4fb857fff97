"""WSGI layers between gunicorn and the site: a log that tests count by, and switches that tests turn.

Switches are files in the server's directory, read at every request:
  hold-token-answers   while it exists, answers of the token endpoint wait (30 s at most); the site has decided already
  revoked-tokens       one SHA-256 (hex) of an access token a line; the resources refuse these
  token-uses           how often (decimal) the resources accept one access token before it is refused for good
"""

import hashlib
import io
import json
import os
import threading
import time
import urllib.parse

from world.bearer import presented_token, refusal

TOKEN_PATH = "/token/"
REVOCATION_PATH = "/revoke_token/"
RESOURCES = ("/api/", "/git/")


class RequestLog:
    """Appends one JSON line a request to `requests.jsonl`, before the client sees the answer.

    Every line has `time`, `method`, `path`, `status` and `authorization` (the scheme). Requests to the token and the
    revocation endpoint have `secret_in_body`; grants `grant_type` and `refresh_token`, revocations `token`; requests to
    the API `token` and `body`. Tokens and bodies are digests (see `mark_of`).
    """

    def __init__(self, directory, inner):
        self.file = directory / "requests.jsonl"
        self.hold = directory / "hold-token-answers"
        self.inner = inner

    def __call__(self, environ, start_response):
        entry = {"method": environ["REQUEST_METHOD"], "path": environ["PATH_INFO"]}
        if entry["path"] in (TOKEN_PATH, REVOCATION_PATH) and entry["method"] == "POST":
            entry |= self.read_form(environ, entry["path"])
        elif entry["path"].startswith("/api/"):
            body = environ["wsgi.input"].read()
            environ["wsgi.input"] = io.BytesIO(body)
            token = presented_token(environ)
            entry |= {"body": hashlib.sha256(body).hexdigest()[:32], "token": token and mark_of(token)}
        kind = environ.get("HTTP_AUTHORIZATION", "").split(" ")[0].lower()
        entry["authorization"] = kind or None

        def note(status, headers, *exception):
            entry["status"] = int(status.split(" ")[0])
            return start_response(status, headers, *exception)

        answer = self.inner(environ, note)
        try:
            body = b"".join(answer)
        finally:
            if hasattr(answer, "close"):
                answer.close()
        line = json.dumps({"time": time.time(), **entry}) + "\n"
        log = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(log, line.encode())
        finally:
            os.close(log)
        if "grant_type" in entry:
            self.wait_while_held()
        return [body]

    @staticmethod
    def read_form(environ, path):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        form = dict(urllib.parse.parse_qsl(body.decode("utf-8", "replace")))
        found = {"secret_in_body": "client_secret" in form}
        if path == REVOCATION_PATH:
            return {**found, "token": mark_of(form.get("token", ""))}
        found["grant_type"] = form.get("grant_type")
        if "refresh_token" in form:
            found["refresh_token"] = mark_of(form["refresh_token"])
        return found

    def wait_while_held(self):
        end = time.monotonic() + 30
        while self.hold.exists() and time.monotonic() < end:
            time.sleep(0.01)


class TokenGuard:
    """Refuses access tokens at the resources that the test has revoked, whatever the site thinks of them."""

    def __init__(self, directory, inner):
        self.revoked = directory / "revoked-tokens"
        self.limit = directory / "token-uses"
        self.inner = inner
        self.uses = {}
        self.lock = threading.Lock()

    def __call__(self, environ, start_response):
        if environ["PATH_INFO"].startswith(RESOURCES):
            token = presented_token(environ)
            if token is not None and self.refuses(digest(token)):
                return refusal(start_response, presented=True)
        return self.inner(environ, start_response)

    def refuses(self, token):
        if token in read(self.revoked).split():
            return True
        limit = read(self.limit).strip()
        if not limit:
            return False
        with self.lock:
            self.uses[token] = self.uses.get(token, 0) + 1
            return self.uses[token] > int(limit)


def digest(secret):
    return hashlib.sha256(secret.encode()).hexdigest()


def mark_of(secret):
    """What the log shows of a token."""
    return digest(secret)[:32]


def read(file):
    try:
        return file.read_text()
    except FileNotFoundError:
        return ""
