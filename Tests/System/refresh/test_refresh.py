"""A token is replaced before anybody sees it dead, and one refresh serves every caller."""

import time

import pytest

from support.dev_server import consenting
from support.login import get_token, live_tokens, log_in, wait_until

CALLERS = 50


@pytest.fixture
def server(home):
    with consenting(home) as started:
        yield started


@pytest.mark.parametrize("lifetime", [2, 5])
def test_a_caller_never_sees_a_dead_token(home, agent, world, lifetime):
    server = world(access_ttl=lifetime)
    log_in(home, server)
    mark, began = server.mark(), time.monotonic()
    generations = len(set(live_tokens(home, server, lifetime / 4, 5)))
    # Refreshed at about three quarters of its life: not at every call. What is left of the first, and the last, do not
    # count.
    assert time.monotonic() - began > (generations - 2) * lifetime / 2
    refreshes = server.refreshes(mark)
    assert {entry["status"] for entry in refreshes} == {200}
    assert generations - 1 <= len(refreshes) <= generations + 1


def test_the_answer_tells_when_the_token_ends(home, agent, dot):
    log_in(home, dot)
    with agent.connect() as wire:
        answer = wire.call("token.get", account="work")
    assert answer["access_token"] == get_token(home) and answer["token_type"].lower() == "bearer"
    assert 0 < answer["expires_in_s"] <= 300 and abs(answer["expires_at"] - time.time() - answer["expires_in_s"]) < 60


def fifty_callers(home):
    """The tokens that `CALLERS` processes started at once print; every one must succeed."""
    started = [home.start(home.programs / "oauthctl", "get-token", "work") for _ in range(CALLERS)]
    ended = [(process, *process.communicate(timeout=60)) for process in started]
    assert [(process.returncode, stderr) for process, _, stderr in ended if process.returncode != 0] == []
    return [stdout.strip() for _, stdout, _ in ended]


@pytest.mark.parametrize("agent_runs", [True, False], ids=["agent runs", "agent starts on demand"])
def test_fifty_callers_on_an_expired_token_cost_one_refresh(home, server, agent_runs):
    server.script(access_token_life_s=2)
    home.agent.start()
    home.oauthctl("login", "work", server.issuer, "--client-id", "dev")
    expired = get_token(home)
    home.agent.stop()
    wait_until(lambda: server.say_hello(expired) == 401, 20, "the token expires")
    # The new token is not due again while fifty processes start.
    server.script(access_token_life_s=3600)
    before = len(server.refreshes())
    if agent_runs:
        home.agent.start()
    answers = fifty_callers(home)
    assert len(answers) == CALLERS and len(set(answers)) == 1 and answers[0] != expired
    assert [entry["status"] for entry in server.refreshes()[before:]] == [200]
    assert server.say_hello(answers[0]) == 200


def test_callers_of_a_valid_token_cost_nothing(home, agent, dot):
    log_in(home, dot)
    mark = dot.mark()
    assert len(set(fifty_callers(home))) == 1
    assert dot.log_entries(mark) == []


def test_a_server_that_does_not_rotate_keeps_its_refresh_token(home, agent, world):
    server = world(access_ttl=2, rotate=False)
    log_in(home, server)
    mark = server.mark()
    wait_until(lambda: get_token(home) and len(server.refreshes(mark)) >= 3, 20, "three refreshes")
    assert len({entry["refresh_token"] for entry in server.refreshes(mark)}) == 1


def test_a_server_that_is_down_costs_no_login(home, agent, world):
    server = world(access_ttl=2)
    log_in(home, server)
    with server.down():
        failed = wait_until(
            lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 20, "a failure")
        assert (failed.status, failed.stdout) == (6, "")
    wait_until(lambda: home.oauthctl("get-token", "work", check=False).status == 0, 60, "a token again")
    assert server.say_hello(get_token(home)) == 200
