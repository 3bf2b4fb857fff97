"""Authorization requests that go to the server before the browser does (RFC 9126)."""

import base64
import urllib.parse

import pytest

from login.provider import Provider, use_silent_browser
from support.login import get_token

SECRET = "pushed-secret-5d21"


class Pushing(Provider):
    """It takes authorization requests only as they were pushed; each once. `says` overrides its answer to one."""

    def __init__(self):
        self.requires, self.says, self.pushed = True, None, {}
        super().__init__()

    def answer(self, method, url, fields, body):
        if url.path == "/.well-known/oauth-authorization-server":
            status, headers, answer = super().answer(method, url, fields, body)
            return status, headers, answer | {
                "pushed_authorization_request_endpoint": self.issuer + "/par",
                "require_pushed_authorization_requests": self.requires}
        if url.path == "/par":
            form = dict(urllib.parse.parse_qsl(body, strict_parsing=True))
            self.seen.append(("push", form | {"authorization": fields.get("authorization")}))
            if self.says:
                return self.says
            name = f"urn:ietf:params:oauth:request_uri:{len(self.pushed)}"
            self.pushed[name] = form
            return "201 Created", {}, {"request_uri": name, "expires_in": 90}
        if url.path == "/authorize" and self.requires:
            query = dict(urllib.parse.parse_qsl(url.query))
            self.seen.append(("authorize", query))
            form = self.pushed.pop(query.get("request_uri"), None)
            if form is None or set(query) != {"client_id", "request_uri"} or query["client_id"] != form["client_id"]:
                return "400 Bad Request", {}, None
            return "302 Found", {"Location": f"{form['redirect_uri']}?code=c&state={form['state']}"}, None
        return super().answer(method, url, fields, body)


@pytest.fixture
def provider():
    with Pushing() as provider:
        yield provider


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def log_in(home, provider, *more, **options):
    return home.oauthctl("login", "work", provider.issuer, "--client-id", "mine", "--scope", "read", *more, **options)


def test_a_server_that_takes_only_pushed_requests_is_logged_in_to(home, agent, provider):
    log_in(home, provider)
    assert get_token(home).startswith("access-")
    assert provider.kinds() == ["push", "authorize", "authorization_code"]
    pushed = provider.form("push")
    assert pushed["client_id"] == "mine" and pushed["scope"] == "read" and pushed["code_challenge_method"] == "S256"
    assert set(provider.form("authorize")) == {"client_id", "request_uri"}
    assert provider.form("authorization_code")["redirect_uri"] == pushed["redirect_uri"]


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_the_client_proves_itself_where_it_pushes(home, agent, provider, method):
    log_in(home, provider, "--client-authentication", method, "--client-secret-stdin", stdin=SECRET + "\n")
    pushed = provider.form("push")
    if method == "client_secret_post":
        assert pushed["client_secret"] == SECRET and pushed["authorization"] is None
    else:
        assert base64.b64decode(pushed["authorization"].split()[1]).decode() == "mine:" + SECRET
        assert "client_secret" not in pushed
    assert SECRET not in str(provider.form("authorize"))


def test_requests_are_pushed_where_the_server_only_offers_it_by_the_key_alone(home, agent, provider):
    provider.requires = False
    log_in(home, provider)
    assert provider.kinds() == ["authorize", "authorization_code"]
    provider.requires = True
    provider.define(
        home, 'scope = "read write"', 'scope_separator = ","',
        f'pushed_authorization_request_endpoint = "{provider.issuer}/par"')
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status != 0 and "pushed_authorization_request_endpoint" in refused.stderr
    home.oauthctl("login", "work", "--accept-changes")
    assert provider.kinds()[2:] == ["push", "authorize", "authorization_code"]
    assert provider.form("push")["scope"] == "read,write"


@pytest.mark.parametrize("says, status, words", [
    (("400 Bad Request", {}, {"error": "invalid_request", "error_description": f"{SECRET} is no secret"}), 9,
     "invalid_request"),
    (("401 Unauthorized", {}, {"error": "invalid_client"}), 9, "invalid_client"),
    (("503 Service Unavailable", {}, None), 6, "status is 503"),
    (("201 Created", {}, {"request_uri": "urn:" + SECRET}), 9, "repeats the client secret"),
    (("201 Created", {}, {"request_uri": "urn:a\r\nSet-Cookie: b"}), 9, "not printable"),
    (("302 Found", {"Location": "http://127.0.0.1:1/par"}, None), 9, "status is 302"),
])
def test_a_push_that_fails_ends_the_login_with_its_reason_and_opens_no_browser(
        home, agent, provider, says, status, words):
    provider.says = says
    refused = log_in(home, provider, "--client-secret-stdin", stdin=SECRET + "\n", check=False)
    assert refused.status == status and words in refused.stderr and SECRET not in refused.stderr
    assert provider.kinds() == ["push"], "it is sent once"


def test_the_life_of_a_pushed_request_is_told_to_who_opens_it_by_hand(home, agent, provider):
    command = home.start(
        home.programs / "oauthctl", "login", "work", provider.issuer, "--client-id", "mine", "--no-browser", stdin=-1)
    assert any("for 90 s and for one use" in line for line in command.stderr)
    command.terminate()
    command.wait(30)
