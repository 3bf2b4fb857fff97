"""docs/protocol.md: a caller written from it alone works, and its tables say what the source says."""

import re

import pytest

from agent import caller
from conftest import ROOT
from support.dev_server import DevServer

PAGE = (ROOT / "docs/protocol.md").read_text()
WIRE = ROOT / "Sources/AgentWire"


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
    assert len((ROOT / "Tests/System/agent/caller.py").read_text().splitlines()) <= 56
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


# --- The page against the source ------------------------------------------------------------------------------------

def failures_of_the_page():
    rows = re.findall(r"(?m)^\| `(\w+)` \| (-?\d+) \| (yes|no) \| (yes|no) \| (\d+) \|", PAGE)
    return {name: (int(code), retry == "yes", person == "yes", int(exit)) for name, code, retry, person, exit in rows}


def enum_cases(source):
    return {case.strip("`"): name for case, name in re.findall(r'(?m)^  case (`?\w+`?) = "([^"]+)"', source)}


def test_every_method_has_a_chapter():
    methods = enum_cases((WIRE / "Method.swift").read_text()).values()
    assert set(re.findall(r"(?m)^### `([a-z._]+)`$", PAGE)) == set(methods)


def structures():
    """name -> (text, wire keys in the source's order) of every structure of the messages."""
    text = "\n".join(path.read_text() for path in sorted(WIRE.glob("Messages/*.swift")))
    found = {}
    for name, body in re.findall(r"(?ms)^package struct (\w+).*?\{\n(.*?)^\}", text):
        keys = re.search(
            r"(?m)^  package enum CodingKeys: (?:String, )?CodingKey(?:, CaseIterable)? \{(.*?)\}", body, re.S)
        if keys:
            names = [
                name for line in re.findall(r"case ([^\n}]+)", keys.group(1))
                for name in re.findall(r'"(\w+)"', line) or re.findall(r"\w+", line)]
        else:
            names = re.findall(r"(?m)^  package var `?(\w+)`?:", body)
        found[name] = (body, names)
    return found


def cells(section, title):
    table = re.search(rf"(?m)^\| {title} \| value \|\n\|---\|---\|\n((?:\|.*\n)+)", section)
    return re.findall(r"(?m)^\| `(\w+)` \|", table.group(1)) if table else []


def test_parameters_and_results_are_the_source():
    cases = enum_cases((WIRE / "Method.swift").read_text())
    all_structures = structures()
    sections = dict(re.findall(r"(?ms)^### `([a-z._]+)`\n(.*?)(?=^##)", PAGE))
    seen = set()
    for body, parameters in all_structures.values():
        case = re.search(r"static let method = Method\.(\w+)", body)
        if not case:
            continue
        method = cases[case.group(1)]
        seen.add(method)
        assert sorted(cells(sections[method], "parameter")) == sorted(parameters), method
        answer = re.search(r"typealias Answer = (\w+)", body).group(1)
        results = all_structures[answer][1] if answer in all_structures else []
        shared = re.search(r"Answers as `([a-z._]+)`", sections[method])
        told = cells(sections[shared.group(1) if shared else method], "result")
        assert sorted(told) == sorted(results), method
        required = set(re.findall(r"(?m)^\| `(\w+)` \| required", sections[method]))
        optional = re.findall(r"(?m)^  package var (\w+): \S+\?$", body)
        assert len(required) == len(parameters) - len(optional), f"{method}: which parameters are required"
    assert seen == set(cases.values())


def test_accounts_and_problems_are_the_source():
    told = re.search(r"A problem: (.*?)\. An account: (.*?)\. Its `state` is one of (.*?)\.\n", PAGE, re.S)
    problem, account, states = (re.findall(r"`(\w+)`", part) for part in told.groups())
    known = structures()
    assert problem == known["ConfigurationProblem"][1]
    assert sorted(account) == sorted(known["AccountSummary"][1])
    body = re.search(r"enum State: .*?\{(.*?)\n  \}", known["AccountSummary"][0], re.S).group(1)
    source = [
        name for line in re.findall(r"(?m)^    case (.+)$", body)
        for name in re.findall(r'"(\w+)"', line) or re.findall(r"\w+", line)]
    assert states == source


def test_events_and_capabilities_are_the_source():
    source = (WIRE / "Messages/Events.swift").read_text()
    names = enum_cases(source.split("enum Name:")[1].replace("    case ", "  case ").split("extension")[0])
    encoded = source.split("func encode(to encoder: any Encoder) throws {\n    var members")[1]
    members = {}
    for cases, body in re.findall(r"case ((?:\.\w+\(.*?\),? ?)+):\n(.*?)(?=\n    case|\n    \})", encoded, re.S):
        for case in re.findall(r"\.(\w+)\(", cases):
            keys = re.findall(r"forKey: \.(\w+)", body)
            members[names[case]] = [re.sub("[A-Z]", lambda capital: "_" + capital[0].lower(), key) for key in keys]
    table = re.findall(r"(?m)^\| `(events\.\w+)` \| (`.*?) \|", PAGE.split("## Events")[1])
    assert len(members) == len(names) and dict(
        (name, re.findall(r"`(\w+)`", told)) for name, told in table) == members
    router = (ROOT / "Sources/AgentCore/Routing/AgentRouter.swift").read_text()
    capabilities = re.search(r"static let capabilities = \[(.*?)\]", router).group(1)
    assert re.findall(r'"(\w+)"', capabilities) == re.findall(
        r"`(\w+)`", re.search(r"Words so far: (.*?)\.", PAGE).group(1))


def test_limits_are_the_source():
    source = (WIRE / "Limits.swift").read_text()
    rows = re.findall(r"(?m)^\| (.*?) \| (.*?) \|$", PAGE.split("## Limits")[1].split("## Methods")[0])[1:]
    told = [int(number) for _, value in rows for number in re.findall(r"\d+", value)]
    values = {}
    for name, value in re.findall(r"static let (\w+) = ([\d_< ]+)", source):
        left, _, shift = value.replace("_", "").partition("<<")
        values[name] = int(left) << int(shift or 0)
    assert told == [values[name] for name in (
        "requestBytes", "answerBytes", "nesting", "lineSeconds", "idleSeconds", "requestsInFlight", "connections",
        "ownBytes", "sharedBytes", "tokenRequests", "listings", "otherRequests", "subscribers", "eventsKept",
        "browserLogins", "identifierBytes", "tokenBytes")] + [
            1, values["timeoutMilliseconds"], values["defaultTimeoutMilliseconds"], values["pageSize"]]
