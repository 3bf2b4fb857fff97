"""An authorization server for logins by browser, with a resource beside it, that notes what it is sent."""

import json
import threading
from urllib.parse import parse_qs, quote, urlsplit

from network.listeners import Listener
from support.accounts import define

CLIENT_SECRET = "registered-secret-7f3a"


class Provider(Listener):
    """A resource at /mcp and its authorization server, which registers clients, on one port; `host` is the server's."""

    def __init__(self, host="127.0.0.1", server=None, **options):
        self.host, self.seen, self.tokens = host, [], 0
        self.registers, self.lists_pkce, self.secret, self.rewrites = True, True, False, False
        self.hides_metadata = False
        # Members added to the metadata.
        self.metadata = {}
        # `iss` of the redirect (RFC 9207): True is the issuer's, a text another's.
        self.names_itself = False
        # True: refresh tokens are refused. A text: the status of every token answer.
        self.refuses = False
        # What is asked for by this name is answered when the event is set.
        self.holds = {}
        super().__init__(**options)
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.issuer = server.issuer if server else f"http://{host}:{self.port}"

    def serve(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            if not (some := connection.recv(65536)):
                return
            data += some
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        while len(body) < int(fields.get("content-length", 0)):
            body += connection.recv(65536)
        method, target, _ = first.split(" ")
        url = urlsplit(target)
        status, headers, answer = self.answer(method, url, fields, body.decode())
        if url.path in self.holds:
            self.holds[url.path].wait(60)
        text = "" if answer is None else json.dumps(answer)
        connection.sendall((
            f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n"
            + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "Connection: close\r\n\r\n"
            + text).encode())

    def answer(self, method, url, fields, body):
        root = f"http://127.0.0.1:{self.port}"
        if url.path == "/mcp":
            if fields.get("authorization") == f"Bearer access-{self.tokens}":
                return "200 OK", {}, {"hello": "world"}
            return "401 Unauthorized", {
                "WWW-Authenticate": f'Bearer scope="read", resource_metadata="{root}/prm"'}, None
        if url.path == "/prm":
            return "200 OK", {}, {"resource": self.url, "authorization_servers": [self.issuer]}
        if url.path == "/.well-known/oauth-authorization-server" and not self.hides_metadata:
            answer = {"issuer": self.issuer, "authorization_endpoint": self.issuer + "/authorize",
                      "token_endpoint": self.issuer + "/token", "revocation_endpoint": self.issuer + "/revoke",
                      "scopes_supported": ["read", "offline_access"],
                      "token_endpoint_auth_methods_supported": ["client_secret_post"]}
            if self.registers:
                answer["registration_endpoint"] = self.issuer + "/register"
            if self.lists_pkce:
                answer["code_challenge_methods_supported"] = ["S256"]
            return "200 OK", {}, answer | self.metadata
        if url.path == "/register":
            asked = json.loads(body)
            self.seen.append(("register", asked))
            answer = {"client_id": "registered-client", "redirect_uris": asked["redirect_uris"],
                      "token_endpoint_auth_method": "none"}
            if self.secret:
                answer |= {"client_secret": CLIENT_SECRET, "token_endpoint_auth_method": "client_secret_post"}
            if self.rewrites:
                answer["redirect_uris"] = ["https://elsewhere.example/callback"]
            return "201 Created", {}, answer
        if url.path == "/authorize":
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            self.seen.append(("authorize", query))
            named = self.issuer if self.names_itself is True else self.names_itself
            named = f"&iss={quote(named, safe='')}" if named else ""
            return "302 Found", {"Location": f"{query['redirect_uri']}?code=c&state={query['state']}{named}"}, None
        if url.path == "/token":
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self.seen.append((form["grant_type"], form))
            if self.refuses:
                dead = self.refuses is True
                return "400 Bad Request" if dead else self.refuses, {}, {"error": "invalid_grant"} if dead else None
            self.tokens += 1
            return "200 OK", {}, {
                "access_token": f"access-{self.tokens}", "token_type": "Bearer", "expires_in": 3600,
                "refresh_token": f"refresh-{self.tokens}", "scope": "read"}
        if url.path == "/revoke":
            self.seen.append(("revoke", {name: values[0] for name, values in parse_qs(body).items()}))
            return "200 OK", {}, None
        return "404 Not Found", {}, None

    def hold(self, path):
        """Everything asked for at `path` waits until the event that is returned is set."""
        self.holds[path] = threading.Event()
        return self.holds[path]

    def define(self, home, *lines):
        """The account `work` at this server."""
        define(home, "work", f'issuer = "{self.issuer}"', 'client_id = "mine"', *lines)

    def kinds(self):
        return [kind for kind, _ in self.seen]

    def form(self, kind):
        return next(form for name, form in reversed(self.seen) if name == kind)


def use_silent_browser(home, trusted=None):
    """A browser that follows every redirect and shows nothing: the server's page asks nobody. `trusted`: the file of an
    authority that it knows. Returns the file that holds what it was started with."""
    browser = home.root / "bin" / "browser"
    browser.parent.mkdir(exist_ok=True)
    trust = f'--cacert "{trusted}"' if trusted else ""
    opened = home.root / "opened"
    browser.write_text(
        f'#!/bin/sh\nprintf %s "$1" >"{opened}"\nexec curl -sSL --noproxy "*" {trust} -o /dev/null "$1"\n')
    browser.chmod(0o755)
    home.environment["BROWSER"] = str(browser)
    return opened
