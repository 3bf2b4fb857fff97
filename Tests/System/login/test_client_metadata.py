"""A client that is known by the URL of its metadata (draft-ietf-oauth-client-id-metadata-document)."""

import json
from urllib.parse import urlsplit

import pytest

from login.provider import Provider, use_silent_browser
from support.accounts import account_file

URL = "https://www.example.com/oauthctl.json"
TAKES = {"client_id_metadata_document_supported": True}
NAMES = {"authorization_response_iss_parameter_supported": True}


@pytest.fixture
def home(home):
    use_silent_browser(home)
    folder = account_file(home, "x").parent.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / "config.toml").write_text(f'client_metadata_url = "{URL}"\n')
    return home


@pytest.fixture
def provider():
    with Provider() as provider:
        provider.metadata, provider.names_itself = TAKES | NAMES, True
        yield provider


def test_a_document_s_url_is_the_client_and_nothing_is_registered(home, agent, provider):
    home.oauthctl("login", "tool", provider.url)
    asked = provider.form("authorize")
    assert provider.kinds() == ["authorize", "authorization_code"] and asked["client_id"] == URL
    document = json.loads(home.oauthctl("client-metadata").stdout)
    redirect = urlsplit(asked["redirect_uri"])
    assert document["client_id"] == URL and f"http://{redirect.hostname}{redirect.path}" in document["redirect_uris"]
    assert provider.form("authorization_code")["client_id"] == URL
    assert "client_secret" not in provider.form("authorization_code")


def test_the_document_comes_after_a_client_that_is_given_and_before_one_that_is_registered(home, agent, provider):
    home.oauthctl("login", "given", provider.issuer, "--client-id", "mine", "--client-authentication", "none")
    assert provider.form("authorize")["client_id"] == "mine"
    provider.metadata = {}
    home.oauthctl("login", "registered", provider.url)
    assert provider.form("authorize")["client_id"] == "registered-client"


def test_a_server_that_does_not_promise_to_name_itself_gets_a_client_of_its_own(home, agent, provider):
    provider.metadata = TAKES
    home.oauthctl("login", "tool", provider.url)
    assert provider.form("authorize")["client_id"] == "registered-client"
    provider.registers = False
    refused = home.oauthctl("login", "other", provider.url, check=False)
    assert refused.status == 64 and "RFC 9207" in refused.stderr and "--client-id ID" in refused.stderr


@pytest.mark.parametrize("client, redirect", [
    (URL, None), (URL + "?v=2", None), (URL, "http://[::1]/callback"), (URL, "http://127.0.0.2/callback/"),
    (URL + "#x", None), (URL + "?" + "v" * 1_024, None), (URL, "http://127.0.0.1/%63allback")])
def test_no_other_spelling_of_a_document_s_client_does_without_the_promise(home, agent, provider, client, redirect):
    provider.metadata = TAKES
    more = ["--redirect-uri", redirect] if redirect else []
    refused = home.oauthctl(
        "login", "tool", provider.issuer, "--client-id", client, "--client-authentication", "none", *more, check=False)
    assert refused.status == 3 and "RFC 9207" in refused.stderr and provider.kinds() == [], refused


def test_the_promise_is_asked_for_at_each_login(home, agent, provider):
    """A server that takes it back could send the browser on to another one, which knows the same client."""
    home.oauthctl("login", "tool", provider.url)
    seen = list(provider.seen)
    provider.metadata = TAKES
    refused = home.oauthctl("login", "tool", check=False)
    assert refused.status == 3 and "RFC 9207" in refused.stderr and provider.seen == seen


@pytest.mark.parametrize("named", [None, "https://other.example"])
def test_an_answer_that_names_another_server_or_none_brings_no_code(home, agent, provider, named):
    provider.names_itself = named
    refused = home.oauthctl("login", "tool", provider.url, check=False)
    assert refused.status != 0 and provider.kinds() == ["authorize"]
