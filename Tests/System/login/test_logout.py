"""`oauthctl logout`: the server revokes the tokens (RFC 7009), and nothing of them is kept here."""

import pytest

from support.accounts import define
from support.login import get_token, log_in, wait_until
from world.accounts import CLIENTS
from world.guard import mark_of


def live_tokens(server):
    """The tokens that the server would still accept."""
    return [(kind, token) for kind, token, revoked in server.issued() if not revoked]


@pytest.fixture
def own(world):
    """A server that no other test has tokens of."""
    return world(access_ttl=297)


@pytest.fixture(autouse=True)
def nothing_left(own):
    own.end_grants()
    own.forget_access_tokens()


@pytest.mark.parametrize("client", ["native-app", "web-app"])
def test_logout_revokes_at_the_server(home, agent, own, client):
    log_in(home, own, client=client)
    token = get_token(home)
    [refresh_token] = [it for kind, it in live_tokens(own) if kind == "refresh"]
    mark = own.mark()
    result = home.oauthctl("logout", "work")
    assert result.stdout == "" and "the server revoked the tokens" in result.stderr
    assert live_tokens(own) == [] and own.say_hello(token) == 401
    # The access token after it: a server may or may not take it along.
    requests = own.revocations(mark)
    assert [(entry["status"], entry["token"]) for entry in requests] == [
        (200, mark_of(refresh_token)), (200, mark_of(token))]
    # A confidential client shows who it is.
    assert {entry["authorization"] for entry in requests} == {"basic" if CLIENTS[client].secret else None}


def test_after_logout_there_is_no_token_and_a_login_is_asked_for(home, agent, own):
    log_in(home, own)
    home.oauthctl("logout", "work")
    mark = own.mark()
    result = home.oauthctl("get-token", "work", check=False)
    assert (result.status, result.stdout) == (4, "") and "oauthctl login work" in result.stderr
    agent.restart()
    assert home.oauthctl("get-token", "work", check=False).status == 4
    assert own.log_entries(mark) == []
    # The account is still there.
    home.oauthctl("login", "work")
    assert own.say_hello(get_token(home)) == 200


def test_logging_out_twice_is_no_error(home, agent, own):
    log_in(home, own)
    home.oauthctl("logout", "work")
    mark = own.mark()
    assert "nothing to revoke" in home.oauthctl("logout", "work").stderr
    assert own.log_entries(mark) == []


def test_logout_leaves_other_accounts_alone(home, agent, own):
    log_in(home, own, "work")
    log_in(home, own, "other")
    home.oauthctl("logout", "work")
    assert own.say_hello(get_token(home, "other")) == 200
    assert home.oauthctl("get-token", "other", "--force").status == 0


def test_a_client_without_refresh_token_has_its_access_token_revoked(home, agent, own):
    home.oauthctl(
        "login", "machine", own.issuer, "--client-id", "machine", "--grant", "client-credentials",
        "--client-secret-stdin", stdin=CLIENTS["machine"].secret)
    token, mark = get_token(home, "machine"), own.mark()
    home.oauthctl("logout", "machine")
    assert [entry["token"] for entry in own.revocations(mark)] == [mark_of(token)]
    assert live_tokens(own) == [] and own.say_hello(token) == 401


@pytest.mark.parametrize("restart", [False, True], ids=["agent runs on", "agent restarts"])
def test_a_server_that_is_down_is_told_later(home, agent, own, restart):
    log_in(home, own)
    mark = own.mark()
    with own.down():
        result = home.oauthctl("logout", "work")
        again = home.oauthctl("logout", "work")
        for result in (result, again):
            assert "tries again" in result.stderr and "could not be told yet" in result.stderr
        assert home.oauthctl("get-token", "work", check=False).status == 4, "here it is over at once"
        if restart:
            agent.stop()
    if restart:
        agent.start()
        # The vault is opened when somebody wants something.
        home.oauthctl("status")
    wait_until(lambda: own.revocations(mark), 60, "the revocation")
    assert {entry["status"] for entry in own.revocations(mark)} == {200} and live_tokens(own) == []


def test_a_pending_revocation_does_not_touch_the_next_login(home, agent, own):
    log_in(home, own)
    mark = own.mark()
    with own.down():
        home.oauthctl("logout", "work")
    home.oauthctl("login", "work")
    token = get_token(home)
    wait_until(lambda: own.revocations(mark), 60, "the revocation")
    assert own.say_hello(token) == 200 and home.oauthctl("get-token", "work", "--force").status == 0


def test_logout_waits_for_a_refresh_in_flight_and_revokes_what_it_gives(home, agent, own):
    log_in(home, own)
    token, mark = get_token(home), own.mark()
    with agent.connect() as wire, own.token_answers_held():
        wire.request("token.get", account="work", rejected={"token": token})
        wait_until(lambda: own.refreshes(mark), 20, "the refresh")
        leaving = home.start(home.programs / "oauthctl", "logout", "work")
    _, stderr = leaving.communicate(timeout=60)
    assert leaving.returncode == 0 and "revoked" in stderr
    assert live_tokens(own) == []
    assert home.oauthctl("get-token", "work", check=False).status == 4


def test_a_server_without_revocation_is_told_so(home, agent, own):
    define(
        home, "work", f'issuer = "{own.issuer}"', 'client_id = "native-app"', 'scope = ["read"]',
        f'authorization_endpoint = "{own.authorization_endpoint}"', f'token_endpoint = "{own.token_endpoint}"')
    home.use_browser(own.user, own.password)
    home.oauthctl("login", "work")
    mark = own.mark()
    assert "offers no revocation" in home.oauthctl("logout", "work").stderr
    assert own.log_entries(mark) == [] and home.oauthctl("get-token", "work", check=False).status == 4


def test_an_unknown_account_is_told(home, agent):
    result = home.oauthctl("logout", "nobody", check=False)
    assert (result.status, result.stdout) == (3, "") and "nobody" in result.stderr


def test_a_client_that_is_not_accepted_is_asked_again_with_its_new_secret(home, agent, own):
    """The secret was renewed at the server, here it is the old one: the tokens are not forgotten without a word."""
    log_in(home, own, client="web-app")
    home.oauthctl("secret", "set", "work", "client_secret", stdin="an old secret\n")
    result = home.oauthctl("logout", "work")
    assert "invalid_client" in result.stderr and "oauthctl secret set work client_secret" in result.stderr
    assert live_tokens(own) != []
    agent.restart()
    home.oauthctl("secret", "set", "work", "client_secret", stdin=CLIENTS["web-app"].secret + "\n")
    wait_until(lambda: live_tokens(own) == [], 60, "the revocation")
