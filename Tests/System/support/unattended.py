"""A login that needs no person, on a server that answers as it is told to: what most tests of failures begin with."""

from support.dev_server import DevServer


def server_of(home, rotation):
    """A development server that needs no person, whose tokens are refreshed only when asked."""
    server = DevServer(home, "--auto-consent", "--access-token-life", "3600", "--rotation", rotation)
    browser = home.bin / "browser"
    browser.write_text('#!/bin/sh\nexec curl -sSL -o /dev/null "$1"\n')
    browser.chmod(0o700)
    home.environment["BROWSER"] = str(browser)
    # A named socket is used or fails: a caller whose agent is killed does not start another one, without our faults.
    home.environment["OAUTHCTL_SOCKET"] = str(home.socket)
    home.socket.parent.mkdir(mode=0o700)
    return server


def log_in(home, server, account="work"):
    home.oauthctl("login", account, server.issuer, "--client-id", "dev", "--scope", "read")


def refresh(home, account="work", check=False):
    return home.oauthctl("get-token", account, "--force", check=check)
