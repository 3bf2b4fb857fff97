"""Git, its helper by hand, and an account."""

import base64
import os

import pytest

from world.guard import digest

GIT = os.environ.get("OAUTHCTL_TEST_GIT", "git")
IDENTITY = {
    "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.org"}


def git(home, *arguments, **options):
    return home.run(GIT, *arguments, environment={**IDENTITY, **options.pop("environment", {})}, **options)


def settings(home):
    """git's global configuration as (key, value), in order."""
    if not (home.root / ".gitconfig").exists():
        return []
    entries = git(home, "config", "--global", "--null", "--list").stdout.split("\0")[:-1]
    return [tuple(entry.split("\n", 1)) for entry in entries]


@pytest.fixture
def helper(home):
    """helper(operation, *lines) -> Result: the helper by its own name, as git runs it; it is not set up."""
    link = home.bin / "git-credential-oauthctl"
    link.symlink_to(home.programs / "oauthctl")

    def run(operation, *lines, **options):
        return home.run(link, operation, stdin="".join(line + "\n" for line in lines) + "\n", **options)

    return run


def remote(server, **changes):
    """What git says of a server: `key=value` lines."""
    protocol, _, host = server.issuer.partition("://")
    values = {"protocol": protocol, "host": host, **changes}
    return [f"{key}={value}" for key, value in values.items() if value is not None]


NEWER = ["capability[]=authtype", "capability[]=state"]
BASIC, BEARER = 'wwwauth[]=Basic realm="test world"', 'wwwauth[]=Bearer realm="test world"'


def state(token, which="first", account="work"):
    return f"state[]=oauthctl:2:{which}:{digest(token)[:32]}:{account}"


def basic(token, username="oauth2"):
    return "credential=" + base64.b64encode(f"{username}:{token}".encode()).decode()
