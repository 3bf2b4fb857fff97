"""Tokens that are bound to a key (DPoP, RFC 9449), against a server that judges every proof."""

import json

import pytest

from login.dpop_steps import curl, home, log_in, provider, refresh  # noqa: F401
from support.accounts import account_file, edit
from support.wire import Wire, WireError


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


def test_a_token_that_looks_good_is_renewed_where_somebody_forces_it(home, agent, provider):
    log_in(home, provider)
    call = ("--url", provider.issuer + "/api", "--method", "GET", "--format", "headers")
    assert "DPoP access-1" in home.oauthctl("get-token", "work", *call).stdout
    assert "DPoP access-2" in home.oauthctl("get-token", "work", "--force", *call).stdout


def test_a_resource_that_takes_only_bound_tokens_is_logged_in_to_by_its_url(home, agent, provider):
    home.oauthctl("login", "work", provider.issuer + "/api")
    assert "dpop = true" in account_file(home).read_text()
    assert provider.form("register")["dpop_bound_access_tokens"] is True
    assert json.loads(curl(home, provider).stdout) == {"hello": "access-1"}


def test_a_pushed_request_proves_the_key_that_the_code_is_bound_to(home, agent, provider):
    provider.requires = True
    log_in(home, provider)
    assert provider.kinds() == ["push", "authorize", "authorization_code"]


def test_a_pushed_request_whose_proof_is_refused_names_the_key_without_it(home, agent, provider):
    """As Glewlwyd, which wants its nonce there and does not tell it; dpop_jkt binds the code (RFC 9449 10.1)."""
    provider.requires, provider.wants, provider.silent = True, "first", True
    log_in(home, provider)
    assert provider.kinds() == ["refused", "push", "authorize", "nonce", "authorization_code"]
    assert provider.bound["access-1"] == provider.form("push")["dpop_jkt"]


def test_a_preset_binds_tokens_and_its_client_for_development_is_taken_as_bluesky_has_it(home, agent, provider):
    """Requests that are pushed, a nonce that changes, and a client id that is an address of no document."""
    provider.requires, provider.wants, provider.again = True, "nonce-0", True
    folder = account_file(home).parent.parent / "providers.d"
    folder.mkdir(mode=0o700, parents=True)
    (folder / "ours.toml").write_text(
        f'title = "Ours"\n[account]\nissuer = "{provider.issuer}"\nclient_authentication = "none"\ndpop = true\n'
        'scope = ["atproto", "transition:generic"]\n')
    client = ("http://localhost?redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback"
              "&scope=atproto%20transition%3Ageneric")
    home.oauthctl("login", "work", "--provider", "ours", "--client-id", client)
    pushed = provider.form("push")
    assert (pushed["client_id"], pushed["scope"]) == (client, "atproto transition:generic")
    assert "dpop = true" in account_file(home).read_text()
    assert refresh(home, provider)["access_token"] == "access-2"


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
    # Such an answer cannot be read, so its refresh token may be used up.
    provider.says = {}
    log_in(home, provider)
    assert curl(home, provider).status == 0 and not any("nonce" in claims for claims in provider.claims)


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
    assert refused.status == 64 and "dpop" in refused.stderr, refused
    assert provider.kinds()[seen:] == []
    edit(home, "work", dpop="true")
    assert refresh(home, provider)["access_token"] == "access-2"


def test_no_token_of_elsewhere_takes_the_place_of_one_that_is_bound(home, agent, provider):
    log_in(home, provider)
    refused = home.oauthctl("secret", "set", "work", "refresh_token", "--replace", stdin="theirs\n", check=False)
    assert refused.status == 3 and "DPoP" in refused.stderr
    refused = home.oauthctl(
        "account", "import", "work", "--replace", stdin=json.dumps({"refresh_token": "theirs"}), check=False)
    assert refused.status != 0 and "DPoP" in refused.stderr, refused
    assert refresh(home, provider)["access_token"] == "access-2"
