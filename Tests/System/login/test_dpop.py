"""Tokens that are bound to a key (DPoP, RFC 9449), against a server and a resource that judge every proof."""

import json

import pytest

from login.possession import Possession, judge
from login.provider import use_silent_browser
from support.accounts import account_file, edit
from support.wire import Wire, WireError


@pytest.fixture
def provider():
    with Possession() as provider:
        yield provider


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def log_in(home, provider, *options, **how):
    return home.oauthctl(
        "login", "work", provider.issuer, "--client-id", "mine", "--scope", "read", "--dpop", *options, **how)


def refresh(home, provider):
    """One refresh, by naming the current token as rejected."""
    with Wire(home.socket) as wire:
        # Another place each time: one that refuses new tokens like old ones causes no refresh.
        url = f"{provider.issuer}/api/{len(provider.seen)}"
        told = wire.call("dpop.proof", account="work", url=url, method="GET")
        return wire.call(
            "dpop.proof", account="work", url=url, method="GET", rejected={"fingerprint": told["fingerprint"]})


def curl(home, provider, *words, check=True, path="/api", **how):
    return home.oauthctl("curl", "work", "-sS", *words, f"{provider.issuer}{path}", check=check, **how)


# Logins and refreshes

def test_a_login_proves_its_key_and_so_does_every_refresh(home, agent, provider):
    log_in(home, provider)
    assert "dpop = true" in account_file(home).read_text()
    assert refresh(home, provider)["access_token"] == "access-2"
    agent.restart()
    assert refresh(home, provider)["access_token"] == "access-3"
    assert provider.kinds() == ["authorize", "authorization_code", "refresh_token", "refresh_token"]
    assert provider.form("authorize")["dpop_jkt"] == provider.bound["access-3"]
    assert len({claims["jti"] for claims in provider.claims}) == len(provider.claims)


def test_a_resource_that_takes_only_bound_tokens_is_logged_in_to_by_its_url(home, agent, provider):
    home.oauthctl("login", "work", provider.issuer + "/api")
    assert "dpop = true" in account_file(home).read_text()
    assert provider.form("register")["dpop_bound_access_tokens"] is True
    assert json.loads(curl(home, provider).stdout) == {"hello": "access-1"}


def test_a_pushed_request_proves_the_key_that_the_code_is_bound_to(home, agent, provider):
    provider.requires = True
    log_in(home, provider)
    assert provider.kinds() == ["push", "authorize", "authorization_code"]


@pytest.mark.parametrize("algorithm", ["EdDSA", "RS256"])
def test_a_server_s_list_of_algorithms_chooses_the_key(home, agent, provider, algorithm):
    provider.algorithms = ["ES512", algorithm]
    log_in(home, provider)
    assert refresh(home, provider)["access_token"] == "access-2"


def test_a_server_that_takes_no_algorithm_of_ours_is_told_before_anything_is_sent(home, agent, provider):
    provider.algorithms = ["ES512"]
    refused = log_in(home, provider, check=False)
    assert refused.status == 3 and "ES512" in refused.stderr and provider.seen == []


def test_a_machine_proves_its_key_for_each_token(home, agent, provider):
    home.oauthctl("vault", "create", check=False)
    provider.define(home, 'grant = "client_credentials"')
    home.oauthctl("secret", "set", "work", "client_secret", stdin="s3cret\n")
    home.oauthctl("login", "work")
    refresh(home, provider)
    assert provider.kinds() == ["client_credentials"] * 2
    assert provider.bound["access-1"] == provider.bound["access-2"]


def test_a_device_login_is_bound_by_its_polls(home, agent, provider):
    log_in(home, provider, "--device")
    assert provider.form("device")["proof"] is None
    assert provider.kinds() == ["device", "urn:ietf:params:oauth:grant-type:device_code"]
    refresh(home, provider)


def test_a_server_that_binds_nothing_is_told_and_its_token_is_not_used(home, agent, provider):
    provider.kind = "Bearer"
    provider.define(home)
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 9 and "Bearer" in refused.stderr and "take dpop out of" in refused.stderr, refused
    assert home.oauthctl("get-token", "work", check=False).status == 4


def test_a_refresh_that_binds_nothing_gives_no_token_and_loses_no_login(home, agent, provider):
    log_in(home, provider)
    provider.kind = "Bearer"
    with pytest.raises(WireError) as refused:
        refresh(home, provider)
    assert refused.value.failure == "unavailable" and "DPoP" in refused.value.message
    provider.kind = "DPoP"
    agent.restart()
    assert refresh(home, provider)["token_type"] == "DPoP"
    sent = [form["refresh_token"] for kind, form in provider.seen if kind == "refresh_token"]
    assert sent[:2] == ["refresh-1", "refresh-2"]


def test_a_server_that_wants_proofs_of_an_account_without_them_is_told(home, agent, provider):
    refused = home.oauthctl(
        "login", "work", provider.issuer, "--client-id", "mine", "--scope", "read", check=False)
    assert refused.status == 9 and "invalid_dpop_proof" in refused.stderr
    provider.wants = "n"
    provider.refuse = lambda wrong: ("400 Bad Request", {"DPoP-Nonce": "n"}, {"error": "use_dpop_nonce"})
    refused = home.oauthctl(
        "login", "work", provider.issuer, "--client-id", "mine", "--scope", "read", check=False)
    assert refused.status == 9 and "dpop = true" in refused.stderr, refused


# Nonces of the token endpoint

def test_a_nonce_that_is_wanted_costs_one_more_request_and_no_token(home, agent, provider):
    provider.wants, provider.again = "first", True
    log_in(home, provider)
    refresh(home, provider)
    refresh(home, provider)
    assert provider.kinds() == ["authorize", "nonce", "authorization_code", "refresh_token", "refresh_token"]
    # The agent that comes after this one knows no nonce: the refresh token is refused once, and used once.
    agent.restart()
    refresh(home, provider)
    assert provider.kinds()[5:] == ["nonce", "refresh_token"]
    sent = [form["refresh_token"] for kind, form in provider.seen if kind == "refresh_token"]
    assert len(set(sent)) == len(sent) == 3


def test_a_server_without_end_of_nonces_gets_two_requests_at_a_time_and_ends_no_login(home, agent, provider):
    log_in(home, provider)
    provider.wants, provider.endless = "n", True
    before = len(provider.seen)
    with pytest.raises(WireError) as refused:
        refresh(home, provider)
    assert refused.value.failure == "unavailable" and "use_dpop_nonce" in refused.value.message
    # By plan it is tried again after a second.
    assert provider.kinds()[before:] in (["nonce"] * 2, ["nonce"] * 4)
    agent.stop()
    provider.endless, provider.wants = False, None
    home.oauthctl("status")
    assert refresh(home, provider)["token_type"] == "DPoP"


@pytest.mark.parametrize("nonce", [
    "a b", "a\x01b", "a\x1b[2Jb", 'a"b', "a\\b", "n" * 1025, "\u00e9"], ids=range(7))
def test_a_nonce_that_is_none_is_never_sent_back(home, agent, provider, nonce):
    log_in(home, provider)
    provider.says = {"DPoP-Nonce": nonce}
    refresh(home, provider)
    refresh(home, provider)
    assert "refused" not in provider.kinds() and not any("nonce" in claims for claims in provider.claims)


def test_a_nonce_of_five_megabytes_is_not_kept(home, agent, provider):
    log_in(home, provider)
    provider.says = {"DPoP-Nonce": "n" * 5_000_000}
    with pytest.raises(WireError):
        refresh(home, provider)
    provider.says = {}
    assert curl(home, provider).status == 0 and not any("nonce" in claims for claims in provider.claims)


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


# The key

def test_the_key_stays_in_the_vault_and_ends_with_the_login(home, agent, provider):
    log_in(home, provider)
    first = provider.bound["access-1"]
    home.oauthctl("logout", "work")
    home.oauthctl("login", "work")
    assert provider.bound["access-2"] not in (first, None)
    details = home.oauthctl("account", "show", "work", "--json").stdout
    assert "private-key" not in details and first not in details
    agent.stop()
    for path in home.files():
        content = path.read_bytes()
        assert b"private-key-1" not in content and b"proof_key" not in content, path


def test_a_file_that_drops_or_adds_the_binding_moves_nothing_without_a_login(home, agent, provider):
    log_in(home, provider)
    seen = len(provider.seen)
    edit(home, "work", dpop=None)
    with Wire(home.socket) as wire, pytest.raises(WireError) as refused:
        wire.call("account.accept", account="work", dry_run=True)
    assert refused.value.failure == "definition_changed" and "new login" in refused.value.message
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 3 and "dpop" in refused.stderr, refused
    assert provider.kinds()[seen:] == []
    edit(home, "work", dpop="true")
    assert refresh(home, provider)["access_token"] == "access-2"


def test_no_token_of_elsewhere_takes_the_place_of_one_that_is_bound(home, agent, provider):
    log_in(home, provider)
    refused = home.oauthctl("secret", "set", "work", "refresh_token", stdin="theirs\n", check=False)
    assert refused.status == 3 and "DPoP" in refused.stderr
    refused = home.oauthctl(
        "account", "import", "work", "--replace", stdin=json.dumps({"refresh_token": "theirs"}), check=False)
    assert refused.status != 0 and "DPoP" in refused.stderr, refused
    assert refresh(home, provider)["access_token"] == "access-2"
