"""What a caller waits for is not what he would get now: the account's file, or its login, has changed meanwhile."""

import json
import subprocess
import threading
import time

import pytest

from faults.paused import METADATA, TellsTime, wall
from login.provider import Provider, use_silent_browser
from support.accounts import account_file, define
from support.login import get_token, wait_until


class Api(Provider):
    """Its tokens begin with `word` and live `life` seconds; `/api` notes what it is sent."""

    def __init__(self, word="one"):
        self.word, self.life, self.authorizations = word, 3_600, []
        super().__init__()

    def answer(self, method, url, fields, body):
        if url.path == "/api":
            self.authorizations.append(fields.get("authorization"))
            return "200 OK", {}, {}
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/token" and "access_token" in answer:
            form = self.seen[-1][1]
            if form["grant_type"] == "authorization_code":
                self.scope = self.form("authorize")["scope"]
            answer |= {"expires_in": self.life, "scope": form.get("scope", self.scope),
                       "access_token": f"{self.word}-{answer['access_token']}"}
        return status, headers, answer

    def release(self, answer):
        """From now on nothing waits that is asked for at /token."""
        self.holds.clear()
        answer.set()


class TimedApi(TellsTime, Api):
    pass


def call(home, api, by):
    """A caller that has to wait for a token."""
    if by == "curl":
        return home.start(home.programs / "oauthctl", "curl", "work", "-sS", f"{api.issuer}/api")
    if by == "get-token":
        return home.start(home.programs / "oauthctl", "get-token", "work", "--url", f"{api.issuer}/api")
    return git_asks(home, api)


def git_asks(home, api, *more):
    caller = home.start(home.programs / "oauthctl", "git-credential", "get", stdin=subprocess.PIPE)
    host = api.issuer.removeprefix("http://")
    caller.stdin.write("\n".join(["protocol=http", f"host={host}", *more, "", ""]))
    caller.stdin.flush()
    return caller


def a_refresh_under_way(server, count=1):
    wait_until(lambda: server.kinds().count("refresh_token") == count, 20, "the refresh is under way")


def log_in_until_the_token_ends(home, server, *lines):
    use_silent_browser(home)
    server.life = 3
    server.define(home, 'scope = "read"', 'keep = "on-demand"', *lines)
    home.oauthctl("login", "work")
    # Its token has ended by then.
    time.sleep(4)
    server.life = 3_600


@pytest.mark.parametrize("how", ["edited", "deleted"])
@pytest.mark.parametrize("by", ["curl", "get-token", "git"])
def test_a_host_that_is_taken_out_while_a_caller_waits_gets_no_token(home, agent, by, how):
    with Api() as server, Api() as other:
        log_in_until_the_token_ends(home, server, f'hosts = ["{server.issuer}", "{other.issuer}"]')
        answer = server.hold("/token")
        caller = call(home, other, by)
        a_refresh_under_way(server)
        file = account_file(home)
        if how == "deleted":
            file.unlink()
        else:
            file.write_text(file.read_text().replace(f', "{other.issuer}"', ""))
        home.oauthctl("reload", check=False)
        answer.set()
        printed, told = caller.communicate(timeout=60)
        assert other.authorizations == [] and "access-" not in printed + told, (printed, told)
        # git takes no status for an answer.
        assert (caller.returncode == 0) == (by == "git")


@pytest.mark.parametrize("by", ["curl", "get-token"])
def test_a_caller_who_waits_for_one_server_gets_no_token_of_the_next(home, wall, by):
    with TimedApi("first") as first, TimedApi("second") as second:
        log_in_until_the_token_ends(home, first)
        answer = first.hold("/token")
        caller = call(home, first, by)
        a_refresh_under_way(first)
        # The machine stands still, and the server answers its refresh, and not what time it is.
        told = first.hold(METADATA)
        first.ahead = second.ahead = 7_200
        wall.set(7_200)
        answer.set()
        # The answer has come, and waits for the time; nothing tells so.
        time.sleep(0.5)
        second.define(home, 'scope = "read"')
        home.oauthctl("login", "work", "--accept-changes")
        printed, _ = caller.communicate(timeout=60)
        told.set()
        assert caller.returncode != 0 and "access-" not in printed
        assert not any("second" in (one or "") for one in first.authorizations)


@pytest.mark.parametrize("how", ["edited", "deleted", "lock"])
def test_a_git_that_waits_for_a_better_token_does_not_get_the_one_of_before(home, wall, how):
    with TimedApi() as server, Api() as other:
        use_silent_browser(home)
        server.life = 310
        server.define(home, 'scope = "read"', 'keep = "on-demand"', f'hosts = ["{server.issuer}", "{other.issuer}"]')
        home.oauthctl("login", "work")
        # The token has a while left, and less than git may need.
        server.ahead = 220
        wall.set(220)
        assert json.loads(home.oauthctl("get-token", "work", "--format", "json").stdout)["expires_in_s"] < 100
        answer = server.hold("/token")
        git = git_asks(home, other)
        a_refresh_under_way(server)
        file = account_file(home)
        if how == "lock":
            lock = home.start(home.programs / "oauthctl", "vault", "lock")
            wait_until(lambda: home.oauthctl("get-token", "work", check=False).status != 0, 20, "the lock has begun")
        elif how == "deleted":
            file.unlink()
        else:
            file.write_text(file.read_text().replace(f', "{other.issuer}"', ""))
        if how != "lock":
            home.oauthctl("reload", check=False)
        answer.set()
        printed, told = git.communicate(timeout=60)
        assert "access-" not in printed + told
        if how == "lock":
            lock.communicate(timeout=60)


def test_a_caller_who_waits_gets_no_wider_token_of_a_login_that_came_meanwhile(home, agent):
    with Api() as server:
        log_in_until_the_token_ends(home, server, 'allowed_scope = "admin"')
        server.define(home, 'scope = "read admin"', 'keep = "on-demand"')
        code = server.hold("/token")
        login = home.start(home.programs / "oauthctl", "login", "work")
        wait_until(lambda: server.kinds().count("authorization_code") == 2, 20, "the login asks for its token")
        refresh = server.holds["/token"] = threading.Event()
        oauthctl = home.programs / "oauthctl"
        other = home.start(oauthctl, "get-token", "work", "--scope", "admin")
        a_refresh_under_way(server)
        caller = home.start(oauthctl, "get-token", "work", "--scope", "read", "--format", "json")
        # It waits behind the other one; nothing tells so.
        time.sleep(1)
        code.set()
        server.release(refresh)
        assert [one.wait(60) for one in (login, other)] == [0, 0]
        printed, told = caller.communicate(timeout=60)
        assert caller.returncode == 0 and json.loads(printed)["scope"] == ["read"], told


@pytest.mark.parametrize("option, line, value", [
    ("scope", 'allowed_scope = "admin"', "admin"),
    ("resource", 'resource = ["https://api.example/x"]', "https://api.example/x"),
    ("audience", 'audience = ["other"]', "other")])
def test_what_is_taken_out_of_the_file_while_a_caller_waits_is_asked_for_no_more(home, agent, option, line, value):
    with Api() as server:
        log_in_until_the_token_ends(home, server, line)
        answer = server.hold("/token")
        first = home.start(home.programs / "oauthctl", "get-token", "work")
        a_refresh_under_way(server)
        caller = home.start(home.programs / "oauthctl", "get-token", "work", f"--{option}", value)
        # It waits behind the first one; nothing tells so.
        time.sleep(1)
        server.define(home, 'scope = "read"', 'keep = "on-demand"')
        sent = len(server.seen)
        server.release(answer)
        caller.communicate(timeout=60)
        assert caller.returncode == 8 and first.wait(60) == 0
        assert not any(value in str(form) for _, form in server.seen[sent:])


EXCHANGED = pytest.mark.parametrize("lines, asked", [
    (('paths = ["team-a"]', 'paths = ["team-b"]'), ["path=team-a/app.git"]),
    (('username = "alice"', 'username = "bob"'), ["username=alice"]), (("default = true", "default = false"), [])],
    ids=["paths", "user name", "default"])


def write_two(home, server, lines):
    for name, line in zip(("one", "two"), lines):
        define(home, name, f'issuer = "{server.issuer}"', f'client_id = "{name}"', 'scope = "read"',
               'keep = "on-demand"', line)


def log_two_in(home, server, lines, life):
    use_silent_browser(home)
    server.life = life
    write_two(home, server, lines)
    for name in ("one", "two"):
        home.oauthctl("login", name)


def git_while_they_are_exchanged(home, server, lines, asked):
    """What git gets that asks for the one, when they are the other way round before the refresh has ended."""
    server.life = 3_600
    answer = server.hold("/token")
    git = git_asks(home, server, *asked)
    a_refresh_under_way(server)
    write_two(home, server, reversed(lines))
    server.release(answer)
    return git.communicate(timeout=60)[0]


@EXCHANGED
def test_a_caller_who_waits_gets_the_token_of_the_account_that_is_meant_then(home, agent, lines, asked):
    with Api() as server:
        log_two_in(home, server, lines, life=3)
        # Their tokens have ended by then.
        time.sleep(4)
        printed = git_while_they_are_exchanged(home, server, lines, asked)
        assert "access-" in printed and server.form("refresh_token")["client_id"] == "two"


@EXCHANGED
def test_a_git_that_waits_for_a_better_token_gets_that_of_the_account_that_is_meant_then(home, wall, lines, asked):
    with TimedApi() as server:
        log_two_in(home, server, lines, life=310)
        server.ahead = 220
        wall.set(220)
        for name in ("one", "two"):
            get_token(home, name)
        printed = git_while_they_are_exchanged(home, server, lines, asked)
        assert get_token(home, "two") in printed


def test_a_refusal_is_for_no_caller_who_means_another_account_by_then(home, agent):
    lines = ("default = true", "default = false")
    with Api() as server:
        log_two_in(home, server, lines, life=3)
        # Their tokens have ended by then.
        time.sleep(4)
        server.life = 3_600
        # The first answer is a refusal.
        server.refuses = True
        answer = server.hold("/token")
        caller = home.start(home.programs / "oauthctl", "get-token", "--url", f"{server.issuer}/api")
        a_refresh_under_way(server)
        write_two(home, server, reversed(lines))
        server.refuses = False
        server.release(answer)
        printed, told = caller.communicate(timeout=60)
        assert caller.returncode == 0 and get_token(home, "two") == printed.strip(), told
