"""Tokens got for those of another account (RFC 8693), at a server that takes nothing else."""

import json
import threading
from urllib.parse import parse_qsl

import pytest

from login.provider import Provider, use_silent_browser
from support.accounts import account_file, define, edit
from support.login import get_token, wait_until

GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


class Exchange(Provider):
    """Its token endpoint exchanges the newest access token of `company`, and refuses whatever is not to the letter."""

    def __init__(self, company):
        self.company, self.issued, self.wants, self.actor = company, {"issued_token_type": ACCESS_TOKEN}, {}, None
        self.given = 0
        super().__init__()

    def wrong(self, fields, form):
        wanted = {"grant_type": GRANT, "client_id": "mine", "subject_token_type": ACCESS_TOKEN,
                  "subject_token": f"access-{self.company.tokens}"} | self.wants
        if self.actor:
            wanted |= {"actor_token": f"access-{self.actor.tokens}", "actor_token_type": ACCESS_TOKEN}
        return fields.get("authorization") or len(form) != len(dict(form)) or dict(form) != wanted

    def answer(self, method, url, fields, body):
        if url.path != "/token":
            return super().answer(method, url, fields, body)
        form = parse_qsl(body, strict_parsing=True)
        if self.wrong(fields, form):
            self.seen.append(("refused", dict(form)))
            return "400 Bad Request", {}, {"error": "invalid_request", "error_description": "no such subject_token"}
        self.seen.append(("exchanged", dict(form)))
        self.given += 1
        return "200 OK", {}, {"access_token": f"exchanged-{self.given}", "token_type": "Bearer", "expires_in": 3600,
                              "refresh_token": "not-to-be-kept"} | self.issued


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


@pytest.fixture
def company(home, agent):
    """The login whose token is lent; its tokens may go to both servers."""
    with Provider() as provider:
        define(home, "company", f'issuer = "{provider.issuer}"', 'client_id = "mine"')
        home.oauthctl("vault", "create", check=False)
        home.oauthctl("login", "company")
        yield provider


@pytest.fixture
def exchange(home, company):
    with Exchange(company) as server:
        edit(home, "company", hosts=f'["{company.issuer}", "{server.issuer}"]')
        home.oauthctl("account", "accept", "company", "--yes")
        yield server


def borrow(home, server, *lines, name="api"):
    define(home, name, f'issuer = "{server.issuer}"', 'client_id = "mine"', 'grant = "token_exchange"',
           f'token_endpoint = "{server.issuer}/token"', 'subject_account = "company"', *lines)


def log_in(home, server, *lines, name="api", check=True):
    borrow(home, server, *lines, name=name)
    return home.oauthctl("login", name, "--accept-changes", check=check)


def exchanges(server):
    return [kind for kind, _ in server.seen if kind in ("exchanged", "refused")]


def test_a_token_is_got_for_another_accounts_token_and_its_refresh_token_is_not_kept(home, exchange):
    log_in(home, exchange)
    assert get_token(home, "api") == "exchanged-1"
    assert home.oauthctl("get-token", "api", "--force").lines == ["exchanged-2"]
    shown = json.loads(home.oauthctl("account", "show", "api", "--json").stdout)
    assert "refresh_token" not in shown["secrets"] and exchanges(exchange) == ["exchanged"] * 2
    assert shown["lent"] == {"subject_account": "company", "subject_token_type": "access_token"}
    page = home.oauthctl("account", "show", "api").stdout.split("\n")
    assert ["subject", "account", "company", "(access_token)"] in [line.split() for line in page]


def test_one_command_makes_the_account(home, company, exchange):
    command = ["login", "api", exchange.issuer, "--client-id", "mine", "--grant", "token-exchange"]
    refused = home.oauthctl(*command, check=False)
    assert refused.status == 64 and "--subject-account" in refused.stderr
    refused = home.oauthctl(*command, "--subject-account", "campany", check=False)
    assert refused.status == 3 and "--subject-account campany: no such account" in refused.stderr, refused
    assert "did you mean company?" in refused.stderr and not account_file(home, "api").exists()
    refused = home.oauthctl(*command, "--subject-account", "company", check=False)
    assert refused.status != 0 and company.issuer in refused.stderr and exchanges(exchange) == []
    assert "oauthctl login api --accept-changes" in refused.stderr and account_file(home, "api").exists()
    home.oauthctl("login", "api", "--accept-changes")
    assert get_token(home, "api") == "exchanged-1"
    command[1] = "second"
    refused = home.oauthctl(*command, "--subject-account", "api", check=False)
    assert refused.status == 3 and "name an account that logs in by itself" in refused.stderr, refused
    assert not account_file(home, "second").exists()


def test_what_is_asked_for_is_sent_with_it(home, company, exchange):
    with Provider() as actor:
        define(home, "robot", f'issuer = "{actor.issuer}"', 'client_id = "mine"',
               f'hosts = ["{actor.issuer}", "{exchange.issuer}"]')
        home.oauthctl("login", "robot")
        exchange.actor = actor
        jwt = "urn:ietf:params:oauth:token-type:jwt"
        exchange.wants = {"scope": "read write", "resource": "https://api.example/", "audience": "api",
                          "requested_token_type": jwt, "subject_token_type": jwt}
        exchange.issued = {"issued_token_type": jwt}
        log_in(home, exchange, 'scope = "read write"', 'resource = "https://api.example/"', 'audience = "api"',
               'actor_account = "robot"', 'requested_token_type = "jwt"', 'subject_token_type = "jwt"')
        assert get_token(home, "api") == "exchanged-1" and exchanges(exchange) == ["exchanged"]


def test_whose_token_goes_where_is_agreed_to_the_first_time_too(home, company, exchange):
    borrow(home, exchange)
    refused = home.oauthctl("login", "api", check=False)
    assert refused.status != 0 and "subject_account" in refused.stderr and company.issuer in refused.stderr
    assert "--accept-changes" in refused.stderr and exchanges(exchange) == []


def test_a_token_is_lent_to_no_host_that_its_account_does_not_name(home, company):
    with Exchange(company) as elsewhere:
        refused = log_in(home, elsewhere, check=False)
        assert refused.status == 8 and "company" in refused.stderr and elsewhere.issuer in refused.stderr
        assert exchanges(elsewhere) == []
        # What is told lets it go there, and takes nothing away.
        line = f'hosts = ["{company.issuer}", "{elsewhere.issuer}"]'
        file = account_file(home, "company")
        assert f"have  {line}  in {home.shown(file)}, then: oauthctl account accept company" in refused.stderr
        file.write_text(file.read_text() + line + "\n")
        home.oauthctl("account", "accept", "company", "--yes")
        home.oauthctl("login", "api", "--accept-changes")
        home.oauthctl("get-token", "company", "--url", company.issuer)


def test_a_lender_that_is_logged_in_elsewhere_lends_nothing(home, company, exchange):
    log_in(home, exchange)
    with Provider() as other:
        edit(home, "company", issuer=f'"{other.issuer}"', hosts=f'["{other.issuer}", "{exchange.issuer}"]')
        home.oauthctl("login", "company", "--accept-changes")
        refused = home.oauthctl("get-token", "api", "--force", check=False)
        assert refused.status == 3 and "oauthctl login api" in refused.stderr
        assert exchanges(exchange) == ["exchanged"]
        exchange.company = other
        home.oauthctl("login", "api", "--accept-changes")
        assert get_token(home, "api") == "exchanged-2"


def test_another_lender_in_the_file_is_sent_nothing(home, company, exchange):
    log_in(home, exchange)
    edit(home, "api", subject_account='"other"')
    refused = home.oauthctl("get-token", "api", "--force", check=False)
    assert refused.status == 3 and "subject_account" in refused.stderr and exchanges(exchange) == ["exchanged"]


def test_the_login_that_is_needed_is_the_lenders_and_is_enough(home, company, exchange):
    log_in(home, exchange)
    home.oauthctl("logout", "company")
    # What was got before is not given either: it was got by a login that was taken back.
    for words in (["--force"], ["--force"], []):
        refused = home.oauthctl("get-token", "api", *words, check=False)
        assert refused.status == 4 and "oauthctl login company" in refused.stderr and refused.stdout == "", refused
    told = home.oauthctl("status").stdout
    needs = "api: it needs a token of company: login needed: not logged in\n  run: oauthctl login company\n"
    assert needs in told and "company: logged out\n" in told, told
    borrow(home, exchange, name="other")
    told = home.oauthctl("doctor", check=False).stdout
    assert told.count("  run: oauthctl login company\n") == 1, told
    assert "logged out, which concerns api, other\n" in told, told
    home.oauthctl("login", "company")
    assert get_token(home, "api") == "exchanged-1"
    assert home.oauthctl("get-token", "api", "--force").lines == ["exchanged-2"]


def test_a_lent_token_that_is_refused_is_got_anew_once(home, company, exchange):
    log_in(home, exchange)
    # The server takes newer ones alone.
    company.tokens += 1
    assert home.oauthctl("get-token", "api", "--force").lines == ["exchanged-2"]
    assert exchanges(exchange) == ["exchanged", "refused", "exchanged"]
    assert company.kinds().count("refresh_token") == 1 and get_token(home, "company") == f"access-{company.tokens}"


def test_a_server_that_refuses_every_token_ends_no_login(home, company, exchange):
    log_in(home, exchange)
    exchange.wants = {"scope": "what nobody asks for"}
    refused = home.oauthctl("get-token", "api", "--force", check=False)
    assert refused.status == 9 and "invalid_request" in refused.stderr
    assert exchanges(exchange) == ["exchanged", "refused", "refused"]
    assert company.kinds().count("refresh_token") == 1
    exchange.wants = {}
    log_in(home, exchange)
    assert get_token(home, "api") == "exchanged-2"


@pytest.mark.parametrize("issued", ["refresh_token", "id-jag", "saml2"])
def test_what_was_issued_and_not_asked_for_is_given_to_nobody(home, company, exchange, issued):
    exchange.issued = {"issued_token_type": f"urn:ietf:params:oauth:token-type:{issued}"}
    refused = log_in(home, exchange, check=False)
    assert refused.status != 0 and "issued_token_type" in refused.stderr and "exchanged-1" not in refused.stderr


def test_a_hundred_accounts_cost_their_lender_one_refresh(home, company, exchange):
    names = [f"api{number}" for number in range(100)]
    for name in names[:-1]:
        borrow(home, exchange, name=name)
    for name in names:
        log_in(home, exchange, name=name)
    results = []

    def ask(name):
        results.append(home.oauthctl("get-token", name, "--force", check=False))

    # It is refreshed while they ask: the server takes the new token alone.
    gate = company.hold("/token")
    threads = [threading.Thread(target=home.oauthctl, args=("get-token", "company", "--force"))]
    threads += [threading.Thread(target=ask, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()
    assert [result.status for result in results] == [0] * 100
    assert company.kinds().count("refresh_token") == 1


def test_a_kill_in_the_middle_loses_nothing(home, agent, company, exchange):
    log_in(home, exchange)
    gate = exchange.hold("/token")
    asking = home.start(home.programs / "oauthctl", "get-token", "api", "--force")
    wait_until(lambda: len(exchanges(exchange)) == 2, 20, "the exchange is under way")
    # First, so that it starts no other agent.
    asking.kill()
    asking.wait()
    agent.kill()
    exchange.holds.clear()
    gate.set()
    agent.start()
    assert home.oauthctl("get-token", "api", "--force").lines[0].startswith("exchanged-")
    assert company.kinds().count("refresh_token") == 0 and get_token(home, "company") == "access-1"


@pytest.mark.parametrize("lines, words", [
    (['grant = "token_exchange"'], "subject_account"),
    (['grant = "token_exchange"', 'subject_account = "api"'], "this account itself"),
    (['grant = "token_exchange"', 'subject_account = "../company"'], "no account name"),
    (['subject_account = "company"'], "token_exchange"),
    (['grant = "token_exchange"', 'subject_account = "company"', 'requested_token_type = "refresh_token"'], "refresh"),
    (['grant = "token_exchange"', 'subject_account = "company"', 'subject_token_type = "saml2"'], "saml2"),
    (['grant = "token_exchange"', 'subject_account = "company"', "[token_parameters]", 'subject_token = "x"'],
     "protocol"),
])
def test_a_file_that_makes_no_exchange_is_refused_with_its_key(home, agent, lines, words):
    result = define(home, "api", 'issuer = "https://sts.example"', 'client_id = "mine"', *lines)
    assert words in result.stderr, result


def test_accounts_that_lend_in_a_circle_are_told_so(home, agent):
    for one, other in (("one", "other"), ("other", "one")):
        told = define(home, one, 'issuer = "https://sts.example"', 'client_id = "mine"', 'grant = "token_exchange"',
                      f'subject_account = "{other}"')
    assert "one.toml:4: subject_account" in told.stderr and "other.toml:4: subject_account" in told.stderr


def test_doctor_tells_of_a_lender_that_is_gone(home, exchange):
    log_in(home, exchange)
    told = home.oauthctl("account", "forget", "company", "--yes")
    assert "api gets its tokens for those of company" in told.stderr
    told = home.oauthctl("doctor", "api", check=False)
    assert told.status == 1 and told.stdout.count("no such account") == 1, told
    told = home.oauthctl("status")
    step = "  name an existing account as subject_account in "
    assert f"api: it needs a token of company, and there is no such account\n{step}" in told.stdout, told
