"""Tokens of one account that are sent for another (token exchange), while its own account changes its mind, or is
somebody else's."""

import json
import threading
import time
from base64 import urlsafe_b64encode
from urllib.parse import parse_qs

import pytest

from login.provider import use_silent_browser
from login.test_exchange import Exchange, borrow, company, log_in  # noqa: F401  (a fixture)
from support.accounts import define, edit
from support.dev_server import consenting
from support.login import get_token, wait_until
from support.terminal import run_at_terminal
from support.wire import Wire, WireError

# More than may be under way at once: the others wait for their places, with what they have borrowed.
COUNT = 40


class Slow(Exchange):
    """Answers when the gate is open, and counts what comes."""

    def __init__(self, company):
        self.gate, self.came = threading.Event(), 0
        self.gate.set()
        super().__init__(company)

    def wrong(self, fields, form):
        return False

    def answer(self, method, url, fields, body):
        if url.path == "/token":
            self.came += 1
            self.gate.wait(50)
        return super().answer(method, url, fields, body)


def sent(home):
    return home.agent.log.read_text().count("asking for a token")


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


@pytest.fixture
def slow(home, company):  # noqa: F811
    with Slow(company) as server:
        edit(home, "company", hosts=f'["{company.issuer}", "{server.issuer}"]')
        home.oauthctl("account", "accept", "company", "--yes")
        yield server


@pytest.mark.parametrize("change", ["host", "logout", "forget"])
def test_a_token_that_is_lent_is_not_sent_after_its_account_has_taken_it_back(home, slow, change):
    names = [f"b{number}" for number in range(COUNT)]
    for name in names[:-1]:
        borrow(home, slow, name=name)
    for name in names:
        log_in(home, slow, name=name)
    slow.gate.clear()
    slow.came, before, answers = 0, sent(home), []

    def ask(name):
        with Wire(home.socket) as wire:
            try:
                answers.append(wire.call("token.get", account=name, force=True, timeout_ms=50_000))
            except WireError as error:
                answers.append(error)

    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    wait_until(lambda: slow.came >= 8, 30, "some of them are at the server")
    if change == "host":
        edit(home, "company", hosts=f'["{slow.company.issuer}"]')
        home.oauthctl("reload", check=False)
    elif change == "logout":
        home.oauthctl("logout", "company", check=False)
    else:
        home.oauthctl("account", "forget", "company", "--yes")
    under_way = sent(home) - before
    slow.gate.set()
    for thread in threads:
        thread.join()
    assert slow.came == sent(home) - before == under_way < COUNT
    # A token that is made of a login which is not there any more is given to nobody.
    assert sum(isinstance(answer, WireError) for answer in answers) == COUNT - (under_way if change == "host" else 0)


class Willing(Exchange):
    """Takes whatever token it is sent."""

    def wrong(self, fields, form):
        return False


def test_what_was_got_by_the_login_of_one_person_is_not_given_or_renewed_by_that_of_another(home, agent):
    def state():
        accounts = json.loads(home.oauthctl("status", "--json").stdout)["accounts"]
        return next(account["state"] for account in accounts if account["account"] == "api")

    with consenting(home) as server, Willing(None) as exchange:
        home.oauthctl("login", "company", server.issuer, "--client-id", "dev", "--scope", "openid profile read")
        edit(home, "company", hosts=f'["{server.issuer}", "{exchange.issuer}"]')
        home.oauthctl("account", "accept", "company", "--yes")
        assert "as alice" in log_in(home, exchange).stderr
        assert get_token(home, "api") == "exchanged-1" and state() == "ok"
        server.script(users=["bob"])
        status, shown = run_at_terminal(
            home, home.programs / "oauthctl", "login", "company", answers={"[y/N]": "y\n"})
        question = shown[: shown.index("[y/N]")]
        assert status == 0 and "alice" in question and "api" in question and "oauthctl login api" in question
        for words in ([], ["--force"]):
            refused = home.oauthctl("get-token", "api", *words, check=False)
            assert refused.status == 3 and refused.stdout == "" and "oauthctl login api" in refused.stderr
            assert "alice" in refused.stderr and "bob" in refused.stderr
        assert state() == "definition_changed" and exchange.given == 1
        unseen = home.oauthctl("login", "api", check=False)
        assert unseen.status != 0 and "as alice" in unseen.stderr and "as bob" in unseen.stderr and exchange.given == 1
        home.oauthctl("login", "api", "--accept-changes")
        assert get_token(home, "api") == "exchanged-2" and state() == "ok"


def test_who_agreed_to_forget_an_account_did_not_agree_for_another_that_borrows_its_tokens_since(home, agent):
    define(home, "work", 'issuer = "https://a.example"', 'client_id = "mine"')

    def borrow():
        define(home, "api", 'issuer = "https://a.example"', 'client_id = "mine"', 'grant = "token_exchange"',
               'subject_account = "work"')
        home.oauthctl("reload")
        return "y\n"

    ended, shown = run_at_terminal(
        home, home.programs / "oauthctl", "account", "forget", "work", answers={"[y/N]": borrow})
    assert ended == 3 and "work" in home.oauthctl("account", "list").stdout, shown
    ended, shown = run_at_terminal(
        home, home.programs / "oauthctl", "account", "forget", "work", answers={"[y/N]": "y\n"})
    assert ended == 0 and "api gets its tokens for those of work" in shown, shown


@pytest.mark.parametrize("end", ["logout", "forget"])
def test_a_lender_that_is_gone_frees_no_token_that_was_held(home, agent, end):
    """Held since somebody else logged in there: his leaving is no agreement."""
    with consenting(home) as server, Willing(None) as exchange:
        borrowed_from_alice(home, server, exchange)
        server.script(users=["bob"])
        home.oauthctl("login", "company", "--user", "bob")
        for command in ([], [end, "company"] if end == "logout" else ["account", end, "company", "--yes"]):
            if command:
                home.oauthctl(*command)
            refused = home.oauthctl("get-token", "api", check=False)
            assert refused.status in (3, 4) and refused.stdout == "" and "company" in refused.stderr, refused
        assert exchange.given == 1


def unsigned(claims):
    """An ID token that only looks signed."""
    parts = [json.dumps(part).encode() for part in ({"alg": "RS256"}, claims)] + [b"signature"]
    return ".".join(urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


class Names(Willing):
    """Says in an ID token whom it knows."""

    sub = "alice"

    def answer(self, method, url, fields, body):
        answer = super().answer(method, url, fields, body)
        if url.path == "/token":
            now = int(time.time())
            claims = {"iss": self.issuer, "sub": self.sub, "aud": "mine", "iat": now, "exp": now + 600}
            answer[2]["id_token"] = unsigned(claims)
        return answer


def test_one_agreement_to_another_person_is_enough_where_nobody_logs_in(home, agent):
    with consenting(home) as server, Names(None) as exchange:
        borrowed_from_alice(home, server, exchange)
        server.script(users=["bob"])
        home.oauthctl("login", "company", "--user", "bob")
        exchange.sub = "bob"
        home.oauthctl("login", "api", "--accept-changes")
        assert get_token(home, "api") == "exchanged-2"
        # Without a change of the lender another person is still none that somebody has agreed to.
        exchange.sub = "mallory"
        refused = home.oauthctl("login", "api", check=False)
        assert refused.status != 0 and "mallory" in refused.stderr and "--user USER" in refused.stderr
        # Nor is another kind of token of the same person an agreement to that one.
        edit(home, "api", requested_token_type='"jwt"')
        exchange.issued = {"issued_token_type": "urn:ietf:params:oauth:token-type:jwt"}
        refused = home.oauthctl("login", "api", "--accept-changes", check=False)
        assert refused.status != 0 and "mallory" in refused.stderr, refused
        edit(home, "api", requested_token_type=None)
        assert get_token(home, "api") == "exchanged-2"


class Remembers(Exchange):
    """Knows with whose token each of its own was got."""

    def __init__(self):
        self.got_with = {}
        super().__init__(None)

    def wrong(self, fields, form):
        return False

    def answer(self, method, url, fields, body):
        answer = super().answer(method, url, fields, body)
        if lent := parse_qs(body).get("subject_token"):
            self.got_with[answer[2]["access_token"]] = lent[0]
        return answer


def borrowed_from_alice(home, server, exchange):
    home.oauthctl("login", "company", server.issuer, "--client-id", "dev", "--scope", "openid profile read")
    edit(home, "company", hosts=f'["{server.issuer}", "{exchange.issuer}"]')
    home.oauthctl("account", "accept", "company", "--yes")
    log_in(home, exchange)


def test_what_is_accepted_of_another_person_is_given_by_that_one_alone(home, agent):
    with consenting(home) as server, Remembers() as exchange:
        borrowed_from_alice(home, server, exchange)
        server.script(users=["bob"])
        home.oauthctl("login", "company", "--user", "bob")
        edit(home, "api", hosts=f'["{exchange.issuer}", "https://api.example"]')
        assert "as bob" in home.oauthctl("account", "accept", "api", "--yes").stderr
        assert exchange.got_with[get_token(home, "api")] == get_token(home, "company")


@pytest.mark.parametrize("how", ["refresh", "secret"])
def test_a_token_that_may_be_somebody_else_s_is_not_lent(home, agent, how):
    """A refresh whose ID token is another person's, and a refresh token that somebody has set."""
    with consenting(home) as server, Remembers() as exchange:
        borrowed_from_alice(home, server, exchange)
        if how == "refresh":
            server.script(id_token_claims={"sub": "mallory"})
        else:
            home.oauthctl("secret", "set", "company", "refresh_token", "--replace", stdin="another\n")
        home.oauthctl("get-token", "company", "--force", check=False)
        before = dict(exchange.got_with)
        assert home.oauthctl("get-token", "api", "--force", check=False).status != 0
        assert exchange.got_with == before
