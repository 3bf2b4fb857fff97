"""git-lfs asks git for credentials, and git asks oauthctl: objects go to a server of their own, with the token."""

import contextlib

import pytest

from interop.lfs import LFSServer
from support.login import get_token, log_in

IDENTITY = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
CONTENT = b"large\n" * 100_000


@pytest.fixture
def lfs(home, agent, dot):
    """An LFS server that believes who dot believes, and a home whose git and git-lfs use it."""
    server = LFSServer(lambda token: dot.say_hello(token) == 200)
    try:
        log_in(home, dot, arguments=["--host", server.base])
        home.oauthctl("setup", "git", "--yes")
        home.run("git", "lfs", "install", "--skip-repo")
        home.run("git", "config", "--global", "lfs.locksverify", "false")
        yield server
    finally:
        server.stop()


def push_large(home, lfs):
    """A repository in a folder, `one`, a clone of it, and an object that went to the LFS server."""
    home.run("git", "init", "--quiet", "--bare", "there.git")
    home.run("git", "clone", "--quiet", "there.git", "one")
    one = home.root / "one"
    (one / ".lfsconfig").write_text(f"[lfs]\n\turl = {lfs.base}/lfs\n")
    (one / "large.bin").write_bytes(CONTENT)
    home.run("git", "-C", one, "lfs", "track", "*.bin")
    home.run("git", "-C", one, "add", ".")
    home.run("git", "-C", one, *IDENTITY, "commit", "--quiet", "-m", "large")
    home.run("git", "-C", one, "push", "--quiet", "origin", "HEAD")


def test_objects_are_pushed_and_fetched_with_the_token(home, lfs, row):
    line = row("git-lfs", "push and clone")
    push_large(home, lfs)
    assert list(lfs.objects.values()) == [CONTENT]
    home.run("git", "clone", "--quiet", "there.git", "two")
    assert (home.root / "two" / "large.bin").read_bytes() == CONTENT
    assert {token for _, _, token in lfs.requests} <= {None, get_token(home)}
    left = [path for path in home.files() if get_token(home).encode() in path.read_bytes()]
    assert not left
    line.seen("works, as password of Basic; no file holds the token")


def test_a_token_that_was_revoked_between_two_commands_is_replaced(home, dot, lfs, row):
    line = row("git-lfs", "access token ended behind our back")
    push_large(home, lfs)
    old = get_token(home)
    dot.revoke(old)
    for path in (home.root / "one" / ".git" / "lfs" / "objects").rglob("*"):
        with contextlib.suppress(IsADirectoryError):
            path.unlink()
    tries = 0
    while home.run("git", "-C", "one", "lfs", "fetch", check=False).status != 0:
        tries += 1
        assert tries < 3
    assert get_token(home) != old
    line.seen("works at once" if not tries else "fails once, then works")
