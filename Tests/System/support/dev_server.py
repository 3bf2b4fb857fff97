"""`oauth-dev-server` as a child: started on a free port, changed while it runs, its log read."""

import contextlib
import json
import subprocess
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from support import ports, processes


class DevServer:
    """Ends with `stop`. `issuer` has no final slash; repositories are `NAME.git` in `git`."""

    def __init__(self, home, *arguments, git=None):
        program = home.programs / "oauth-dev-server"
        assert program.exists(), f"{program} is not there. Run `make build`, or set OAUTHCTL_BIN."
        options = ["--git", git] if git else []
        with open(home.root / "dev-server.log", "a") as log:
            self.process = home.start(program, "--port", "0", *options, *arguments, stderr=log)
        processes.keep(self.process.pid)
        line = self.process.stdout.readline()
        assert line, home.describe([program], "did not start", "", (home.root / "dev-server.log").read_text())
        self.issuer = json.loads(line)["issuer"]

    def script(self, **changes):
        """POST /_dev/script: see `oauth-dev-server --help`."""
        request = urllib.request.Request(
            f"{self.issuer}/_dev/script", json.dumps(changes).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["done"] is True

    def log(self):
        """Every request since the start: endpoint, grant_type, status, answered."""
        with urllib.request.urlopen(f"{self.issuer}/_dev/log", timeout=60) as answer:
            return json.load(answer)["entries"]

    def refreshes(self):
        return [entry for entry in self.log() if entry.get("grant_type") == "refresh_token"]

    def say_hello(self, token):
        """Status of the protected resource for this access token."""
        request = urllib.request.Request(f"{self.issuer}/api/hello", headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code

    def has_unread_request(self):
        """Whether somebody has sent it what it has not read yet; a process that is stopped reads nothing."""
        return ports.has_unread(urlsplit(self.issuer).port)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def consenting(home):
    """A server that agrees to every login at once, and a browser of the home's that follows where it is sent."""
    started = DevServer(home, "--auto-consent", "--access-token-life", "3600")
    browser = home.bin / "browser"
    browser.write_text('#!/bin/sh\nexec curl -sSL -o /dev/null "$1"\n')
    browser.chmod(0o700)
    home.environment["BROWSER"] = str(browser)
    try:
        yield started
    finally:
        started.stop()
