"""A person at Glewlwyd's pages, by the calls that their scripts would make; as a program usable in $BROWSER."""

import os
import sys
import urllib.parse

import requests

from world.accounts import PASSWORD, USER
from world.browser import detach


class Person:
    """Somebody with a session at Glewlwyd: the calls that its pages' scripts would make."""

    def __init__(self, server, ca_file):
        self.base = server
        self.session = requests.Session()
        self.session.trust_env, self.session.verify = False, str(ca_file)

    def call(self, method, url, **options):
        return self.session.request(method, url, allow_redirects=False, timeout=30, **options)

    def log_in(self):
        assert self.call("POST", f"{self.base}/api/auth", json={"username": USER, "password": PASSWORD}).ok

    def consent(self, client, scope):
        assert self.call("PUT", f"{self.base}/api/auth/grant/{client}", json={"scope": scope}).ok

    def approve_device(self, code, client, scope):
        """Type the user code into the device page and agree."""
        self.log_in()
        self.consent(client, scope)
        answer = self.call("GET", f"{self.base}/api/oidc/device?code={code}&g_continue")
        assert "deviceComplete" in answer.headers.get("Location", ""), answer.headers


def start_device_login(home, server, *arguments):
    command = home.start(
        home.programs / "oauthctl", "login", "work", server.issuer, "--device", "--client-id", "tv-app", "--scope",
        "openid read", "--ca", server.ca_file, *arguments)
    for text in command.stderr:
        if text.startswith("and enter the code"):
            return command, next(command.stderr).strip()
    raise AssertionError("no user code")


def main():
    """As $BROWSER: log in and agree by calls; WORLD_CA is the authority, WORLD_BROWSER_LOG gets a line a call."""
    detach()
    lines, person = [], Person("", os.environ["WORLD_CA"])
    try:
        # The link of the redirect listener leads to the server.
        url = person.call("GET", sys.argv[1]).headers["Location"]
        base = person.base = url.split("/api/")[0]
        for _ in range(8):
            answer = person.call("GET", url)
            lines.append(f"GET {url} {answer.status_code}")
            if url.startswith("http://"):
                break
            url = urllib.parse.urljoin(url, answer.headers["Location"])
            if url.startswith(base + "/login.html"):
                query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
                person.log_in()
                person.consent(query["client_id"], query.get("scope", ""))
                back = query["callback_url"]
                url = back + ("&" if "?" in back else "?") + "g_continue"
    except Exception as error:
        lines.append(repr(error))
    with open(os.environ["WORLD_BROWSER_LOG"], "a") as log:
        log.write("\n".join(lines) + "\n")
