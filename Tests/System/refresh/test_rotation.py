"""A rotated refresh token is never lost: kill -9 costs no login but in the one window that is stated."""

import subprocess

import pytest

from support.login import get_token, log_in, wait_until

ROUNDS = 5


def next_token(home, token):
    """Ask until there is another token than this one."""
    return wait_until(lambda: (new := get_token(home)) != token and new, 20, "a new token")


def test_kill_right_after_a_rotation_keeps_the_login(home, agent, world):
    """The server allows no second use of a refresh token: an old one would end the grant."""
    server = world(access_ttl=2)
    log_in(home, server)
    mark, token = server.mark(), get_token(home)
    for _ in range(ROUNDS):
        token = next_token(home, token)
        agent.kill()
        agent.start()
    token = next_token(home, token)
    assert server.say_hello(token) == 200
    refreshes = server.refreshes(mark)
    assert len(refreshes) >= ROUNDS and {entry["status"] for entry in refreshes} == {200}
    used = [entry["refresh_token"] for entry in refreshes]
    assert len(set(used)) == len(used), "a refresh token was sent twice"


def test_a_graceful_stop_keeps_the_login(home, agent, world):
    server = world(access_ttl=2)
    log_in(home, server)
    token = next_token(home, get_token(home))
    agent.restart()
    assert server.say_hello(next_token(home, token)) == 200


def kill_while_the_answer_is_on_its_way(home, server):
    """kill -9 when the server has rotated and the agent has not heard of it: the ambiguous window."""
    log_in(home, server)
    mark = server.mark()
    with server.token_answers_held():
        wait_until(lambda: server.refreshes(mark), 20, "a refresh")
        home.agent.kill()
    return mark


def test_kill_in_the_ambiguous_window_is_mended_where_the_server_allows_a_retry(home, agent, world):
    server = world(access_ttl=4, refresh_grace=60)
    mark = kill_while_the_answer_is_on_its_way(home, server)
    agent.start()
    wait_until(lambda: len(server.refreshes(mark)) >= 2 and get_token(home), 30, "the retry")
    first, second = server.refreshes(mark)[:2]
    assert first["refresh_token"] == second["refresh_token"] and second["status"] == 200
    assert server.say_hello(get_token(home)) == 200


def test_kill_in_the_ambiguous_window_asks_for_a_login_where_it_does_not(home, agent, world):
    server = world(access_ttl=4)
    mark = kill_while_the_answer_is_on_its_way(home, server)
    agent.start()
    result = wait_until(
        lambda: (it := home.oauthctl("get-token", "work", check=False)).status == 4 and it, 30, "login needed")
    assert result.stdout == "" and "oauthctl login work" in result.stderr
    # One retry, no more: a refused refresh token is not sent again.
    assert [entry["status"] for entry in server.refreshes(mark)] == [200, 400]
    log_in(home, server)
    assert server.say_hello(get_token(home)) == 200


def test_after_two_lost_answers_no_third_sending_follows_at_once(home, agent, world):
    """What is written down before each sending outlives kill -9. This server would go on answering."""
    server = world(access_ttl=4, refresh_grace=60)
    log_in(home, server)
    mark = server.mark()
    with server.token_answers_held():
        for count in (1, 2):
            wait_until(lambda: len(server.refreshes(mark)) == count, 20, f"sending {count}")
            agent.kill()
            agent.start()
    result = wait_until(
        lambda: (it := home.oauthctl("get-token", "work", check=False)).status == 4 and it, 30, "login needed")
    assert "answer to a refresh was lost" in result.stderr and len(server.refreshes(mark)) == 2
    log_in(home, server)
    assert server.say_hello(get_token(home)) == 200


@pytest.mark.parametrize("grace", [0, 30])
def test_a_stop_waits_for_the_refresh_in_flight(home, agent, world, grace):
    server = world(access_ttl=4, refresh_grace=grace)
    log_in(home, server)
    mark = server.mark()
    with server.token_answers_held():
        wait_until(lambda: server.refreshes(mark), 20, "a refresh")
        agent.process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            agent.process.wait(1)
    agent.process.wait(60)
    agent.start()
    assert server.say_hello(get_token(home)) == 200
    used = [entry["refresh_token"] for entry in server.refreshes(mark)]
    assert len(set(used)) == len(used), "a refresh token was sent twice"


def test_a_second_agent_on_the_same_vault_never_refreshes(home, agent, world):
    """R12: the second one listens, says why it cannot serve, and sends nothing."""
    server = world(access_ttl=2)
    log_in(home, server)
    other = {"OAUTHCTL_SOCKET": str(home.runtime / "second.sock")}
    second = home.start(home.programs / "oauthd", environment=other)
    try:
        result = wait_until(
            lambda: (it := home.oauthctl("get-token", "work", check=False, environment=other)).status != 7 and it,
            20, "an answer of the second agent")
        assert result.status != 0 and result.stdout == ""
        mark, token = server.mark(), get_token(home)
        next_token(home, token)
        used = [entry["refresh_token"] for entry in server.refreshes(mark)]
        assert len(set(used)) == len(used) and {entry["status"] for entry in server.refreshes(mark)} == {200}
    finally:
        second.terminate()
        second.communicate(timeout=60)
