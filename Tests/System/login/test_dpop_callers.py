"""Who gets a token that is bound to a key (DPoP), and how a resource judges its proofs."""

import json

import pytest

from cli.git_steps import settings
from login.dpop_steps import curl, home, log_in, provider  # noqa: F401
from login.possession import Possession, judge
from login.provider import Provider
from support.accounts import define
from support.wire import Wire, WireError


# The resource

def test_curl_proves_the_key_for_its_method_and_url(home, agent, provider):
    log_in(home, provider)
    assert json.loads(curl(home, provider, path="/api/a%7Eb?query=1").stdout) == {"hello": "access-1"}
    for words, method in ((["-X", "DELETE"], "DELETE"), (["-d", "x=1"], "POST"), (["-I"], "HEAD"),
                          (["-G", "-d", "x=1"], "GET"), (["--json", "{}"], "POST")):
        curl(home, provider, *words)
        assert provider.calls[-1][0] == method
    assert {result for _, result in provider.results()} == {"ok"}


def test_curl_gives_the_resource_its_nonce_and_remembers_it(home, agent, provider):
    log_in(home, provider)
    provider.api_wants = "resource-1"
    assert json.loads(curl(home, provider).stdout) == {"hello": "access-1"}
    assert json.loads(curl(home, provider).stdout) == {"hello": "access-1"}
    assert [result for _, result in provider.results()] == ["use_dpop_nonce", "ok", "ok"]
    # The token was right: nothing was refreshed.
    assert provider.kinds() == ["authorize", "authorization_code"]


def test_curl_tries_a_nonce_that_never_fits_once_and_passes_the_401_on(home, agent, provider):
    log_in(home, provider)
    provider.api_wants = "one"
    real = provider.proved
    provider.proved = lambda method, url, fields, nonce=None, token=None: (
        ("nonce", real(method, url, fields, None, token)[1]) if token else real(method, url, fields, nonce))
    told = curl(home, provider)
    assert json.loads(told.stdout) == {"no": "use_dpop_nonce"} and len(provider.calls) == 2


def test_curl_gets_a_new_token_after_a_401(home, agent, provider):
    log_in(home, provider)
    provider.refused_tokens = {"access-1"}
    assert json.loads(curl(home, provider).stdout) == {"hello": "access-2"}
    assert [result for _, result in provider.results()] == ["invalid_token", "ok"]


@pytest.mark.parametrize("words", [["-L"], ["--request-target", "/x"], ["--path-as-is"]])
def test_curl_refuses_what_makes_another_request_of_it(home, agent, provider, words):
    log_in(home, provider)
    refused = curl(home, provider, *words, check=False)
    assert refused.status == 125 and "proof of possession" in refused.stderr and provider.calls == []


def test_curl_refuses_several_urls_and_any_host(home, agent, provider):
    log_in(home, provider)
    refused = curl(home, provider, f"{provider.issuer}/api/other", check=False)
    assert refused.status == 125 and "several URLs" in refused.stderr
    refused = home.oauthctl("curl", "--any-host", "work", f"{provider.issuer}/api", check=False)
    assert refused.status == 125 and "DPoP" in refused.stderr and provider.calls == []


# Who cannot prove

def test_a_caller_that_sends_no_proofs_gets_no_token_and_is_told_why(home, agent, provider):
    log_in(home, provider)
    for words in ([], ["--json"], ["--format", "header"], ["--format", "headers"], ["--url", provider.issuer]):
        refused = home.oauthctl("get-token", "work", *words, check=False)
        assert refused.status == 8 and "DPoP" in refused.stderr and "oauthctl curl work" in refused.stderr, words
        assert "access-1" not in refused.stdout + refused.stderr
    with Wire(home.socket) as wire, pytest.raises(WireError) as refused:
        wire.call("token.get", account="work")
    assert refused.value.failure == "proof_required" and refused.value.code == 22
    with Wire(home.socket) as wire:
        assert "dpop" in wire.call("agent.hello")["capabilities"]


def test_git_is_told_in_one_line_and_asks_nobody(home, agent, provider):
    log_in(home, provider)
    told = home.oauthctl(
        "git-credential", "get", stdin=f"protocol=http\nhost=127.0.0.1:{provider.port}\n\n", check=False)
    assert told.stdout == "quit=1\n" and "DPoP" in told.stderr and len(told.stderr.splitlines()) == 1, told


def test_git_is_set_up_for_no_account_whose_tokens_it_cannot_prove(home, agent, provider):
    log_in(home, provider)
    for words in ([], ["--account", "work"]):
        refused = home.oauthctl("setup", "git", "--yes", *words, check=False)
        assert refused.status == 3 and "work: its tokens are bound to a key (DPoP)" in refused.stderr, refused
    with Provider() as other:
        define(home, "other", f'issuer = "{other.issuer}"', 'client_id = "mine"')
        told = home.oauthctl("setup", "git", "--yes")
        assert "left out: work: its tokens are bound to a key" in told.stderr
        assert {key for key, _ in settings(home) if key.endswith("helper")} == {f"credential.{other.issuer}.helper"}
    assert "bound to a key (DPoP)" in home.oauthctl("account", "show", "work").stdout


def test_headers_are_printed_with_a_proof_for_one_request(home, agent, provider):
    log_in(home, provider)
    url = provider.issuer + "/api/x"
    printed = json.loads(home.oauthctl(
        "get-token", "work", "--format", "headers", "--url", url + "?q", "--method", "PATCH", "--nonce", "n-1").stdout)
    assert list(printed) == ["Authorization", "DPoP"] and printed["Authorization"] == "DPoP access-1"
    assert judge(printed["DPoP"], "PATCH", url, set(), "n-1", "access-1")[0] is None
    lines = home.oauthctl("get-token", "work", "--format", "header", "--url", url).lines
    assert lines[0] == "Authorization: DPoP access-1" and lines[1].startswith("DPoP: ")
    # The nonce is that of the server, and used until it gives another.
    assert judge(lines[1].removeprefix("DPoP: "), "GET", url, set(), "n-1", "access-1")[0] is None
    assert home.oauthctl("get-token", "work", "--method", "GET", check=False).status == 64


def test_a_proof_is_made_for_the_account_s_hosts_alone(home, agent, provider):
    log_in(home, provider)
    for url, failure in (("https://elsewhere.example/", "not_permitted"), ("https://127.0.0.1/", "not_permitted"),
                         ("nothing", "bad_request"), (provider.issuer + "/a/../b", "bad_request"),
                         ("http://elsewhere.example/", "bad_request")):
        with Wire(home.socket) as wire, pytest.raises(WireError) as refused:
            wire.call("dpop.proof", account="work", url=url, method="GET")
        assert refused.value.failure == failure, url
    for more in ({"method": "GE T"}, {"method": ""}, {"method": "G" * 33}, {"method": "GET", "nonce": "a b"},
                 {"method": "GET", "nonce": 'a"b'}, {"method": "GET", "nonce": "n" * 1025}):
        with Wire(home.socket) as wire, pytest.raises(WireError) as refused:
            wire.call("dpop.proof", account="work", url=provider.issuer, **more)
        assert refused.value.failure == "bad_request", more


def test_an_account_without_a_key_has_no_proofs(home, agent, provider):
    home.oauthctl("vault", "create", check=False)
    provider.kind = "Bearer"
    provider.proved = lambda *_: (None, None)
    super(Possession, provider).define(home, 'scope = "read"')
    home.oauthctl("login", "work")
    with Wire(home.socket) as wire, pytest.raises(WireError) as refused:
        wire.call("dpop.proof", account="work", url=provider.issuer, method="GET")
    assert refused.value.failure == "bad_request"
    assert home.oauthctl("get-token", "work").stdout == "access-1\n"
