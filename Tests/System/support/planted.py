"""An authorization server whose every code and token the test knows, of any size. It checks nothing."""

import http.server
import json
import secrets
import threading
import urllib.parse


class PlantedServer:
    """Issuer `issuer(size)` gives access tokens of `size` bytes. `plant` is told of everything it gives."""

    def __init__(self, plant):
        self.plant = plant
        # Closed, token requests stay without an answer; `requests` counts those that have come whole.
        self.gate = threading.Event()
        self.gate.set()
        self.requests = threading.Semaphore(0)
        # What is waiting for an answer: credentials and body.
        self.held = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.get(self)

            def do_POST(self):
                outer.post(self)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()

    def issuer(self, size):
        return f"http://127.0.0.1:{self.http.server_port}/{size}"

    def stop(self):
        self.gate.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()

    def get(self, request):
        url = urllib.parse.urlsplit(request.path)
        if url.path.endswith("/authorize"):
            query = dict(urllib.parse.parse_qsl(url.query))
            code = self.plant("authorization code", text(64))
            answer = urllib.parse.urlencode({"code": code, "state": query["state"]})
            return reply(request, 302, {"Location": f"{query['redirect_uri']}?{answer}"}, b"")
        size = url.path.removesuffix("/.well-known/openid-configuration").strip("/")
        if not size.isdigit():
            return reply(request, 404, {}, b"")
        issuer = self.issuer(size)
        reply_json(request, {
            "issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"]})

    def post(self, request):
        asked = request.headers.get("Authorization", "").encode() + request.rfile.read(
            int(request.headers["Content-Length"]))
        self.held.append(asked)
        self.requests.release()
        self.gate.wait()
        self.held.remove(asked)
        size = int(request.path.split("/")[1])
        reply_json(request, {
            "access_token": self.plant("access token", text(size)), "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": self.plant("refresh token", text(max(size, 43))), "scope": "read"})


def text(size):
    """`size` random characters that no form and no JSON escapes."""
    return secrets.token_urlsafe(size)[:size]


def reply_json(request, value):
    reply(request, 200, {"Content-Type": "application/json", "Cache-Control": "no-store"}, json.dumps(value).encode())


def reply(request, status, headers, body):
    request.send_response(status)
    for name, value in {**headers, "Content-Length": str(len(body))}.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body)
