"""A refresh token that a person gives twice: a strict server ends the login that was made of it. And one of another
person in the place of a login. Each test is the attack: it was seen to succeed before the program was mended."""

import json
import threading
from urllib.parse import parse_qs

import pytest

from login.provider import Provider, use_silent_browser

GIVEN = "given-refresh-71c2"
IN_USE, USED_UP = "that refresh token is the login of", "that refresh token is used up"


class Strict(Provider):
    """Takes each refresh token once. A second sending ends the whole family."""

    def __init__(self, **options):
        self.live, self.sent = GIVEN, []
        super().__init__(**options)

    def answer(self, method, url, fields, body):
        token = parse_qs(body).get("refresh_token", [None])[0] if url.path == "/token" else None
        if token is None or self.refuses:
            return super().answer(method, url, fields, body)
        self.sent.append(token)
        if token != self.live:
            self.live = None
            return "400 Bad Request", {}, {"error": "invalid_grant"}
        answer = super().answer(method, url, fields, body)
        self.live = f"refresh-{self.tokens}"
        return answer


@pytest.fixture
def provider():
    with Strict() as provider:
        yield provider


def give(home, provider, account, *words):
    credential = {"refresh_token": GIVEN, "client_id": "theirs", "issuer": provider.issuer}
    return home.oauthctl("account", "import", account, *words, stdin=json.dumps(credential), check=False)


def assert_login_lives(home, provider, account):
    home.oauthctl("get-token", account, "--force")
    assert provider.live and len(set(provider.sent)) == len(provider.sent), provider.sent


def test_no_refresh_token_is_sent_for_a_second_account(home, agent, provider):
    """The first name was mistyped."""
    assert give(home, provider, "wrok").status == 0
    home.oauthctl("get-token", "wrok")
    second = give(home, provider, "work")
    assert second.status != 0 and USED_UP in second.stderr and "wrok" in second.stderr, second
    assert not (home.config / "oauthctl/accounts.d/work.toml").exists()
    assert_login_lives(home, provider, "wrok")


def test_one_that_was_not_sent_yet_goes_to_another_account_once_the_first_is_forgotten(home, agent, provider):
    provider.refuses = "503 Service Unavailable"
    give(home, provider, "wrok")
    second = give(home, provider, "work")
    # It may have been sent: who forgets that account loses what came for it.
    assert IN_USE in second.stderr and "use wrok" in second.stderr and "forget" not in second.stderr, second
    provider.refuses = False
    home.oauthctl("account", "forget", "wrok", "--yes")
    assert give(home, provider, "work").status == 0
    assert_login_lives(home, provider, "work")


def test_of_two_that_give_it_at_once_one_gets_it(home, agent, provider):
    home.oauthctl("vault", "create")
    ends = {}
    threads = [
        threading.Thread(target=lambda name=name: ends.update({name: give(home, provider, name)}))
        for name in ("first", "second", "third")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [winner] = [name for name, end in ends.items() if end.status == 0]
    assert_login_lives(home, provider, winner)


@pytest.mark.parametrize("how", ["import", "secret set"])
def test_one_that_is_used_up_is_not_sent_again_for_its_own_account(home, agent, provider, how):
    give(home, provider, "work")
    home.oauthctl("get-token", "work")
    if how == "import":
        again = give(home, provider, "work", "--replace")
    else:
        again = home.oauthctl("secret", "set", "work", "refresh_token", "--replace", stdin=GIVEN, check=False)
    assert again.status != 0 and USED_UP in again.stderr, again
    assert_login_lives(home, provider, "work")


def test_no_token_of_the_person_before_is_given_for_the_login_of_the_next(home, agent):
    use_silent_browser(home)
    with Provider() as provider:
        provider.define(home, 'keep = "on-demand"')
        home.oauthctl("login", "work")
        before = home.oauthctl("get-token", "work").stdout
        home.oauthctl("secret", "set", "work", "refresh_token", "--replace", stdin="of-somebody-else")
        agent.restart()
        after = home.oauthctl("get-token", "work").stdout
        assert after != before
        assert provider.form("refresh_token")["refresh_token"] == "of-somebody-else"
