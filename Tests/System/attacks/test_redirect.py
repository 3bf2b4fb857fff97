"""Another user of the machine wants your login to be his: he answers the redirect, or holds its other address.

What he can read is the arguments of every process. What he can reach is every port of 127.0.0.1.
"""

import contextlib
import http.client
import re
import socket
import ssl
import struct
import urllib.error
import urllib.parse
import urllib.request

import pytest

from attacks.redirect_steps import location, page, said
from login.provider import Provider
from network.identities import Authority
from support.dev_server import DevServer
from support.login import get_token, wait_until
from support.others import NOBODY, as_nobody, connections_as_nobody, listening_as_nobody, sockets_as_nobody
from support.ports import free_port

REFUSED = "refused a connection to the redirect listener of a login"


@pytest.fixture
def server(home, agent):
    started = DevServer(home, "--auto-consent", "--access-token-life", "3600")
    yield started
    started.stop()


@pytest.fixture
def waiting(home):
    """waiting(issuer) -> (command, arguments of the browser, authorization URL on the terminal).

    The browser does nothing: the person is still typing a password."""
    commands = []

    def begin(issuer, *options):
        seen = home.root / "browser.argv"
        browser = home.bin / "browser"
        browser.write_text(f'#!/bin/sh\ntr "\\0" "\\n" < /proc/$$/cmdline > {seen}.new\nmv {seen}.new {seen}\n')
        browser.chmod(0o700)
        command = home.start(
            home.programs / "oauthctl", "login", "work", issuer, "--client-id", "dev", "--scope", "read", *options,
            environment={"BROWSER": str(browser)})
        commands.append(command)
        shown = next(
            (found.group() for line in command.stderr if (found := re.search(r"http\S+[?&]state=\S+", line))), None)
        assert shown, "no authorization URL on the terminal"
        wait_until(seen.exists, 20, "the browser is started")
        arguments = seen.read_text().split("\n")
        return command, arguments, shown

    yield begin
    for command in commands:
        if command.poll() is None:
            command.kill()
        command.communicate()


def opened(arguments):
    return next(argument for argument in arguments if argument.startswith("http"))


def finish(home, command, shown):
    """The user's own browser ends the login."""
    assert page(location(shown))[0] == 200
    _, stderr = command.communicate(timeout=60)
    assert command.returncode == 0, stderr
    assert get_token(home)


def test_another_user_cannot_log_you_in_as_himself(home, agent, server, waiting):
    """He has the authorization URL (from an argument of the browser, before it was kept out of there), logs in at the
    server with his own name, and brings his code to our listener before you do."""
    command, _, shown = waiting(server.issuer)
    his = location(shown)

    assert as_nobody(lambda: said(his)) == b"", "he was answered"
    assert command.poll() is None
    assert not [entry for entry in server.log() if entry.get("grant_type") == "authorization_code"]
    wait_until(
        lambda: REFUSED in agent.log.read_text() and str(NOBODY) in agent.log.read_text(), 20, "the refusal in the log")

    finish(home, command, shown)


def test_a_request_that_another_user_leaves_behind_is_not_taken_for_yours(home, agent, server, waiting):
    """He asks, and resets the connection. Your browser gets the port that he has left before the agent has looked up
    whose it is. It took 13 tries, and 100 without arranging which port the browser gets."""
    command, _, shown = waiting(server.issuer)
    his = urllib.parse.urlsplit(location(shown))
    request = f"GET {his.path}?{his.query} HTTP/1.1\r\nHost: {his.netloc}\r\n\r\n".encode()
    listener = (his.hostname, his.port)

    def connected(port, hold):
        """A connection from `port` that says `hold`, or None where the port is not to be had."""
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.settimeout(20)
        try:
            connection.bind(("127.0.0.1", port))
            connection.connect(listener)
            connection.sendall(hold)
        except OSError:
            connection.close()
            return None
        return connection

    answered = 0
    for _ in range(200):
        with sockets_as_nobody():
            left = connected(0, request)
        if not left:
            continue
        port = left.getsockname()[1]
        left.close()
        if own := connected(port, f"GET /favicon.ico HTTP/1.1\r\nHost: {his.netloc}\r\n\r\n".encode()):
            with own, contextlib.suppress(ConnectionResetError):
                answered += own.recv(12) == b"HTTP/1.1 404"
        assert command.poll() is None, "he has ended the login"
    assert answered, "your own requests are served"
    assert not [entry for entry in server.log() if entry.get("grant_type") == "authorization_code"]

    finish(home, command, shown)


def test_a_browser_s_arguments_hold_neither_state_nor_challenge(home, server, waiting):
    command, arguments, shown = waiting(server.issuer)
    sent = urllib.parse.parse_qs(urllib.parse.urlsplit(shown).query)
    for name in ("state", "code_challenge"):
        assert not [argument for argument in arguments if sent[name][0] in argument], name
    link = opened(arguments)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/login/[A-Za-z0-9_-]{22,}", link), link
    assert urllib.parse.urlsplit(link).netloc == urllib.parse.urlsplit(sent["redirect_uri"][0]).netloc

    assert location(link) == shown
    status, text = page(link)
    assert status == 410 and "was used" in text and sent["state"][0] not in text

    finish(home, command, shown)


def test_they_hold_neither_where_nobody_listens_for_the_answer(server, waiting):
    _, arguments, shown = waiting(server.issuer, "--redirect-uri", "com.example.app:/cb")
    sent = urllib.parse.parse_qs(urllib.parse.urlsplit(shown).query)
    for name in ("state", "code_challenge"):
        assert not [argument for argument in arguments if sent[name][0] in argument], name
    link = opened(arguments)
    # The answer is not taken there: whoever has the state brings none by a page in the browser.
    answer = f"{link[:link.index('/login/')]}/cb?code=c&state={sent['state'][0]}"
    assert page(answer)[0] == 404 and location(link) == shown


def test_the_link_of_a_browser_is_not_for_another_user(home, server, waiting):
    """It stands in the browser's arguments, and leads to the state."""
    _, arguments, shown = waiting(server.issuer)
    link = opened(arguments)
    assert as_nobody(lambda: said(link)) == b""
    assert location(link) == shown, "he used it up"


@pytest.mark.parametrize("field", ["Via: 1.1 proxy", "X-Forwarded-Port: 80", "Proxy-Connection: close"])
def test_nor_by_a_proxy_of_the_user_s_own(home, server, waiting, field):
    """It lends its user's number to whoever speaks to it."""
    _, arguments, shown = waiting(server.issuer)
    link = opened(arguments)
    name, value = field.split(": ")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(link, headers={name: value}), timeout=20)
    assert location(link) == shown, "it was used up"


def test_the_link_is_answered_once_without_store_or_referrer(home, server, waiting):
    _, arguments, shown = waiting(server.issuer)
    parts = urllib.parse.urlsplit(opened(arguments))
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection.request("GET", parts.path)
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) == (303, shown)
    assert answer.headers["Cache-Control"] == "no-store" and answer.headers["Referrer-Policy"] == "no-referrer"
    connection.close()


def test_strangers_who_stand_by_keep_nobody_out(home, server, waiting):
    """Ten times as many as are served at once, each of which would be waited for."""
    command, _, shown = waiting(server.issuer)
    mine = location(shown)
    parts = urllib.parse.urlsplit(mine)
    with connections_as_nobody((parts.hostname, parts.port), 160):
        assert page(mine)[0] == 200
        _, stderr = command.communicate(timeout=60)
    assert command.returncode == 0, stderr
    assert get_token(home)


@pytest.fixture
def waiting_securely(home, agent, waiting):
    """A login with a redirect on https -> (command, its address with the code, an SSL context that trusts it)."""
    authority = Authority(home.root / "redirect-authority")
    files = authority.issue("mine", names=["127.0.0.1"])
    with Provider() as provider:
        command, _, shown = waiting(
            provider.issuer, "--client-authentication", "none", "--redirect-uri",
            f"https://127.0.0.1:{free_port()}/cb", "--redirect-cert", files.certificate, "--redirect-key", files.key)
        yield command, location(shown), ssl.create_default_context(cafile=authority.file)


def end_securely(home, command, mine, trust):
    with urllib.request.urlopen(mine, timeout=20, context=trust) as answer:
        assert answer.status == 200
    _, stderr = command.communicate(timeout=60)
    assert command.returncode == 0, stderr
    assert get_token(home) == "access-1"


def client_hello(trust):
    """The first bytes of a browser that speaks TLS."""
    sent = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        trust.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="127.0.0.1").do_handshake()
    return sent.read()


def answered(url, data):
    """The first bytes that the listener of `url` says to `data`."""
    parts = urllib.parse.urlsplit(url)
    try:
        with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
            connection.sendall(data)
            return connection.recv(100)
    except (ConnectionResetError, BrokenPipeError):
        return b""


def test_another_user_gets_no_handshake_of_an_https_redirect(home, waiting_securely):
    command, mine, trust = waiting_securely
    hello = client_hello(trust)
    assert as_nobody(lambda: answered(mine, hello)) == b"", "he was answered"
    # 22 is the type of a handshake (RFC 8446 §5.1).
    assert answered(mine, hello)[:1] == b"\x16"
    end_securely(home, command, mine, trust)


def test_half_handshakes_and_plain_http_keep_no_browser_from_an_https_redirect(home, waiting_securely):
    """Twice as many as are served at once, each of which would be waited for."""
    command, mine, trust = waiting_securely
    parts = urllib.parse.urlsplit(mine)
    assert not said(mine).startswith(b"HTTP"), "an address with a code was answered in the open"
    half = client_hello(trust)[:60]
    crowd = [socket.create_connection((parts.hostname, parts.port), timeout=20) for _ in range(32)]
    for connection in crowd:
        connection.sendall(half)
    end_securely(home, command, mine, trust)
    for connection in crowd:
        connection.close()


def test_the_other_address_of_localhost_in_foreign_hands_is_told(home, agent, server):
    """A browser may try ::1 first: the code would go to him."""
    port = free_port()
    with listening_as_nobody(socket.AF_INET6, "::1", port):
        account = home.config / "oauthctl" / "accounts.d" / "work.toml"
        account.parent.mkdir(parents=True, exist_ok=True)
        account.write_text(
            f'issuer = "{server.issuer}"\nclient_id = "dev"\nscope = ["read"]\n'
            f'redirect_uri = "http://localhost:{port}/callback"\n')
        account.chmod(0o600)
        home.oauthctl("reload")
        refused = home.oauthctl("login", "work", check=False)
        assert refused.status != 0
        assert f"port {port} on ::1 is in use by a program of another user (uid {NOBODY})" in refused.stderr, refused
    home.environment["BROWSER"] = str(curl(home))
    assert home.oauthctl("login", "work").status == 0


def curl(home):
    browser = home.bin / "browser"
    browser.write_text('#!/bin/sh\nexec curl -sSL -o /dev/null "$1"\n')
    browser.chmod(0o700)
    return browser
