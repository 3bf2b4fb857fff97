"""Starting and steering one authorization server of the test world."""

import contextlib
import dataclasses
import functools
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import requests

from support import ports, processes
from world import certificates
from world.accounts import CLIENTS, PASSWORD, USER
from world.git import make_repository
from world.guard import REVOCATION_PATH, digest

PACKAGE_ROOT = Path(__file__).resolve().parent.parent
START_LIMIT_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a test can ask of its server; lifetimes are seconds, `consent` is `force` (ask at every login) or `auto`."""

    access_ttl: int = 300
    refresh_ttl: int = 3600
    refresh_grace: int = 0
    rotate: bool = True
    consent: str = "force"
    issuer_parameter: bool = True
    tls: bool = False


class AuthorizationServer:
    """django-oauth-toolkit under gunicorn on a loopback port, with a protected resource and a git repository."""

    user, password = USER, PASSWORD

    def __init__(self, settings, directory, template):
        self.settings = settings
        self.directory = directory
        self.ca_file = self.process = None
        self.listen()
        self.port = self.listener.getsockname()[1]
        self.issuer = f"{'https' if settings.tls else 'http'}://localhost:{self.port}"
        shutil.copytree(template, directory)
        write_settings(directory, settings, self.issuer)
        make_repository(directory / "repositories")
        self.start()

    authorization_endpoint = property(lambda self: self.issuer + "/authorize/")
    token_endpoint = property(lambda self: self.issuer + "/token/")
    resource = property(lambda self: self.issuer + "/api/hello")
    repository = property(lambda self: self.issuer + "/git/demo.git")

    def listen(self, port=0):
        # Bound here and inherited: no other process can take the port in between.
        self.listener = ports.listening(port=port, backlog=256)

    def start(self):
        tls = []
        if self.settings.tls:
            files = certificates.make(self.directory / "certificates")
            self.ca_file = files.authority
            tls = ["--certfile", str(files.certificate), "--keyfile", str(files.key)]
        self.log = self.directory / "server.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", "--bind", f"fd://{self.listener.fileno()}", "--workers", "1",
                 "--threads", "8", "--graceful-timeout", "1", "--no-control-socket", *tls, "world.site:application"],
                cwd=self.directory, env=site_environment(self.directory), stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, pass_fds=[self.listener.fileno()])
        processes.keep(self.process.pid)
        self.wait_until_ready()

    def wait_until_ready(self):
        url = self.issuer + "/.well-known/oauth-authorization-server"
        end = time.monotonic() + START_LIMIT_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(requests.ConnectionError, requests.Timeout):
                if self.http("GET", url, timeout=5).status_code == 200:
                    return
            time.sleep(0.05)
        self.stop()
        raise RuntimeError(f"the authorization server did not start:\n{self.log.read_text()[-4000:]}")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.listener.close()

    @contextlib.contextmanager
    def down(self):
        """While inside, connections to the server are refused; afterwards it is there as before."""
        self.stop()
        try:
            yield
        finally:
            self.listen(self.port)
            self.start()

    def http(self, method, url, **options):
        """One request that no proxy or netrc of the environment touches."""
        with requests.Session() as session:
            session.trust_env = False
            session.verify = str(self.ca_file) if self.ca_file else True
            return session.request(method, url, allow_redirects=False, **{"timeout": 20, **options})

    def say_hello(self, token):
        """Status of the protected resource for this access token."""
        return self.http("GET", self.resource, headers={"Authorization": f"Bearer {token}"}).status_code

    def introspect(self, token):
        """Whether the server itself holds this access token for active (RFC 7662)."""
        client = CLIENTS["resource-server"]
        answer = self.http(
            "POST", self.issuer + "/introspect/", data={"token": token}, auth=(client.id, client.secret))
        answer.raise_for_status()
        return answer.json()["active"]

    def issued(self):
        """Every token the server has issued and still knows: (kind, token, revoked), kind `access` or `refresh`."""
        with contextlib.closing(sqlite3.connect(self.directory / "site.sqlite3", timeout=20)) as site:
            access = site.execute("SELECT token FROM oauth2_provider_accesstoken").fetchall()
            refresh = site.execute("SELECT token, revoked FROM oauth2_provider_refreshtoken").fetchall()
        return [("access", token, False) for token, in access] + [
            ("refresh", token, revoked is not None) for token, revoked in refresh]

    def device_codes(self):
        with contextlib.closing(sqlite3.connect(self.directory / "site.sqlite3", timeout=20)) as site:
            return [code for code, in site.execute("SELECT device_code FROM oauth2_provider_devicegrant")]

    def end_grants(self):
        """The server forgets every refresh token: the next refresh is answered with `invalid_grant`."""
        with contextlib.closing(sqlite3.connect(self.directory / "site.sqlite3", timeout=20)) as site, site:
            site.execute("UPDATE oauth2_provider_refreshtoken SET revoked = '2000-01-01' WHERE revoked IS NULL")

    def forget_access_tokens(self):
        with contextlib.closing(sqlite3.connect(self.directory / "site.sqlite3", timeout=20)) as site, site:
            site.execute("UPDATE oauth2_provider_refreshtoken SET access_token_id = NULL")
            site.execute("DELETE FROM oauth2_provider_accesstoken")

    def api(self, name):
        """URL of a resource that world.api describes."""
        return f"{self.issuer}/api/{name}"

    def api_requests(self, since=0):
        return [entry for entry in self.log_entries(since) if entry["path"].startswith("/api/")]

    def revocations(self, since=0):
        return [entry for entry in self.log_entries(since) if entry["path"] == REVOCATION_PATH]

    def mark(self):
        """A place in the request log to count from."""
        return len(self.log_entries())

    def log_entries(self, since=0):
        """The requests answered so far, one dictionary each (see world.guard.RequestLog)."""
        file = self.directory / "requests.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [json.loads(line) for line in lines[since:]]

    def token_requests(self, grant_type, since=0):
        """POSTs to the token endpoint with this grant type, in order."""
        return [entry for entry in self.log_entries(since) if entry.get("grant_type") == grant_type]

    def refreshes(self, since=0):
        return self.token_requests("refresh_token", since)

    @contextlib.contextmanager
    def token_answers_held(self):
        """While inside, the server decides token requests and logs them, but keeps the answers back.

        Gives a function that lets them go before.
        """
        switch = self.directory / "hold-token-answers"
        switch.touch()

        def release():
            switch.unlink(missing_ok=True)

        try:
            yield release
        finally:
            release()

    def revoke(self, *tokens):
        """The resources refuse these access tokens from now on; their lifetime looks untouched."""
        with open(self.directory / "revoked-tokens", "a") as file:
            file.writelines(digest(token) + "\n" for token in tokens)

    def limit_token_uses(self, uses):
        """The resources accept each access token this often, then never again; None lifts the limit."""
        (self.directory / "token-uses").write_text("" if uses is None else str(uses))


@functools.lru_cache
def site_template(directory):
    """A prepared site (database, signing key) for instances to copy: preparing takes seconds, copying does not."""
    directory.mkdir(parents=True)
    certificates.write_signing_key(directory / "signing-key.pem")
    (directory / "repositories").mkdir()
    write_settings(directory, Settings(), "http://localhost")
    subprocess.run([sys.executable, "-m", "world.site"], check=True, env=site_environment(directory))
    return directory


def write_settings(directory, settings, issuer):
    (directory / "settings.json").write_text(json.dumps({"issuer": issuer, **dataclasses.asdict(settings)}))


def site_environment(directory):
    return {
        "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(PACKAGE_ROOT), "PYTHONWARNINGS": "ignore",
        "PYTHONDONTWRITEBYTECODE": "1", "WORLD_DIRECTORY": str(directory), "HOME": str(directory),
    }
