"""Glewlwyd, Debian's package: a second engine, in C, with exact redirect URIs and errors of its own spelling.

Every instance is a child process with a folder, a database and a port of its own, over TLS with a private authority.
"""

import contextlib
import json
import shutil
import sqlite3
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import requests

from support import processes
from support.ports import free_port
from world import certificates
from world.accounts import CLIENTS, PASSWORD, USER, Client

SCHEMA = Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
PAGES = Path("/usr/share/glewlwyd")
MODULES = Path("/usr/lib/glewlwyd")
PLUGIN = "oidc"
START_LIMIT_SECONDS = 60
# A confidential client whose secret is the same before and after any encoding.
SIMPLE_APP = Client("simple-app", "authorization-code", "simple-secret-8")
# What the scope `read` may be asked for (RFC 8707).
RESOURCE = "https://api.example.com/"
ADMINISTRATOR = {"username": "admin", "password": "password"}
TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "application/javascript", ".json": "application/json",
    ".png": "image/png", ".woff2": "font/woff2", ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class Settings:
    """Lifetimes in seconds; `pushed_only` and `dpop_nonce` are what the server insists on."""

    access_ttl: int = 300
    refresh_ttl: int = 3600
    device_interval: int = 1
    pushed_only: bool = False
    dpop_nonce: bool = False


class Glewlwyd:
    """A running server; the same words as world.server.AuthorizationServer where both have a thing."""

    name = "Glewlwyd"
    user, password = USER, PASSWORD
    # The introspection answers to this client alone.
    introspector = CLIENTS["resource-server"]

    def __init__(self, settings, directory):
        self.settings, self.directory = settings, directory
        directory.mkdir(mode=0o700)
        self.port, self.redirect_port = free_port(), free_port()
        self.base = f"https://localhost:{self.port}"
        self.issuer = f"{self.base}/api/{PLUGIN}"
        self.files = certificates.make(directory / "certificates")
        self.ca_file = self.files.authority
        self.log = directory / "server.log"
        self.prepare()
        self.start()
        try:
            self.configure()
        except BaseException:
            self.stop()
            raise

    authorization_endpoint = property(lambda self: self.issuer + "/auth")
    token_endpoint = property(lambda self: self.issuer + "/token")
    introspection_endpoint = property(lambda self: self.issuer + "/introspect")
    device_authorization_endpoint = property(lambda self: self.issuer + "/device_authorization")
    resource = property(lambda self: self.issuer + "/userinfo")

    # --- The process ------------------------------------------------------------------------------------------------

    def prepare(self):
        with contextlib.closing(sqlite3.connect(self.directory / "db.sqlite3")) as database:
            database.executescript(SCHEMA.read_text())
        # The package's own configuration of its pages is a folder that its set-up would fill.
        shutil.copytree(PAGES / "webapp", self.directory / "web", ignore=shutil.ignore_patterns("config.json"))
        shutil.copy(PAGES / "templates" / "config.json", self.directory / "web" / "config.json")
        (self.directory / "none").mkdir()
        values = {
            "port": self.port, "bind_address": "127.0.0.1", "external_url": self.base, "login_url": "login.html",
            "api_prefix": "api", "static_files_path": f"{self.directory}/web/", "cookie_secure": 1,
            "log_mode": "console", "log_level": "WARNING", "session_key": f"GLEWLWYD{self.port}",
            "admin_scope": "g_admin", "profile_scope": "g_profile", "hash_algorithm": "SHA512",
            "user_module_path": MODULES / "user", "user_middleware_module_path": self.directory / "none",
            "client_module_path": MODULES / "client", "user_auth_scheme_module_path": MODULES / "scheme",
            "plugin_module_path": MODULES / "plugin", "use_secure_connection": True,
            "secure_connection_key_file": self.files.key, "secure_connection_pem_file": self.files.certificate,
            "secure_connection_ca_file": self.files.authority,
        }
        lines = [f"{key}={json.dumps(value if isinstance(value, (int, bool)) else str(value))}"
                 for key, value in values.items()]
        lines.append(f'database={{ type = "sqlite3" path = "{self.directory / "db.sqlite3"}" }}')
        types = ", ".join(f'{{ extension = "{e}" mime_type = "{t}" compress = 0 }}' for e, t in TYPES.items())
        lines.append(f"static_files_mime_types = ( {types} )")
        (self.directory / "glewlwyd.conf").write_text("\n".join(lines) + "\n")

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["glewlwyd", f"--config-file={self.directory / 'glewlwyd.conf'}"], cwd=self.directory,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        processes.keep(self.process.pid)
        end = time.monotonic() + START_LIMIT_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(requests.ConnectionError, requests.Timeout):
                if self.http("GET", self.base + "/config", timeout=5).status_code == 200:
                    return
            time.sleep(0.05)
        self.stop()
        raise RuntimeError(f"glewlwyd did not start:\n{self.log.read_text(errors='replace')[-4000:]}")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def http(self, method, url, session=None, **options):
        """One request that no proxy or netrc of the environment touches."""
        with contextlib.nullcontext(session) if session else requests.Session() as session:
            session.trust_env = False
            session.verify = str(self.ca_file)
            return session.request(method, url, allow_redirects=False, **{"timeout": 20, **options})

    # --- Its configuration, through its own interface ---------------------------------------------------------------

    def configure(self):
        with self.administrator() as post:
            for scope in ("read", "write", "introspect"):
                post("scope", {
                    "name": scope, "display_name": scope, "description": scope, "password_required": False,
                    "scheme": {}})
            post("user", {
                "username": USER, "name": "Alice", "email": "alice@example.org", "password": PASSWORD,
                "enabled": True, "scope": ["g_profile", "openid", "read", "write"]})
            for client in (*CLIENTS.values(), SIMPLE_APP):
                post("client", self.client(client))
            post("mod/plugin", {
                "module": "oidc", "name": PLUGIN, "display_name": "OIDC", "order_rank": 0,
                "parameters": self.plugin()})

    @contextlib.contextmanager
    def administrator(self):
        """post(path, body), as the administrator."""
        with requests.Session() as session:

            def post(path, body):
                answer = self.http("POST", f"{self.base}/api/{path}", session, json=body)
                assert answer.ok, f"{path}: {answer.status_code} {answer.text[:500]}"

            post("auth", ADMINISTRATOR)
            yield post

    def add_client(self, client, **values):
        """One more client; `values` are Glewlwyd's own words about it."""
        with self.administrator() as post:
            post("client", self.client(client) | values)

    def client(self, client):
        grant = {"authorization-code": "code", "client-credentials": "client_credentials"}.get(client.grant)
        grant = grant or ("password" if client.grant == "password" else "device_authorization")
        return {
            "client_id": client.id, "name": client.id, "enabled": True, "confidential": bool(client.secret),
            "client_secret": client.secret,
            "redirect_uri": [f"http://127.0.0.1:{self.redirect_port}/callback"] if grant == "code" else [],
            "authorization_type": [grant] if grant == "client_credentials" else [grant, "refresh_token"],
            "token_endpoint_auth_method": ["client_secret_basic" if client.secret else "none"],
            "scope": ["introspect"] if client == self.introspector else
                     ["read"] if grant == "client_credentials" else ["openid", "read", "write"],
        }

    def plugin(self):
        key = self.directory / "signing-key.pem"
        certificates.write_signing_key(key)
        public = subprocess.run(
            ["openssl", "rsa", "-in", key, "-pubout"], check=True, capture_output=True, text=True).stdout
        return {
            "iss": self.issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": key.read_text(), "cert": public,
            "access-token-duration": self.settings.access_ttl, "refresh-token-duration": self.settings.refresh_ttl,
            "code-duration": 60, "refresh-token-rolling": True, "refresh-token-one-use": "always",
            "allow-non-oidc": True, "subject-type": "public", "auth-type-code-enabled": True,
            "auth-type-code-revoke-replayed": True, "auth-type-token-enabled": False,
            "auth-type-id-token-enabled": True, "auth-type-none-enabled": False, "auth-type-password-enabled": True,
            "auth-type-client-enabled": True, "auth-type-refresh-enabled": True, "auth-type-device-enabled": True,
            "device-authorization-expiration": 120,
            "device-authorization-interval": self.settings.device_interval, "scope": [],
            "allowed-scope": ["openid", "read", "write", "introspect"], "jwks-show": True, "pkce-allowed": True,
            "pkce-method-plain-allowed": False, "pkce-required-public-client": True,
            "introspection-revocation-allowed": True, "introspection-revocation-auth-scope": ["introspect"],
            "introspection-revocation-allow-target-client": True, "oauth-as-iss-id": True,
            "oauth-par-allowed": True, "oauth-par-required": self.settings.pushed_only, "oauth-par-duration": 60,
            "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:", "oauth-dpop-allowed": True,
            "oauth-dpop-iat-duration": 60, "oauth-dpop-nonce-mandatory": self.settings.dpop_nonce,
            "oauth-dpop-nonce-counter": 3, "request-parameter-allow": True, "client-jwks-parameter": "jwks",
            "client-pubkey-parameter": "pubkey", "request-maximum-exp": 300, "register-client-allowed": True,
            "register-client-auth-scope": [], "register-client-credentials-scope": ["read"],
            "register-client-management-allowed": True, "resource-allowed": True,
            "resource-scope": {"read": [RESOURCE]}, "resource-client-property": "resource",
            "resource-scope-and-client-property": False,
        }

    # --- What tests ask and do --------------------------------------------------------------------------------------

    def say_hello(self, token):
        """Status of a protected resource for this access token."""
        return self.http("GET", self.resource, headers={"Authorization": f"Bearer {token}"}).status_code

    def introspect(self, token):
        """Whether the server itself holds this token for active (RFC 7662)."""
        answer = self.http(
            "POST", self.introspection_endpoint, data={"token": token},
            auth=(self.introspector.id, self.introspector.secret))
        return answer.status_code == 200 and answer.json()["active"]

    def end_grants(self):
        """The server forgets every refresh token."""
        with contextlib.closing(sqlite3.connect(self.directory / "db.sqlite3", timeout=20)) as database, database:
            database.execute("UPDATE gpo_refresh_token SET gpor_enabled = 0")


    def refresh_tokens(self, enabled, client=None):
        """How many refresh tokens the server knows that are good, or were."""
        where, values = "gpor_enabled = ?", [int(enabled)]
        if client:
            where, values = where + " AND gpor_client_id = ?", [*values, client]
        with contextlib.closing(sqlite3.connect(self.directory / "db.sqlite3", timeout=20)) as database:
            [count] = database.execute(f"SELECT COUNT(*) FROM gpo_refresh_token WHERE {where}", values).fetchone()
        return count
