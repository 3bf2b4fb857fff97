"""NanoIDP, over TLS with a private authority: each flow it has."""


import pytest

from interop import nanoidp_server
from interop.said import claims, sentence
from support.accounts import account_file
from support.login import get_token
from world.browser import Browser

NAME = "NanoIDP"


@pytest.fixture(scope="module")
def nano(scratch):
    server = nanoidp_server.start(scratch / "nanoidp")
    yield server
    server.stop()


def log_in(home, server, *arguments, scope="openid profile", **how):
    home.use_browser(server.user, server.password, ca_file=server.ca_file)
    return home.oauthctl("login", "work", server.issuer, "--scope", scope, "--ca", server.ca_file, *arguments, **how)


def test_a_client_is_registered_and_deleted_again(home, agent, nano, row):
    line = row(NAME, "`oauthctl login URL`, registration (RFC 7591, 7592)")
    log_in(home, nano)
    assert nano.say_hello(get_token(home)) == 200
    forgotten = home.oauthctl("account", "forget", "work", "--yes")
    line.seen(f"works with the URL alone; `account forget` deletes the client: “{sentence(forgotten)}”")
    assert not account_file(home).exists()


def test_a_public_client(home, agent, nano, row):
    line = row(NAME, "login, public client, code + PKCE, any port")
    log_in(home, nano, "--client-id", "native-app")
    first = get_token(home)
    assert nano.say_hello(first) == 200
    line.seen("works; the answer names its issuer (RFC 9207)")
    new = home.oauthctl("get-token", "work", "--force").lines[0]
    newer = home.oauthctl("get-token", "work", "--force").lines[0]
    assert len({first, new, newer}) == 3 and nano.say_hello(newer) == 200
    line.seen("every refresh rotates")
    result = home.oauthctl("logout", "work")
    line.seen(f"logout: “{sentence(result)}”")


def test_a_confidential_client(home, agent, nano, row):
    line = row(NAME, "login, confidential client, client_secret_basic")
    log_in(home, nano, "--client-id", "web-app", "--client-secret-stdin", stdin="web-secret-8\n")
    assert nano.say_hello(get_token(home)) == 200
    line.seen("works")


def test_who_is_logged_in(home, agent, nano, row):
    line = row(NAME, "ID token")
    log_in(home, nano, "--client-id", "native-app", "--user", nano.user)
    assert nano.user in home.oauthctl("status").stdout
    assert home.oauthctl("get-token", "work", "--type", "id").lines[0].count(".") == 2
    line.seen("its claims are judged; `--user` and the WHO column know the name")


@pytest.mark.parametrize("answer", ["allow", "deny"])
def test_a_device_login(home, agent, nano, row, answer):
    line = row(NAME, "device flow" + (", the person refuses" if answer == "deny" else ""))
    command = home.start(
        home.programs / "oauthctl", "login", "work", nano.issuer, "--device", "--client-id", "tv-app", "--scope",
        "openid profile", "--ca", nano.ca_file)
    shown = {}
    for text in command.stderr:
        if text.startswith(("Open this", "and enter the code")):
            shown[text.split()[0]] = next(command.stderr).strip()
        if "and" in shown:
            break
    Browser(nano.user, nano.password, answer, nano.ca_file, shown["and"]).walk(shown["Open"], lambda _: False)
    _, stderr = command.communicate(timeout=60)
    if answer == "allow":
        assert command.returncode == 0 and nano.say_hello(get_token(home)) == 200, stderr
        line.seen("works")
    else:
        assert command.returncode == 9 and "access_denied" in stderr, stderr
        line.seen("`access_denied`, exit 9")


def test_client_credentials(home, agent, nano, row):
    line = row(NAME, "client credentials")
    log_in(home, nano, "--grant", "client_credentials", "--client-id", "machine", "--client-secret-stdin", scope="read",
           stdin="machine-secret\n")
    assert claims(get_token(home))["iss"] == nano.issuer
    line.seen("works")


def test_a_password(home, agent, nano, row):
    line = row(NAME, "password grant")
    log_in(home, nano, "--grant", "password", "--client-id", "legacy", "--client-secret-stdin", "--username",
           nano.user, check=False, stdin="legacy-secret\n")
    home.oauthctl("login", "work", "--password-stdin", stdin=nano.password + "\n")
    assert nano.say_hello(get_token(home)) == 200
    assert nano.say_hello(home.oauthctl("get-token", "work", "--force").lines[0]) == 200
    line.seen("works, with a refresh token")


def test_a_token_for_one_resource(home, agent, nano, row):
    line = row(NAME, "`resource` (RFC 8707)")
    log_in(home, nano, "--client-id", "native-app", "--resource", nanoidp_server.RESOURCE)
    assert nanoidp_server.RESOURCE in claims(get_token(home))["aud"]
    renewed = home.oauthctl("get-token", "work", "--force").lines[0]
    assert nanoidp_server.RESOURCE in claims(renewed)["aud"]
    line.seen("works; the token's `aud` is the resource, after a refresh too")
