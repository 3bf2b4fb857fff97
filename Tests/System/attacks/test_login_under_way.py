"""What a login sends, and what it brings, when the account, its file or the vault is another one in its middle."""

import contextlib

import pytest

from login.provider import Provider, use_silent_browser
from support.login import wait_until
from support.terminal import run_at_terminal
from support.wire import Wire

POST = 'client_authentication = "client_secret_post"'
LEAVING = [["logout", "work"], ["account", "forget", "work", "--yes"]]


@pytest.fixture
def home(home, agent):
    use_silent_browser(home)
    return home


@pytest.fixture
def servers():
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Provider()) for _ in range(3)]


@pytest.fixture
def server(servers):
    return servers[0]


def start_login(home, *options):
    return home.start(home.programs / "oauthctl", "login", "work", *options)


@pytest.mark.parametrize("logs_out", [False, True], ids=["logged in", "logged out"])
def test_a_secret_of_a_third_server_is_named_in_the_question(home, servers, logs_out):
    first, second, third = servers
    first.define(home, POST)
    home.oauthctl("secret", "set", "work", "client_secret", stdin="secret-of-first\n")
    home.oauthctl("login", "work")
    if logs_out:
        home.oauthctl("logout", "work")
    third.define(home, POST)
    home.oauthctl("secret", "set", "work", "client_secret", stdin="secret-of-third\n")
    second.define(home, POST)
    status, text = run_at_terminal(home, home.programs / "oauthctl", "login", "work", answers={"[y/N]": "n\n"})
    assert status == 1 and second.seen == []
    assert f"issuer of the client secret: {third.issuer} → {second.issuer}" in text, text


def test_what_a_grant_without_a_person_asks_for_is_shown_whole(home, server):
    server.define(home, POST, 'scope = "read"')
    home.oauthctl("secret", "set", "work", "client_secret", stdin="secret\n")
    home.oauthctl("login", "work")
    server.define(home, POST, 'grant = "client_credentials"', 'scope = "read admin:all"', 'audience = "payments"')
    status, text = run_at_terminal(home, home.programs / "oauthctl", "login", "work", answers={"[y/N]": "n\n"})
    assert status == 1 and "client_credentials" not in server.kinds()
    assert "scope: (none) → admin:all read" in text and "audience: (none) → payments" in text, text


def test_a_login_from_before_the_file_was_changed_is_not_joined(home, servers):
    first, _, third = servers
    third.define(home)
    abandoned = start_login(home, "--no-browser")
    assert any(third.issuer in line for line in abandoned.stderr)
    first.define(home)
    home.oauthctl("login", "work")
    assert third.kinds() == [] and first.kinds() == ["authorize", "authorization_code"]
    assert abandoned.wait(20) != 0 and "another login has begun" in abandoned.stderr.read()


def test_a_login_that_everybody_has_left_makes_place_for_one_with_other_options(home, server):
    server.define(home)
    home.oauthctl("vault", "create", check=False)
    with Wire(home.socket) as terminal:
        begun = terminal.call("login.start", account="work", request_id="one")
        terminal.request("login.wait", login_id=begun["login_id"])
        refused = home.oauthctl("login", "work", "--prompt", "login", check=False)
        assert refused.status == 4 and "run: oauthctl login work   # joins that one" in refused.stderr
    # As when its terminal was killed.
    home.oauthctl("login", "work", "--prompt", "login")
    assert server.form("authorize")["prompt"] == "login"


def test_a_lock_waits_for_a_code_under_way_and_keeps_what_comes(home, server):
    server.define(home)
    goes_on = server.hold("/token")
    login = start_login(home)
    wait_until(lambda: "authorization_code" in server.kinds(), 20, "the code is sent")
    lock = home.start(home.programs / "oauthctl", "vault", "lock")
    wait_until(lambda: "locked" in home.oauthctl("get-token", "work", check=False).stderr, 20, "nothing is served")
    assert lock.poll() is None
    goes_on.set()
    assert lock.wait(20) == 0 and login.wait(20) == 0
    home.oauthctl("vault", "unlock")
    assert home.oauthctl("get-token", "work").stdout == "access-1\n"


@pytest.mark.parametrize("command", LEAVING, ids=["logout", "forget"])
def test_a_login_that_ends_after_the_account_was_left_is_taken_back(home, server, command):
    server.define(home)
    goes_on = server.hold("/token")
    login = start_login(home)
    wait_until(lambda: "authorization_code" in server.kinds(), 20, "the code is sent")
    home.oauthctl(*command)
    assert login.wait(20) != 0
    goes_on.set()
    wait_until(lambda: "revoke" in server.kinds(), 20, "the token is revoked")
    assert server.form("revoke")["token"] == "refresh-1"
    assert home.oauthctl("get-token", "work", check=False).status != 0


def test_a_login_that_begins_before_a_lock_is_none_after_it(home, server):
    server.define(home)
    goes_on = server.hold("/.well-known/oauth-authorization-server")
    login = start_login(home)
    wait_until(lambda: server.connections > 0, 20, "the server is asked")
    home.oauthctl("vault", "lock")
    goes_on.set()
    assert login.wait(20) != 0 and "locked" in login.stderr.read()
    home.oauthctl("vault", "unlock")
    assert server.seen == []


@pytest.mark.parametrize("command", LEAVING, ids=["logout", "forget"])
def test_a_login_that_begins_before_the_account_is_left_is_none_after_it(home, server, command):
    server.define(home)
    goes_on = server.hold("/.well-known/oauth-authorization-server")
    login = start_login(home)
    wait_until(lambda: server.connections > 0, 20, "the server is asked")
    home.oauthctl(*command)
    goes_on.set()
    assert login.wait(20) != 0 and server.seen == []


@pytest.mark.parametrize("command", LEAVING, ids=["logout", "forget"])
def test_what_a_lock_refuses_gives_no_login_up(home, server, command):
    server.define(home)
    goes_on = server.hold("/token")
    login = start_login(home)
    wait_until(lambda: "authorization_code" in server.kinds(), 20, "the code is sent")
    lock = home.start(home.programs / "oauthctl", "vault", "lock")
    wait_until(lambda: "locked" in home.oauthctl("get-token", "work", check=False).stderr, 20, "the lock has begun")
    refused = home.oauthctl(*command, check=False)
    assert refused.status != 0 and "locked" in refused.stderr
    goes_on.set()
    assert lock.wait(20) == 0 and login.wait(20) == 0
    home.oauthctl("vault", "unlock")
    assert home.oauthctl("get-token", "work").stdout == "access-1\n"
