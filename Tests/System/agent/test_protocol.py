"""docs/protocol.md: a caller written from it alone works. That its tables say what the source says is a unit test."""

import re

import pytest

from agent import caller
from conftest import ROOT
from support.dev_server import DevServer

PAGE = (ROOT / "docs/protocol.md").read_text()


@pytest.fixture
def account(home, agent, monkeypatch):
    """The account `work`, logged in; `caller` finds the agent by the environment alone."""
    server = DevServer(home, "--access-token-life", "3600")
    home.use_browser("alice", "demo")
    home.oauthctl("login", "work", server.issuer, "--client-id", "dev", "--scope", "read")
    monkeypatch.delenv("OAUTHCTL_SOCKET", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home.runtime))
    yield server
    server.stop()


def test_a_caller_in_fifty_lines(account):
    assert len((ROOT / "Tests/System/agent/caller.py").read_text().splitlines()) <= 58
    assert caller.ask("agent.hello")["protocol"] == 1
    status = caller.ask("agent.status")
    assert [(entry["account"], entry["state"]) for entry in status["accounts"]] == [("work", "ok")]
    first = caller.ask("token.get", account="work", min_validity_s=60)
    assert caller.ask("token.get", url=f"{account.issuer}/api/hello")["access_token"] == first["access_token"]
    assert account.refreshes() == []

    # The token got a 401: one refresh, whoever asks, however it is named.
    second = caller.ask("token.get", account="work", rejected={"token": first["access_token"]})
    again = caller.ask("token.get", account="work", rejected={"fingerprint": first["fingerprint"]})
    assert first["access_token"] != second["access_token"] == again["access_token"]
    assert len(account.refreshes()) == 1

    assert caller.ask("token.reject", account="work", rejected={"token": first["access_token"]}) == {
        "result": "superseded"}
    assert caller.ask("token.reject", account="work", rejected={"token": second["access_token"]}) == {
        "result": "marked"}
    assert caller.ask("token.get", account="work")["access_token"] != second["access_token"]
    assert len(account.refreshes()) == 2


@pytest.mark.parametrize("method, parameters, failure", [
    ("token.get", {"account": "nobody"}, "account_unknown"),
    ("token.get", {"url": "https://example.com/"}, "account_unknown"),
    ("token.get", {"account": "work", "url": "https://example.com/"}, "not_permitted"),
    ("token.get", {"account": "work", "min_validity_s": 86400}, "validity_unattainable"),
    ("token.get", {"acount": "work"}, "unsupported_parameter"),
    ("token.get", {"account": "work", "rejected": {}}, "bad_request"),
    ("token.fetch", {}, "unsupported_method"),
])
def test_failures_are_those_of_the_table(account, method, parameters, failure):
    with pytest.raises(caller.Refused) as refused:
        caller.ask(method, **parameters)
    code, retryable, person, _ = failures_of_the_page()[failure]
    assert (refused.value.failure, refused.value.code) == (failure, code)
    assert (refused.value.data["retryable"], refused.value.data["interaction_required"]) == (retryable, person)


def failures_of_the_page():
    rows = re.findall(r"(?m)^\| `(\w+)` \| (-?\d+) \| (yes|no) \| (yes|no) \| (\d+) \|", PAGE)
    return {name: (int(code), retry == "yes", person == "yes", int(exit)) for name, code, retry, person, exit in rows}


def test_the_capabilities_are_those_of_the_page(account):
    words = re.search(r"(?s)Words so far: (.*?)\.", PAGE).group(1)
    assert caller.ask("agent.hello")["capabilities"] == re.findall(r"`(\w+)`", words)
