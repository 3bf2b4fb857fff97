"""`oauthctl login URL`: nothing is typed that can be found out (RFC 9728, RFC 8414, RFC 7591)."""

import hashlib
import shlex
from urllib.parse import urlsplit

import pytest

from login.provider import CLIENT_SECRET, Provider, use_silent_browser
from support.accounts import account_file, edit
from support.terminal import run_at_terminal

@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def elsewhere():
    """Its authorization server goes by another host's name."""
    with Provider("localhost") as provider:
        yield provider


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def next_step(result):
    return result.stderr.rsplit("  run: ", 1)[1].splitlines()[0]


def test_a_url_is_enough_to_log_in_for_a_resource(home, agent, provider):
    home.oauthctl("login", provider.url)
    name = "127.0.0.1"
    registered, asked = provider.form("register"), provider.form("authorize")
    assert registered["redirect_uris"] == [asked["redirect_uri"]] and registered["application_type"] == "native"
    assert asked["client_id"] == "registered-client" and asked["code_challenge_method"] == "S256"
    assert asked["scope"] == registered["scope"] == "read offline_access"
    assert home.oauthctl("curl", "-sS", provider.url).stdout == '{"hello": "world"}'
    home.oauthctl("get-token", name, "--force")
    # RFC 8707 in each of the three, as MCP has it.
    for kind in ("authorize", "authorization_code", "refresh_token"):
        assert provider.form(kind)["resource"] == provider.url, kind


def test_the_second_login_by_a_url_registers_nothing(home, agent, provider):
    for _ in range(2):
        home.oauthctl("login", "tool", provider.url)
    home.oauthctl("login", "tool")
    assert provider.kinds() == ["register"] + ["authorize", "authorization_code"] * 3


def test_the_redirect_of_each_server_s_clients_has_a_path_of_its_own(home, agent, provider, elsewhere):
    def path(server):
        return urlsplit(server.form("authorize")["redirect_uri"]).path

    home.oauthctl("login", "tool", provider.url)
    home.oauthctl("login", "other", elsewhere.issuer)
    for server in (provider, elsewhere):
        assert path(server) == f"/{hashlib.sha256(server.issuer.encode()).hexdigest()[:16]}/callback"
    # An account from before keeps the one it was registered with.
    redirect = provider.seen[0][1]["redirect_uris"][0]
    edit(home, "tool", redirect_uri=f'"{redirect.replace(path(provider), "/callback")}"')
    home.oauthctl("login", "tool", provider.url, "--accept-changes")
    assert path(provider) == "/callback" and provider.kinds().count("register") == 1


def test_the_url_of_the_server_itself_is_enough(home, agent, provider):
    home.oauthctl("login", "tool", provider.issuer + "/")
    assert "resource" not in provider.form("authorize")
    assert f'issuer = "{provider.issuer}"\n' in account_file(home, "tool").read_text()


def test_another_host_is_logged_in_at_by_a_yes_alone(home, agent, elsewhere):
    command = home.programs / "oauthctl", "login", "tool", elsewhere.url
    refused = home.oauthctl(*command[1:], check=False)
    assert refused.status != 0 and elsewhere.seen == []
    status, text = run_at_terminal(home, *command, answers={"[y/N]": "n\n"})
    assert status == 1 and f"Log in at {elsewhere.issuer}? [y/N]" in text
    assert elsewhere.seen == [] and not account_file(home, "tool").exists()
    status, _ = run_at_terminal(home, *command, answers={"[y/N]": "y\n"})
    assert status == 0 and elsewhere.form("authorize")["resource"] == elsewhere.url
    assert home.oauthctl("curl", "tool", "-sS", elsewhere.url).stdout == '{"hello": "world"}'
    # The command that the refusal named is for scripts; it is this login again.
    home.oauthctl("account", "forget", "tool", "--yes")
    named = shlex.split(next_step(refused).split("   #")[0])
    home.oauthctl(*named[1:])
    assert elsewhere.form("authorize")["resource"] == elsewhere.url


def test_another_port_of_the_host_is_another_server(home, agent, provider):
    with Provider(server=provider) as resource:
        refused = home.oauthctl("login", "tool", resource.url, "--scope", "mine", check=False)
        assert refused.status != 0 and provider.seen == [] and "--scope mine" in next_step(refused)
        status, text = run_at_terminal(
            home, home.programs / "oauthctl", "login", "tool", resource.url, answers={"[y/N]": "n\n"})
        assert status == 1 and provider.seen == []
        assert f"The token will be sent to: http://127.0.0.1:{resource.port}" in text and "It is for: read" in text


def test_an_account_of_another_resource_is_not_taken_for_it(home, agent, provider):
    """Nothing is registered before it is known that the account may be replaced."""
    home.oauthctl("login", "tool", provider.issuer)
    seen = list(provider.seen)
    refused = home.oauthctl("login", "tool", provider.url, check=False)
    assert refused.status != 0 and "--replace" in refused.stderr and provider.seen == seen
    home.oauthctl("login", "tool", provider.url, "--replace", "--accept-changes")
    assert provider.form("authorize")["resource"] == provider.url


def test_a_server_that_registers_nobody_is_told_with_the_whole_command(home, agent, provider):
    provider.registers = False
    refused = home.oauthctl("login", "tool", provider.url, check=False)
    assert refused.status == 64 and "--client-id is missing" in refused.stderr and provider.seen == []
    words = shlex.split(next_step(refused).split("   #")[0])
    home.oauthctl(*["mine" if word == "ID" else word for word in words[1:]], "--client-authentication", "none")
    assert provider.form("authorize")["client_id"] == "mine"
    assert provider.form("authorization_code")["resource"] == provider.url
    # The server's own URL, too: with a client it is taken for the issuer, to the letter.
    refused = home.oauthctl("login", "slashed", provider.issuer + "/", check=False)
    words = shlex.split(next_step(refused).split("   #")[0])
    assert words[:4] == ["oauthctl", "login", "slashed", provider.issuer], refused
    home.oauthctl(*["mine" if word == "ID" else word for word in words[1:]], "--client-authentication", "none")


def test_a_resource_whose_server_is_silent_about_pkce_needs_a_word(home, agent, provider):
    provider.lists_pkce = False
    refused = home.oauthctl("login", "tool", provider.url, check=False)
    assert refused.status == 3 and "PKCE" in refused.stderr and provider.seen == []
    home.oauthctl("login", "tool", provider.url, "--allow-no-pkce-metadata")
    assert provider.form("authorize")["code_challenge_method"] == "S256"


def test_a_secret_that_comes_with_the_client_is_sealed(home, agent, provider):
    provider.secret = True
    said = home.oauthctl("login", "tool", provider.url)
    assert provider.form("authorization_code")["client_secret"] == CLIENT_SECRET
    assert CLIENT_SECRET not in said.stdout + said.stderr
    assert not [path for path in home.files() if CLIENT_SECRET.encode() in path.read_bytes()]


def test_a_client_with_another_redirect_is_none(home, agent, provider):
    provider.rewrites = True
    refused = home.oauthctl("login", "tool", provider.url, check=False)
    assert refused.status == 3 and "another redirect" in refused.stderr
    assert provider.kinds() == ["register"] and not account_file(home, "tool").exists()
