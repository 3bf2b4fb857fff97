"""R7: what a server says reaches no terminal, log or git as it came; what could act or hide is shown as an escape."""

import json
import unicodedata

import pytest

from network.accounts import endpoints, log_in_by_password, write_account
from network.listeners import Portal

# A title for the terminal's window, a colour by C1, backspace, DEL, right-to-left, zero width, lines of git's own.
MEAN = "\x1b]0;owned\x07\x9b31m\b\x7f\u202eowned\u200b\u2028\r\nquit=0\npassword=owned\n"
TOKEN = {"access_token": "a", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r"}
REFUSED = {"error": "invalid_grant", "error_description": MEAN}
# Where a token endpoint can put words: status, body, header fields.
WORDS = {
    "a description": ("400 Bad Request", json.dumps(REFUSED)),
    "a description in UTF-8": ("400 Bad Request", json.dumps(REFUSED, ensure_ascii=False)),
    "an error": ("400 Bad Request", json.dumps({"error": MEAN})),
    "a page": ("503 Service Unavailable", MEAN),
    "a reason phrase": ("503 \x1b]0;owned\x07\x9b31m", "{}"),
    "a redirect": ("302 Found", "", ["Location: http://example.org/\x1b]0;owned\x07"]),
    "a type of content": ("200 OK", "{}", ["Content-Type: \x1b]0;owned\x07"]),
    "a token": ("200 OK", json.dumps({**TOKEN, "access_token": MEAN, "refresh_token": MEAN})),
    "a kind of token": ("200 OK", json.dumps({**TOKEN, "token_type": MEAN})),
    "a scope": ("200 OK", json.dumps({**TOKEN, "access_token": "b", "scope": MEAN})),
}
# What shows something of it, at login at least: the rest keeps the words to itself.
SHOWN = {"a description", "a description in UTF-8", "a redirect", "a kind of token"}
COMMANDS = ["status", "status --json", "account list", "account show work", "doctor", "get-token work",
            "curl work http://localhost:1/"]


def acting(text):
    """The characters of `text`, but for ends of lines, that a terminal acts on or a person cannot see."""
    return {hex(ord(one)) for one in text if one != "\n" and unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp")}


def assert_nothing_acts(said):
    assert {where: acting(text) for where, text in said.items() if acting(text)} == {}


def everything_said(home, server):
    """What the programs print, git's helper among them, and the agent's log: {where: text}."""
    question = f"protocol=http\nhost=localhost:{server.port}\n\n"
    git = home.oauthctl("git-credential", "get", stdin=question, check=False)
    # Whatever was said, git reads one answer of ours.
    assert "owned" not in git.stdout and git.stdout.count("quit=") <= 1, git
    said = {"git": git.stdout + git.stderr, "log": home.agent.log.read_text(errors="surrogateescape")}
    for command in COMMANDS:
        result = home.oauthctl(*command.split(), check=False)
        said[command] = result.stdout + result.stderr
    return said


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("when", ["login", "refresh"])
def test_r7_words_of_a_token_endpoint(home, when, words):
    home.agent.start("--log-level", "trace")
    with Portal("200 OK", json.dumps(TOKEN)) as server:
        write_account(home, "work", **endpoints(f"http://localhost:{server.port}"))
        if when == "refresh":
            log_in_by_password(home, "work")
        server.say(*WORDS[words])
        count = len(server.requests)
        ended = (log_in_by_password(home, "work", check=False) if when == "login" else
                 home.oauthctl("get-token", "work", "--force", check=False))
        said = {when: ended.stdout + ended.stderr, **everything_said(home, server)}
        assert len(server.requests) > count
    assert_nothing_acts(said)
    assert when == "refresh" or ("owned" in said[when]) == (words in SHOWN), said[when]


@pytest.mark.parametrize("key", ["issuer", "authorization_endpoint", "token_endpoint"])
def test_r7_words_of_metadata(home, agent, key):
    with Portal() as server:
        issuer = f"http://localhost:{server.port}"
        metadata = {"issuer": issuer, "authorization_endpoint": issuer + "/a", "token_endpoint": issuer + "/t"}
        server.say("200 OK", json.dumps({**metadata, key: issuer + MEAN}))
        arguments = ["--client-id", "me", "--no-browser"]
        refused = home.oauthctl("login", "work", issuer, *arguments, stdin="", check=False)
        assert refused.status != 0 and server.requests
        assert_nothing_acts({"login": refused.stdout + refused.stderr, "log": home.agent.log.read_text()})


@pytest.mark.parametrize("key", ["user_code", "verification_uri", "verification_uri_complete"])
def test_r7_words_for_a_device(home, agent, key):
    with Portal() as server:
        issuer = f"http://localhost:{server.port}"
        answer = {"device_code": "d", "user_code": "AB-CD", "verification_uri": issuer, "expires_in": 1, "interval": 1}
        server.say("200 OK", json.dumps({**answer, key: issuer + MEAN if "uri" in key else MEAN}))
        write_account(
            home, "work", **endpoints(issuer), grant="device_code", device_authorization_endpoint=issuer + "/d",
            client_authentication="none", username=None)
        home.oauthctl("reload")
        refused = home.oauthctl("login", "work", check=False)
        assert refused.status != 0 and server.requests
        assert_nothing_acts({"login": refused.stdout + refused.stderr, "log": home.agent.log.read_text()})
