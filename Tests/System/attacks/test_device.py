"""A hostile server of the device flow: what it has a person open, type and wait for.

Each test is the attack.
"""

import json
import time

import pytest

from network.accounts import endpoints, write_account
from network.listeners import Portal
from support.login import wait_until

ESCAPE = "\x1b]52;c;b3duZWQ=\x07\x1b[2J"


@pytest.fixture
def server(home, agent):
    """An account `tv` at a server that answers everything alike."""
    with Portal() as portal:
        base = f"http://localhost:{portal.port}"
        write_account(
            home, "tv", **endpoints(base), grant="device_code", device_authorization_endpoint=base + "/d",
            client_authentication="none", username=None)
        home.oauthctl("reload")
        portal.base = base
        yield portal


def answer(server, **members):
    body = {"device_code": "d", "user_code": "AB-CD", "verification_uri": server.base, "expires_in": 600, "interval": 1}
    server.say("200 OK", json.dumps({**body, **members}))


def log_in(home):
    result = home.oauthctl("login", "tv", check=False)
    assert result.status != 0, "nobody enters the code"
    assert "\x1b" not in result.stdout + result.stderr + home.agent.log.read_text()
    return result.stderr


@pytest.mark.parametrize("uri", [
    "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "http://evil.example/", "//evil.example/",
    "https://user:pw@evil.example/", "https://evil.example/#x", "https://evil.example/" + ESCAPE,
    "https://evil.example/\u202etxt.exe", "https://evil.example/ -e sh", "https://evil.example/" + "x" * 5000,
], ids=lambda uri: ascii(uri[:24]))
def test_no_address_is_shown_that_is_no_page_of_a_server(home, server, uri):
    answer(server, verification_uri=uri)
    said = log_in(home)
    assert "verification_uri is " in said and "Open this" not in said and "\u202e" not in said


@pytest.mark.parametrize("uri", [
    "javascript:alert(1)", "https://evil.example/?code=AB-CD", "http://127.0.0.1:1/" + ESCAPE,
    "{}/authorize?client_id=other&code=AB-CD", "{}/device?user_code=OT-HR", "{}?user_code=OT-HR&x=AB-CD",
    "{}?user_code=AB-CD&user_code=OT-HR", "{}/AB-CD?user_code=OT-HR", "{}/AB-CD/?user_code=OT-HR"], ids=ascii)
def test_the_address_with_the_code_in_it_is_the_same_page(home, server, uri):
    uri = uri.replace("{}", server.base)
    answer(server, verification_uri_complete=uri, expires_in=1)
    said = log_in(home)
    assert "AB-CD" in said and "or open this" not in said and uri.split("?")[-1] not in said


@pytest.mark.parametrize("code", [
    ESCAPE, "AB\nCD", "AB\u202eCD", "AB\u200bCD", "", "A" * 65, "\u0410\u0412-\u0421D"], ids=ascii)
def test_no_code_is_shown_that_does_more_than_be_typed(home, server, code):
    answer(server, user_code=code)
    said = log_in(home)
    assert "user_code is refused" in said and "enter the code" not in said


def test_a_page_at_another_server_is_told(home, server):
    """Else a server could have a person enter, at another server, the code of a login that somebody else has begun."""
    answer(server, verification_uri="https://github.com/login/device", expires_in=1)
    assert "That page is at github.com, not at localhost" in log_in(home)
    answer(server, expires_in=1)
    assert "not at localhost" not in log_in(home)


def test_no_number_of_the_server_makes_it_ask_without_pause_or_for_ever(home, server):
    for members in ({"expires_in": 1e308, "interval": 1e308}, {"expires_in": 10 ** 40, "interval": 0}):
        answer(server, **members)
        with home.agent.connect() as wire:
            begun = time.monotonic()
            started = wire.call("login.start", account="tv", request_id=f"r{members['interval']}")
            assert started["expires_in_s"] == 3600
            server.say("400 Bad Request", json.dumps({"error": "authorization_pending"}))
            if members["interval"] == 0:
                count = len(server.requests)
                wait_until(lambda: len(server.requests) > count, 60, "it asks")
                assert time.monotonic() - begun >= 5
            wire.call("login.cancel", login_id=started["login_id"])
