"""A 401 costs one refresh, whoever saw it and however often: `rejected` in `token.get`, `token.reject`."""

import select
import threading

import pytest

from support.accounts import define
from support.login import get_token, log_in, wait_until
from support.wire import WireError
from world.guard import digest

CALLERS = 20


def fingerprint(token):
    return "sha256:" + digest(token)[:32]


def in_threads(count, action):
    """Run `action` in `count` threads at once; what they returned, or the exception they ended with."""
    results, barrier = [None] * count, threading.Barrier(count)

    def run(number):
        barrier.wait()
        try:
            results[number] = action()
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("by", ["token", "fingerprint"])
def test_a_rejected_token_costs_one_refresh(home, agent, dot, by):
    log_in(home, dot)
    token = get_token(home)
    dot.revoke(token)
    assert dot.say_hello(token) == 401
    mark = dot.mark()
    rejected = {by: token if by == "token" else fingerprint(token)}
    with agent.connect() as wire:
        answer = wire.call("token.get", account="work", rejected=rejected)
    assert answer["access_token"] != token and answer["fingerprint"] == fingerprint(answer["access_token"])
    assert dot.say_hello(answer["access_token"]) == 200
    assert [entry["status"] for entry in dot.refreshes(mark)] == [200]
    assert get_token(home) == answer["access_token"]


def test_twenty_who_reject_the_same_token_cost_one_refresh(home, agent, dot):
    log_in(home, dot)
    token = get_token(home)
    mark = dot.mark()

    def reject():
        with agent.connect() as wire:
            return wire.call("token.get", account="work", rejected={"token": token})["access_token"]

    answers = in_threads(CALLERS, reject)
    assert len(set(answers)) == 1 and answers[0] != token, answers
    assert len(dot.refreshes(mark)) == 1


def test_those_who_come_during_the_refresh_join_it(home, agent, dot):
    log_in(home, dot)
    token = get_token(home)
    mark = dot.mark()
    with agent.connect() as first, agent.connect() as second, dot.token_answers_held() as release:
        first.request("token.get", account="work", rejected={"token": token})
        wait_until(lambda: dot.refreshes(mark), 20, "the refresh")
        second.request("token.get", account="work", rejected={"token": token})
        second.send({"jsonrpc": "2.0", "id": 99, "method": "agent.hello"})
        # Answered while the refresh is still under way: nobody else waits for it.
        assert b'"id":99' in second.read_line()
        release()
        answers = [wire.read_line() for wire in (first, second)]
    assert all(fingerprint(get_token(home)).encode() in answer for answer in answers), answers
    assert len(dot.refreshes(mark)) == 1


def test_who_rejects_an_old_token_gets_the_newer_one_without_a_refresh(home, agent, dot):
    log_in(home, dot)
    old = get_token(home)
    with agent.connect() as wire:
        new = wire.call("token.get", account="work", rejected={"token": old})["access_token"]
        mark = dot.mark()
        again = wire.call("token.get", account="work", rejected={"token": old})
    assert again["access_token"] == new != old
    assert dot.log_entries(mark) == []


def test_an_old_token_rejected_while_the_server_is_down_still_gets_the_newer_one(home, agent, dot):
    log_in(home, dot)
    old = get_token(home)
    with agent.connect() as wire:
        new = wire.call("token.get", account="work", rejected={"token": old})["access_token"]
        with dot.down():
            assert wire.call("token.get", account="work", rejected={"token": old})["access_token"] == new


def test_reject_marks_and_the_next_caller_refreshes(home, agent, dot):
    log_in(home, dot)
    token = get_token(home)
    mark = dot.mark()
    with agent.connect() as wire:
        assert wire.call("token.reject", account="work", rejected={"token": token}) == {"result": "marked"}
        assert dot.log_entries(mark) == [], "a rejection alone sends nothing"
        new = wire.call("token.get", account="work")["access_token"]
        assert new != token and len(dot.refreshes(mark)) == 1
        assert wire.call("token.reject", account="work", rejected={"token": token}) == {"result": "superseded"}
        assert wire.call("token.get", account="work")["access_token"] == new
    assert len(dot.refreshes(mark)) == 1


def test_reject_finds_the_account_by_its_url(home, agent, dot):
    log_in(home, dot)
    with agent.connect() as wire:
        answer = wire.call("token.reject", url=dot.resource, rejected={"token": get_token(home)})
    assert answer == {"result": "marked"}


def test_a_token_that_never_was_ours_changes_nothing(home, agent, dot):
    log_in(home, dot)
    token, mark = get_token(home), dot.mark()
    with agent.connect() as wire:
        assert wire.call("token.reject", account="work", rejected={"token": "never-seen"})["result"] == "superseded"
    assert get_token(home) == token and dot.log_entries(mark) == []


def test_reject_without_a_login_is_unknown(home, agent, dot):
    define(home, "work", f'issuer = "{dot.issuer}"', 'client_id = "native-app"')
    with agent.connect() as wire:
        assert wire.call("token.reject", account="work", rejected={"token": "never-seen"}) == {"result": "unknown"}


@pytest.mark.parametrize("rejected", [
    {}, {"token": ""}, {"token": "a", "fingerprint": "sha256:" + "0" * 32}, {"fingerprint": "sha256:12"},
    {"fingerprint": "md5:" + "0" * 32}])
def test_a_rejection_that_names_no_token_is_refused(home, agent, dot, rejected):
    log_in(home, dot)
    mark = dot.mark()
    with agent.connect() as wire:
        for method in ("token.get", "token.reject"):
            with pytest.raises(WireError) as refused:
                wire.call(method, account="work", rejected=rejected)
            assert refused.value.failure == "bad_request"
    assert dot.log_entries(mark) == []


def test_get_token_reads_the_rejected_token_from_standard_input(home, agent, dot):
    log_in(home, dot)
    token, mark = get_token(home), dot.mark()
    # Twice: the second one is about a token that was replaced already.
    answers = [home.oauthctl("get-token", "work", "--rejected-stdin", stdin=token + "\n") for _ in range(2)]
    assert answers[0].stdout == answers[1].stdout and answers[0].lines[0] != token
    assert len(dot.refreshes(mark)) == 1


def test_get_token_takes_the_fingerprint_of_the_rejected_token(home, agent, dot):
    log_in(home, dot)
    token, mark = get_token(home), dot.mark()
    answer = home.oauthctl("get-token", "work", "--rejected-fingerprint", fingerprint(token))
    assert answer.lines[0] != token and len(dot.refreshes(mark)) == 1


def test_an_api_that_always_says_401_costs_a_bounded_number_of_refreshes(home, agent, dot):
    """For want of rights a new token is refused like the old one: refreshing for ever would help nobody."""
    log_in(home, dot)
    mark, token, statuses = dot.mark(), get_token(home), []
    for _ in range(12):
        assert dot.http("GET", dot.api("never"), headers={"Authorization": f"Bearer {token}"}).status_code == 401
        answer = home.oauthctl("get-token", "work", "--rejected-stdin", stdin=token + "\n", check=False)
        statuses.append(answer.status)
        if answer.status == 0:
            token = answer.lines[0]
    # A burst of three, then one in 30 s.
    assert len(dot.refreshes(mark)) == 3 and statuses == [0, 0, 0] + [6] * 9
    assert answer.stdout == "" and "too many forced refreshes" in answer.stderr and "rights" in answer.stderr
    with agent.connect() as wire, pytest.raises(WireError) as refused:
        wire.call("token.get", account="work", rejected={"token": token})
    assert refused.value.failure == "rate_limited" and 0 < refused.value.data["retry_after_ms"] <= 30_000


def test_a_blind_refresh_is_bounded_too(home, agent, dot):
    log_in(home, dot)
    mark = dot.mark()
    statuses = [home.oauthctl("get-token", "work", "--force", check=False).status for _ in range(5)]
    assert statuses == [0, 0, 0, 6, 6] and len(dot.refreshes(mark)) == 3


def test_after_the_limit_only_who_rejected_the_token_is_refused(home, agent, dot):
    """One API that answers 401 takes the token from nobody else."""
    log_in(home, dot)
    for _ in range(3):
        home.oauthctl("get-token", "work", "--force")
    token, mark = get_token(home), dot.mark()
    assert home.oauthctl("get-token", "work", "--rejected-stdin", stdin=token, check=False).status == 6
    assert home.oauthctl("get-token", "work", "--force", check=False).status == 6
    assert [get_token(home) for _ in range(10)] == [token] * 10
    assert dot.refreshes(mark) == []


def test_a_place_that_refuses_new_tokens_too_forces_no_more_refreshes(home, agent, dot):
    """It is remembered for host and path: another path's 401 leads to a new token."""
    log_in(home, dot)
    mark, here, there = dot.mark(), dot.api("never"), dot.api("hello")
    with agent.connect() as wire:
        first = wire.call("token.get", url=here)["access_token"]
        between = wire.call("token.get", url=here, rejected={"token": first})["access_token"]
        # One new token may have been revoked like the one before it.
        second = wire.call("token.get", url=here, rejected={"token": between})["access_token"]
        assert len({first, between, second}) == 3
        for _ in range(3):
            with pytest.raises(WireError) as refused:
                wire.call("token.get", url=here, rejected={"token": second})
            assert refused.value.failure == "rate_limited"
            assert wire.call("token.reject", url=here, rejected={"token": second}) == {"result": "kept"}
        assert wire.call("token.get", url=here)["access_token"] == second and len(dot.refreshes(mark)) == 2
        assert wire.call("token.get", url=there, rejected={"token": second})["access_token"] != second
    assert len(dot.refreshes(mark)) == 3


def test_the_limit_of_one_account_is_not_the_limit_of_another(home, agent, dot):
    log_in(home, dot, "work")
    log_in(home, dot, "other")
    for _ in range(4):
        limited = home.oauthctl("get-token", "work", "--force", check=False)
    assert limited.status == 6
    assert home.oauthctl("get-token", "other", "--force").status == 0


def test_other_accounts_are_served_while_one_refresh_hangs(home, agent, dot, world):
    """R10: one account's slow server never delays another account."""
    slow = world(access_ttl=299)
    log_in(home, dot, "work")
    log_in(home, slow, "slow")
    token = get_token(home, "slow")
    mark = slow.mark()
    with agent.connect() as wire, slow.token_answers_held() as release:
        wire.request("token.get", account="slow", rejected={"token": token})
        wait_until(lambda: slow.refreshes(mark), 20, "the refresh")
        home.oauthctl("get-token", "work", "--force")
        assert select.select([wire.socket], [], [], 0)[0] == [], "the slow server has not answered yet"
        release()
        assert b"access_token" in wire.read_line()
