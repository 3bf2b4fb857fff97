"""A Flask application on a loopback port, over TLS with a private authority, in a thread of the tests."""

import threading

import requests
from werkzeug.serving import WSGIRequestHandler, make_server

from support.ports import free_port
from world import certificates
from world.accounts import PASSWORD, USER


class Quiet(WSGIRequestHandler):
    def log(self, *_):
        pass


class FlaskServer:
    """`application(server)` makes the application when `base` and `directory` are known. `resource` is what
    `say_hello` asks."""

    user, password = USER, PASSWORD

    def __init__(self, directory, application):
        self.directory, self.port = directory, free_port()
        directory.mkdir(mode=0o700)
        self.base = self.issuer = f"https://localhost:{self.port}"
        files = certificates.make(directory / "certificates")
        self.ca_file = files.authority
        self.resource = self.base + "/userinfo"
        self.http_server = make_server(
            "127.0.0.1", self.port, application(self), threaded=True, request_handler=Quiet,
            ssl_context=(str(files.certificate), str(files.key)))
        self.thread = threading.Thread(target=self.http_server.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.http_server.shutdown()
        self.thread.join()
        self.http_server.server_close()

    def http(self, method, url, **options):
        """One request that no proxy or netrc of the environment touches."""
        with requests.Session() as session:
            session.trust_env, session.verify = False, str(self.ca_file)
            return session.request(method, url, allow_redirects=False, **{"timeout": 20, **options})

    def say_hello(self, token):
        """Status of a protected resource for this access token."""
        return self.http("GET", self.resource, headers={"Authorization": f"Bearer {token}"}).status_code
