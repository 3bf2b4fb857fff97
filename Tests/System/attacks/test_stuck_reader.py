"""A caller who does not read keeps answers in the agent: nobody else gets what they say."""

import json
import time

import pytest

from login.provider import Provider, use_silent_browser


class SameToken(Provider):
    """It gives one long token, whoever logs in, and says that it lives `life` seconds."""

    life = 3_600

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/token":
            answer |= {"access_token": "T" * 6_000, "expires_in": self.life}
        return status, headers, answer


@pytest.fixture
def server(home, agent):
    """One who is stuck on the answers to requests that the loop alone does not answer."""
    with SameToken() as server:
        use_silent_browser(home)
        server.define(home, 'scope = "read"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        with home.agent.connect() as stuck:
            # More than a socket takes, and less than the agent keeps for one who does not read.
            for _ in range(80):
                stuck.request("token.get", account="work", scope=["read"])
            # Nothing tells when the last of them was answered.
            time.sleep(1)
            yield server


def told(home):
    """The same token by the two ways that there are."""
    return [json.loads(home.oauthctl("get-token", "work", *more, "--format", "json").stdout)
            for more in ([], ["--scope", "read"])]


def test_a_token_that_is_given_again_has_the_life_of_then(home, server):
    for life in (40, 3_600):
        server.life = life
        home.oauthctl("login", "work")
        for answer in told(home):
            assert life - 20 < answer["expires_in_s"] <= life


def test_an_account_that_is_made_anew_is_another(home, server):
    before, _ = told(home)
    home.oauthctl("account", "forget", "work", "--yes")
    server.define(home, 'scope = "read"', 'keep = "on-demand"', 'git_username = "other"')
    home.oauthctl("login", "work")
    now, slowly = told(home)
    assert before["account_id"] != now["account_id"] == slowly["account_id"]
    assert now["git_username"] == slowly["git_username"] == "other"
