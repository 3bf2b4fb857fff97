"""`oauthctl login --provider`: a preset is where an account begins, and nothing that it depends on later."""

import json
import shlex

import pytest

from login.provider import Provider, use_silent_browser
from support.accounts import account_file, define
from support.terminal import run_at_terminal


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def preset(home, provider, *lines, name="ours", head=()):
    file = account_file(home, "x").parent.parent / "providers.d" / f"{name}.toml"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_text("\n".join([
        'title = "Ours"', 'register_at = "https://ours.example/clients"', 'notes = ["Ask the platform team."]', *head,
        "[account]", f'issuer = "{provider.issuer}"', 'scope = ["read", "offline_access"]', *lines, ""]))
    return file


def test_an_account_begins_with_a_preset_and_no_longer_depends_on_it(home, agent, provider):
    file = preset(
        home, provider, 'git_username = "bot"', "reuse_grace_s = 30", "[account.authorize_parameters]",
        'audience = "api"')
    said = home.oauthctl("login", "work", "--provider", "ours", "--client-id", "mine", "--scope", "read")
    assert "providers.d/ours.toml" in said.stderr
    asked = provider.form("authorize")
    # What is typed comes before what the preset says.
    assert asked["audience"] == "api" and asked["scope"] == "read" and asked["client_id"] == "mine"
    written = account_file(home, "work").read_text()
    assert 'git_username = "bot"' in written and "reuse_grace_s = 30" in written
    file.write_text(file.read_text().replace(provider.issuer, "https://elsewhere.example"))
    home.oauthctl("login", "work")
    home.oauthctl("get-token", "work", "--force")
    assert account_file(home, "work").read_text() == written


def test_the_name_of_a_preset_is_enough_and_what_is_missing_is_asked_for(home, agent, provider):
    preset(
        home, provider, "[account.authorize_parameters]", 'tenant = "{tenant}"',
        head=["[ask.tenant]", 'text = "Your tenant"', 'example = "acme"'])
    refused = home.oauthctl("login", "ours", check=False)
    assert refused.status == 64 and "--set tenant=acme" in refused.stderr and provider.seen == []
    status, text = run_at_terminal(
        home, home.programs / "oauthctl", "login", "ours", answers={"as acme: ": "blue\n", "Client id: ": "mine\n"})
    # It is broken to the terminal's width.
    text = " ".join(text.split())
    assert status == 0, text
    assert "Register one at https://ours.example/clients" in text and "Ask the platform team." in text
    assert "Redirect address: http://127.0.0.1/callback" in text
    assert provider.form("authorize")["tenant"] == "blue" and provider.form("authorize")["client_id"] == "mine"
    # It is there now: nothing is asked again.
    home.oauthctl("login", "ours")
    home.oauthctl("login", "ours", "--provider", "ours", "--set", "tenant=blue")
    assert provider.kinds().count("authorize") == 3


def test_an_answer_that_the_preset_does_not_ask_for_is_a_wrong_command_line(home, agent, provider):
    preset(home, provider)
    refused = home.oauthctl("login", "work", "--provider", "ours", "--set", "nope=1", check=False)
    assert refused.status == 64 and "ours asks for no nope" in refused.stderr, refused
    assert "run: oauthctl provider show ours" in refused.stderr and provider.seen == []


def test_without_a_terminal_the_whole_command_is_told(home, agent, provider):
    preset(home, provider)
    refused = home.oauthctl("login", "work", "--provider", "ours", "--no-browser", check=False)
    assert refused.status == 64 and "https://ours.example/clients" in refused.stderr
    command = shlex.split(refused.stderr.rsplit("  run: ", 1)[1].splitlines()[0])
    assert command == [
        "oauthctl", "login", "work", "--provider", "ours", "--no-browser", "--client-id", "ID"]
    assert not account_file(home, "work").exists() and provider.seen == []


def test_an_account_of_another_server_is_not_taken_for_it(home, agent, provider):
    preset(home, provider)
    define(home, "work", 'issuer = "https://elsewhere.example"', 'client_id = "mine"')
    refused = home.oauthctl("login", "work", "--provider", "ours", check=False)
    assert refused.status == 3 and "--replace" in refused.stderr and "elsewhere.example" in refused.stderr


def test_presets_are_listed_and_shown(home, agent, provider):
    file = preset(home, provider)
    listed = home.oauthctl("provider", "list").stdout
    assert "gitlab" in listed and "Ours" in listed
    assert home.oauthctl("provider", "show", "ours").stdout == file.read_text()
    shown = json.loads(home.oauthctl(
        "provider", "show", "gitlab", "--json", "--set", "host=git.example").stdout)
    assert shown["account"]["issuer"] == "https://git.example" and "file" not in shown
    missing = home.oauthctl("provider", "show", "keycloack", check=False)
    assert missing.status == 3 and "did you mean keycloak?" in missing.stderr
    file.write_text(file.read_text().replace("scope", "scopes"))
    told = home.oauthctl("provider", "list")
    assert "providers.d/ours.toml:6: scopes" in told.stderr and "Ours" not in told.stdout


def test_an_answer_that_is_none_is_asked_for_again(home, agent):
    told = []

    def again():
        told.append(True)
        return "\x03"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work", "--provider", "keycloak",
        answers={"Host": "sso.example.com\n", "Realm": "my realm\n", "alone\r\nRealm": again})
    assert status == 130 and told, shown
    assert "keycloak: realm: it has 1 to 253 letters" in shown and "https://" not in shown, shown
    assert not account_file(home, "work").exists()


def test_an_answer_leads_nowhere_else(home, agent):
    for answer in ("evil.example/x", "me@evil.example", "https://evil.example", ""):
        refused = home.oauthctl(
            "login", "work", "--provider", "gitlab", "--set", f"host={answer}", "--client-id", "x", check=False)
        assert refused.status != 0 and "host" in refused.stderr, answer
        assert not account_file(home, "work").exists()
