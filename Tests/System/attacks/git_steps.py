"""Servers with authorities of their own, accounts there, and git that is set up for one of them."""

import base64
import re

import pytest

from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority
from network.listeners import Portal, server_tls

GRANTED = '{"access_token":"a-token-of-another-account","token_type":"Bearer","expires_in":3600,"refresh_token":"r"}'
ASKS = {"status": "401 Unauthorized", "body": "", "fields": ['WWW-Authenticate: Basic realm="x"']}


def git_asks(home, url, authority, *settings):
    """What a server at `url` with a certificate by `authority` gets of git, which has these `settings`, too."""
    with Portal(**ASKS, tls=server_tls(authority.issue("localhost")), port=int(url.rpartition(":")[2])) as server:
        options = [word for setting in settings for word in ("-c", setting)]
        home.run("git", *options, "ls-remote", f"{url}/one.git", check=False)
        return server.requests


@pytest.fixture
def servers(scratch):
    """Two authorities, the address of a server that is gone by now, and a server of the second."""
    first, second = Authority(scratch / "attacks-first"), Authority(scratch / "attacks-second")
    with Portal("200 OK", GRANTED, tls=server_tls(second.issue("new", names=("127.0.0.1",)))) as new:
        yield first, second, f"https://127.0.0.1:{new.port}"


@pytest.fixture
def url(home, agent, servers):
    """The server of two accounts that git is set up for."""
    with Portal("200 OK", GRANTED, tls=server_tls(servers[0].issue("localhost"))) as old:
        url = f"https://localhost:{old.port}"
        for name in ("work", "zother"):
            write_account(home, name, **endpoints(url), ca_file=str(servers[0].file))
            log_in_by_password(home, name)
        home.oauthctl("setup", "git", "--yes", "--account", "work")
    return url


def granted(requests):
    """Those with a token; with a user in the address git tries that one without a password, too."""
    given = [re.search(r"Authorization: Basic ([\w+/=]+)", str(request)) for request in requests]
    return [found[1] for found in given if found and b"a-token" in base64.b64decode(found[1])]
