"""A server that repeats what it was sent: no secret of the request reaches the terminal, the log or the browser.

Each test is the attack: it was seen to succeed before the programs were mended.
"""

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from network.accounts import endpoints, log_in_by_password, write_account
from network.listeners import Listener, Portal
from support.login import wait_until
from world.accounts import PASSWORD

CLIENT_SECRET = 'client:secret/with "odd" 100%+signs'
REFRESH_TOKEN = "refresh-token-Rw7zQ2x9Kd4mB1vN"
GRANTED = {
    "access_token": "an-access-token", "token_type": "Bearer", "expires_in": 3600, "refresh_token": REFRESH_TOKEN}
SECRETS = (PASSWORD, CLIENT_SECRET, REFRESH_TOKEN)
# A piece of a secret that is this long must not be seen.
PIECE = 8


class Parrot(Listener):
    """A token, device and revocation endpoint that answers as `say(parts)` wants: status line, body, fields.

    `parts` are what it was sent, in every spelling it has at hand. Without `say` it grants.
    """

    def __init__(self):
        self.say, self.count = None, 0
        super().__init__()

    def serve(self, connection):
        head, body = read_request(connection)
        self.count += 1
        status, text, fields = ("200 OK", json.dumps(GRANTED), [])
        if self.say:
            status, text, fields = self.say(spellings(head, body))
        text = text.encode()
        lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(text)}",
                 "Connection: close", *fields, "", ""]
        connection.sendall("\r\n".join(lines).encode() + text)


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        if not (some := connection.recv(65536)):
            return "", ""
        data += some
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    while len(body) < int(fields.get("Content-Length", 0)):
        body += connection.recv(65536)
    return fields.get("Authorization", ""), body.decode()


def encodings(secret):
    """Spellings that the agent does not look for: it leaves out words that look like a token."""
    data = secret.encode()
    return [
        base64.b32encode(data).decode(), base64.b64encode(base64.b64encode(data)).decode(),
        base64.b64encode(secret.encode("utf-16le")).decode(), "".join(f"={byte:02X}" for byte in data)]


def spellings(credentials, body):
    decoded = urllib.parse.unquote_plus(body)
    pair = base64.b64decode(credentials.removeprefix("Basic ")).decode() if credentials else ""
    plain = " ".join([decoded, urllib.parse.unquote_plus(pair)])
    fields = dict(urllib.parse.parse_qsl(body))
    values = [fields.get(name, "") for name in ("password", "refresh_token", "client_secret")]
    values.append(urllib.parse.unquote_plus(pair.partition(":")[2]))
    return {
        "as sent": f"{credentials} {body}",
        "decoded": f"{plain} {pair}",
        "one by one": " ; ".join(plain.replace("&", " ").replace("=", " ").split()),
        "percent-encoded whole": "".join(f"%{byte:02x}" for byte in plain.encode()),
        "in base 64": base64.b64encode(f"xy{plain}".encode()).decode(),
        "hexadecimal": plain.encode().hex(),
        "escaped twice": json.dumps(json.dumps(plain)),
        "as HTML": plain.replace('"', "&quot;").replace("-", "&#45;"),
        "in capitals": plain.upper(),
        "spaced": " ".join(plain),
        "in other encodings": " ".join(
            text for value in values for text in encodings(value)),
    }


# Where an answer has room for words.
PLACES = {
    "description": lambda text: (
        "400 Bad Request", json.dumps({"error": "invalid_grant", "error_description": text}), []),
    "client": lambda text: ("401 Unauthorized", json.dumps({"error": "invalid_client", "error_description": text}), []),
    "other": lambda text: ("400 Bad Request", json.dumps({"error": "x_error", "error_description": text}), []),
    "later": lambda text: ("400 Bad Request", json.dumps({"error": "server_error", "error_description": text}), []),
    "code": lambda text: ("400 Bad Request", json.dumps({"error": text[:128]}), []),
    "uri": lambda text: ("400 Bad Request", json.dumps(
        {"error": "invalid_grant", "error_uri": "https://as.example/" + text.replace(" ", "")}), []),
    "location": lambda text: ("302 Found", "", [f"Location: https://as.example/{text}"]),
    "challenge": lambda text: ("401 Unauthorized", "{}", [f'WWW-Authenticate: Bearer error_description="{text}"']),
    "page": lambda text: ("400 Bad Request", f"<html>{text}</html>", []),
    "token type": lambda text: ("200 OK", json.dumps({**GRANTED, "token_type": text[:60]}), []),
    "scope": lambda text: ("200 OK", json.dumps({**GRANTED, "scope": text}), []),
}


def spelled(secret):
    """What somebody who reads it could make the secret of without thinking."""
    return {secret, urllib.parse.quote(secret, safe=""), base64.b64encode(secret.encode()).decode().rstrip("="),
            secret.encode().hex(), *(text.rstrip("=") for text in encodings(secret))}


def told(said):
    """The pieces of secrets in what was said."""
    folded = said.lower()
    texts = {text.lower() for secret in SECRETS for it in (secret, secret.lower()) for text in spelled(it)}
    return sorted({
        text[at:at + PIECE] for text in texts for at in range(len(text) - PIECE + 1) if text[at:at + PIECE] in folded})


@pytest.fixture
def parrot(home, agent):
    with Parrot() as server:
        base = f"http://localhost:{server.port}"
        write_account(
            home, "work", **endpoints(base), revocation_endpoint=base + "/revoke",
            client_authentication="client_secret_basic")
        yield server


def everything_said(home):
    said = [home.agent.log.read_text()]
    for command in (["status"], ["status", "--json"], ["account", "show", "work", "--json"], ["get-token", "work"]):
        result = home.oauthctl(*command, check=False)
        said += [result.stdout, result.stderr]
    return "\n".join(said)


@pytest.mark.parametrize("place, authentication", [
    *[(place, "client_secret_basic") for place in PLACES], ("description", "client_secret_post")])
def test_no_answer_tells_what_the_request_held(home, parrot, place, authentication):
    base = f"http://localhost:{parrot.port}"
    write_account(
        home, "work", **endpoints(base), revocation_endpoint=base + "/revoke", client_authentication=authentication)
    log_in_by_password(home, "work", secret=CLIENT_SECRET)
    said = ""
    for spelling in spellings("", ""):
        if (place, spelling) == ("scope", "in other encodings"):
            # A scope may look like a token, and is nothing that a server makes of a request.
            continue
        parrot.say = lambda parts: PLACES[place](parts[spelling])
        count = parrot.count
        for command, stdin in [(["get-token", "work", "--force"], None), (["status"], None),
                               (["login", "work", "--password-stdin"], PASSWORD + "\n")]:
            result = home.oauthctl(*command, stdin=stdin, check=False)
            said += result.stdout + result.stderr
        # A refresh that is forced too often is not sent.
        assert parrot.count > count
        assert told(said) == [], f"{place}, {spelling}: {said}"
        parrot.say = None
        home.oauthctl("login", "work", "--password-stdin", stdin=PASSWORD + "\n")
    parrot.say = lambda parts: PLACES[place](parts["decoded"])
    said = everything_said(home)
    result = home.oauthctl("logout", "work", check=False)
    said += result.stdout + result.stderr + home.agent.log.read_text()
    assert told(said) == [], said


def id_token(parrot, **claims):
    """A token of the parrot's for the client of the account."""
    payload = {"iss": f"http://localhost:{parrot.port}", "aud": "legacy", "sub": "17", "iat": int(time.time()),
               "exp": int(time.time()) + 600, **claims}
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "RS256"}, payload, "signature"))


def test_a_login_says_who_the_server_knows_you_as(home, parrot):
    """So a login that somebody else has answered is seen for what it is."""
    answer = {**GRANTED, "id_token": id_token(parrot, preferred_username="mallory")}
    parrot.say = lambda parts: ("200 OK", json.dumps(answer), [])
    result = log_in_by_password(home, "work", CLIENT_SECRET)
    assert "The server knows you as mallory." in result.stderr


def test_a_name_in_an_id_token_tells_no_secret_of_the_login(home, parrot):
    said = []
    for spelling in spellings("", ""):
        parrot.say = lambda parts, spelling=spelling: (
            "200 OK", json.dumps({**GRANTED, "id_token": id_token(parrot, name=parts[spelling][:1000])}), [])
        said.append(log_in_by_password(home, "work", CLIENT_SECRET).stderr)
    assert all("The server knows you as " in text for text in said)
    assert told("\n".join(said) + everything_said(home)) == []


def test_the_log_keeps_the_code_and_no_other_word_of_a_server(home, parrot):
    log_in_by_password(home, "work", secret=CLIENT_SECRET)
    parrot.say = lambda _: PLACES["description"]("words of the server's own")
    login = home.oauthctl("login", "work", "--password-stdin", stdin=PASSWORD + "\n", check=False)
    home.oauthctl("get-token", "work", "--force", check=False)
    assert "words of the server's own" in login.stderr, "the person is told"
    wait_until(lambda: "refused: invalid_grant" in home.agent.log.read_text(), 20, "the refusal in the log")
    assert "words of" not in home.agent.log.read_text()


def test_a_device_answer_tells_no_secret(home, parrot):
    base = f"http://localhost:{parrot.port}"
    write_account(
        home, "tv", **endpoints(base), grant="device_code", device_authorization_endpoint=base + "/d", username=None)
    home.oauthctl("reload")
    home.oauthctl("secret", "set", "tv", "client_secret", stdin=CLIENT_SECRET + "\n")
    answer = {"device_code": "d", "user_code": "AB-CD", "verification_uri": base, "expires_in": 1, "interval": 1}
    for key in ("user_code", "verification_uri", "verification_uri_complete", "error_description"):
        def say(parts, key=key):
            words = parts["decoded"][-60:].strip()
            if key == "error_description":
                return PLACES["client"](words)
            return "200 OK", json.dumps({**answer, key: words if key == "user_code" else f"{base}/{words}"}), []

        parrot.say = say
        result = home.oauthctl("login", "tv", check=False)
        assert told(result.stdout + result.stderr + home.agent.log.read_text()) == [], (key, result)


def test_the_redirect_s_error_tells_no_secret_of_the_login(home, parrot):
    """Whoever answers the browser knows the `state`; it is not repeated on the page, the terminal or in the log."""
    base = f"http://localhost:{parrot.port}"
    write_account(
        home, "web", **endpoints(base), grant="authorization_code", authorization_endpoint=base + "/a",
        client_authentication="none", username=None)
    home.oauthctl("reload")
    with home.agent.connect() as wire:
        started = wire.call("login.start", account="web", request_id="r")
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(started["authorization_url"]).query)
        state = query["state"][0]
        answer = urllib.parse.urlencode({"state": state, "error": "access_denied", "error_description": f"no: {state}"})
        page = fetch(f"{started['redirect_uri']}?{answer}")
        try:
            ended = str(wire.call("login.wait", login_id=started["login_id"], timeout_ms=10_000))
        except Exception as failure:
            ended = str(failure) + str(vars(failure))
    said = page + ended + home.agent.log.read_text()
    assert "access_denied" in said
    assert [state[at:at + PIECE] for at in range(len(state) - PIECE + 1) if state[at:at + PIECE] in said] == []


def fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()


def test_a_login_page_at_another_server_is_told(home, agent):
    """Else a server could have a person consent at another one, and redeem the code there (RFC 9700 §4.4)."""
    with Portal() as portal:
        base = f"http://localhost:{portal.port}"
        for page, is_told in (("https://login.example/authorize", True), (base + "/authorize", False)):
            portal.say("200 OK", json.dumps({
                "issuer": base, "authorization_endpoint": page, "token_endpoint": base + "/token",
                "code_challenge_methods_supported": ["S256"]}))
            said = home.oauthctl(
                "login", "mixed", base, "--client-id", "c", "--no-browser", "--timeout", "1", check=False).stderr
            assert page in said and ("That page is at login.example, not at localhost" in said) == is_told, said
