"""A token endpoint that notes what it is sent, in the plain."""

import base64
import http.server
import json
import threading
import urllib.parse


class RecordingServer:
    """A token and revocation endpoint that notes what it is sent; a context manager.

    `revocation` is the status of its revocation endpoint; while `refuses_refresh`, a refresh token is `invalid_grant`,
    and so is everything while `refuses`. `token_endpoint` is what its metadata name; None: it has no metadata.
    """

    def __init__(self, name):
        self.name, self.revocation, self.token_endpoint = name, 200, None
        self.refuses_refresh, self.refuses = False, False
        self.requests, self.count = [], 0

    def __enter__(self):
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                form = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                scheme, _, pair = self.headers.get("Authorization", "").partition(" ")
                secret = base64.b64decode(pair).decode() if scheme == "Basic" else ""
                self.say(*server.answer(self.path, dict(urllib.parse.parse_qsl(form)), secret))

            def do_GET(self):
                if server.token_endpoint is None:
                    return self.send_error(404)
                self.say(200, {
                    "issuer": server.url, "authorization_endpoint": f"{server.url}/authorize",
                    "token_endpoint": server.token_endpoint})

            def say(self, status, answer):
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()

    def answer(self, path, form, secret):
        self.requests.append((path, secret, form))
        if path == "/revoke":
            return self.revocation, {}
        if self.refuses or self.refuses_refresh and form.get("grant_type") == "refresh_token":
            return 400, {"error": "invalid_grant"}
        self.count += 1
        token = f"token-{self.count}-of-{self.name}"
        return 200, {
            "access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": f"refresh-{token}"}

    @property
    def text(self):
        return repr(self.requests)

    def revoked(self, secret):
        """How often it was told to revoke something by a client with `secret`."""
        return sum(path == "/revoke" and sent == f"c:{secret}" for path, sent, _ in self.requests)
