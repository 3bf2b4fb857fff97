"""A protected API that does what tests ask of it, below /api/.

  /api/echo              answers with the request's body
  /api/slow              answers after the time in the query (`seconds=1.5`)
  /api/redirect          redirects to the query's `to`
  /api/never             401 with `invalid_token`, whatever the token
  /api/forbidden         403 with `insufficient_scope` (RFC 6750 section 3.1)

All but /api/never and /api/forbidden want an active access token.
"""

import time
import urllib.parse

from world.bearer import presented_token, refusal

SLOWEST_SECONDS = 10


class Api:
    """Everything else goes to `inner`."""

    def __init__(self, is_active, inner):
        self.is_active, self.inner = is_active, inner
        self.answers = {
            "/api/echo": echo, "/api/slow": slow, "/api/redirect": redirect, "/api/never": None, "/api/forbidden": None}

    def __call__(self, environ, start_response):
        path = environ["PATH_INFO"]
        if path not in self.answers:
            return self.inner(environ, start_response)
        body = environ["wsgi.input"].read()
        token = presented_token(environ)
        if path == "/api/forbidden":
            return answer(start_response, "403 Forbidden", b"more rights are needed\n", [
                ("WWW-Authenticate", 'Bearer error="insufficient_scope", scope="write"')])
        if path == "/api/never" or token is None or not self.is_active(token):
            return refusal(start_response, presented=token is not None)
        query = dict(urllib.parse.parse_qsl(environ.get("QUERY_STRING", "")))
        return self.answers[path](start_response, query, body)


def echo(start_response, _, body):
    return answer(start_response, "200 OK", body)


def slow(start_response, query, _):
    time.sleep(min(float(query["seconds"]), SLOWEST_SECONDS))
    return answer(start_response, "200 OK", b"late\n")


def redirect(start_response, query, _):
    return answer(start_response, "302 Found", b"elsewhere\n", [("Location", query["to"])])


def answer(start_response, status, body, headers=()):
    start_response(status, [
        *headers, ("Content-Type", "application/octet-stream"), ("Content-Length", str(len(body)))])
    return [body]
