"""R7 where test_foreign_words.py does not look: a terminal, git itself, the socket's lines, the redirect, its page.

And a server that answers a refresh with the rejected token.
"""

import json
import re
import sys
import unicodedata
import urllib.parse

import pytest

from support.dev_server import consenting
from support.login import get_token, wait_until
from support.terminal import run_at_terminal
from support.wire import WireError

# A title, a cleared screen, a line and a carriage return that git would take for an answer, text that runs backwards,
# what nobody sees, the one-byte CSI, line ends of other alphabets, a tag character.
EVIL = ("\x1b]0;owned\x07\x1b[2J\r\npassword=stolen\nquit=1\n\u202egnirts\u2066\u200b\ufeff\x9b31m\x7f\u2028\u2029\x85"
        "\U000e0041\u3164<script>alert(1)</script>")
# By which the tests know that it was shown at all.
SHOWN = "password=stolen"


def unseen(text):
    """Characters that are not simply seen; the line end belongs to us."""
    return {char for char in text if char not in "\n\u2026" and (
        unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn") or char == "\u3164")}


def is_tame(text):
    """Nothing unseen, and no line of the server's making."""
    return not unseen(text) and not re.search(r"(?m)^(password|quit)=", text)


def refusal(code, **members):
    """The body of an error answer (RFC 6749 §5.2)."""
    return json.dumps({"error": code, "error_description": EVIL, "error_uri": "https://x.example/\x1b[31m", **members})


@pytest.fixture
def server(home, agent):
    with consenting(home) as started:
        yield started


def log_in(home, server, *options, **how):
    return home.oauthctl("login", "work", server.issuer, "--client-id", "dev", "--scope", "read", *options, **how)


def run_until(home, word, *command):
    """What an endless command has written to a pipe up to the line that holds `word`."""
    process, text = home.start(*command), ""
    for line in process.stdout:
        text += line
        if word in line:
            break
    process.terminate()
    process.communicate()
    return text


def answer(server, endpoint, status, body, times=100, **more):
    headers = {"Content-Type": "application/json"}
    server.script(answers=[{
        "endpoint": endpoint, "action": "answer", "status": status, "headers": headers, "body": body, "times": times,
        **more}])


@pytest.mark.parametrize("code", ["invalid_grant", "invalid_scope", "temporarily_unavailable"])
def test_a_refusal_is_shown_as_text(home, agent, server, code):
    """A refresh is refused with a hostile description: everything that tells of it, and git, whom a line would do."""
    log_in(home, server)
    home.oauthctl("setup", "git", "--yes")
    answer(server, "token", 400, refusal(code), grant_type="refresh_token")
    oauthctl = home.programs / "oauthctl"
    with agent.connect() as wire:
        wire.call("token.reject", account="work", rejected={"token": get_token(home)})
        wire.request("token.get", account="work")
        lines = [wire.read_line().decode()]
        wire.request("agent.status")
        lines += [wire.read_line().decode()]
    told = home.oauthctl("get-token", "work", check=False)
    git = home.run(
        "git", "credential", "fill", stdin=f"url={server.issuer}/git/a.git\n\n", check=False,
        environment={"GIT_TERMINAL_PROMPT": "0"})
    assert told.status != 0 and git.status != 0 and git.stdout == ""
    outputs = {
        "get-token": told.stdout + told.stderr,
        "git": git.stderr,
        "terminal": run_at_terminal(home, oauthctl, "get-token", "work")[1].replace("\r\n", "\n"),
        "status": home.oauthctl("status").stdout,
        "status --json": home.oauthctl("status", "--json").stdout,
        "account show": home.oauthctl("account", "show", "work").stdout,
        "watch": run_until(home, "work", oauthctl, "status", "--watch"),
        "log": agent.log.read_text(),
        "wire": "\n".join(lines),
        # What a program prints that reads it.
        "of the wire": json.dumps([json.loads(line) for line in lines], ensure_ascii=False),
    }
    for where, text in outputs.items():
        assert is_tame(text), (where, unseen(text), text)
    assert {where for where in outputs if SHOWN in outputs[where]} >= {"wire", "of the wire"}


def test_a_refused_login_is_shown_as_text(home, agent, server):
    """The redirect carries the description: it is shown by the command, and in the page that the browser gets."""
    evil = urllib.parse.urlencode({"error": "access_denied", "error_description": EVIL})
    browser = home.bin / "browser"
    browser.write_text(
        f"#!{sys.executable}\nimport http.client, sys, urllib.parse, urllib.request\n"
        "link = urllib.parse.urlsplit(sys.argv[1])\n"
        "listener = http.client.HTTPConnection(link.netloc)\n"
        "listener.request('GET', link.path)\n"
        "asked = urllib.parse.urlsplit(listener.getresponse().headers['Location'])\n"
        "asked = dict(urllib.parse.parse_qsl(asked.query))\n"
        f"url = asked['redirect_uri'] + '?{evil}&' + urllib.parse.urlencode({{'state': asked['state']}})\n"
        f"open({str(home.root / 'page')!r}, 'wb').write(urllib.request.urlopen(url).read())\n")
    result = log_in(home, server, check=False)
    page = wait_until(lambda: (home.root / "page").exists() and (home.root / "page").read_text(), 60, "the page")
    assert result.status == 9 and SHOWN in result.stderr and is_tame(result.stdout + result.stderr), result
    assert is_tame(page) and "<script>" not in page


@pytest.mark.parametrize("columns", [18, 40])
def test_no_row_of_a_terminal_begins_with_a_server_s_words(home, agent, server, columns):
    """Where the terminal breaks a long line itself, a server can place words that look like the program's next line."""
    words = f"https://{'a' * (2 * columns)}oauthctl:-Logged-in " + "oauthctl: log in at evil.example " * 8
    answer(server, "token", 400, json.dumps({"error": "invalid_request", "error_description": words}))
    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work", server.issuer, "--client-id", "dev", columns=columns)
    rows = shown.replace("\r", "").splitlines()
    first = next(number for number, row in enumerate(rows) if "https://aa" in row)
    said = rows[first:max(number for number, row in enumerate(rows) if "evil.ex" in row) + 1]
    assert status == 9 and len(said) > 4 and all(len(row) < columns for row in said), (status, shown)
    assert all(row.startswith("    ") for row in said[1:]), shown


@pytest.mark.parametrize("columns", [40, 80])
def test_no_row_of_a_page_begins_with_a_server_s_words(home, agent, server, columns):
    log_in(home, server)
    words = ("go on and on " * 40)[:3 * columns] + "oauthctl: Logged in as root. " * 8
    answer(server, "token", 400, json.dumps({"error": "server_error", "error_description": words}))
    home.oauthctl("get-token", "work", "--force", check=False)
    for page in ("account", "show", "work"), ("doctor",):
        _, shown = run_at_terminal(home, home.programs / "oauthctl", *page, columns=columns)
        rows = shown.replace("\r", "").splitlines()
        assert any("go on" in row for row in rows), shown
        assert all(len(row) < columns for row in rows if "Logged" in row or "go on" in row), shown
        assert not any(re.match("oauthctl: Logged|Logged in|as root|go on", row) for row in rows), shown


@pytest.mark.parametrize("columns", [40, 80])
def test_no_row_begins_with_the_name_that_a_server_knows_one_by(home, agent, server, columns):
    """A command behind a colon stays whole, where it is one of ours."""
    fill = ("be so good and " * 20)[:columns - 14] + "-"
    server.script(id_token_claims={"preferred_username": f"x: oauthctl {fill}Logged-in as root."})
    _, shown = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work", server.issuer, "--client-id", "dev",
        "--scope", "openid profile read", columns=columns)
    rows = shown.replace("\r", "").splitlines()
    assert "so good" in shown and all(len(row) < columns for row in rows if "so good" in row or "root" in row), shown


def test_the_same_token_again_is_told_so_and_not_asked_for_again(home, agent, server):
    """A server that answers a refresh with the token that was rejected: `token_unchanged`, without a storm."""
    log_in(home, server)
    token = get_token(home)
    answer(server, "token", 200, json.dumps({"access_token": token, "token_type": "Bearer", "expires_in": 3600}),
           grant_type="refresh_token")
    told = home.oauthctl("get-token", "work", "--rejected-stdin", stdin=token, check=False)
    assert told.status == 6 and told.stdout == "" and "the same token again" in told.stderr, told
    asked = len(server.refreshes())
    assert asked in (1, 2)
    with agent.connect() as wire:
        with pytest.raises(WireError) as refused:
            wire.call("token.get", account="work", rejected={"token": token})
        assert refused.value.failure == "token_unchanged", "who rejected it does not get it again"
        assert 0 < refused.value.data["retry_after_ms"] <= 30_000
        assert wire.call("token.get", account="work")["access_token"] == token, "it may be good for everybody else"
    assert len(server.refreshes()) == asked
