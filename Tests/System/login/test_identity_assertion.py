"""One company login, tokens of many servers: both legs of an identity assertion grant (ID-JAG), each judged."""

import signal
import threading
import time
from urllib.parse import parse_qsl

import pytest

from login.provider import Provider, use_silent_browser
from support.accounts import account_file, define, edit
from support.login import get_token, wait_until

PREFIX = "urn:ietf:params:oauth:token-type:"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class Company(Provider):
    """It gives assertions for its newest access token, by its own client, for the servers it is on terms with."""

    def __init__(self):
        # What the next assertion waits for.
        self.waits = None
        self.terms, self.asserted, self.issued, self.says = {}, 0, PREFIX + "id-jag", None
        # Seconds that its own tokens live.
        self.life = 3_600
        super().__init__()

    def answer(self, method, url, fields, body):
        form = parse_qsl(body)
        if url.path != "/token" or ("grant_type", EXCHANGE) not in form:
            status, headers, answer = super().answer(method, url, fields, body)
            return status, headers, {**answer, "expires_in": self.life} if url.path == "/token" else answer
        wanted = {"grant_type": EXCHANGE, "client_id": "company-client", "subject_token": f"access-{self.tokens}",
                  "subject_token_type": PREFIX + "access_token", "requested_token_type": PREFIX + "id-jag"}
        rest = {name: value for name, value in form if name not in wanted}
        self.seen.append(("leg 1", dict(form)))
        if self.waits:
            self.waits.wait(60)
        if self.says:
            return "400 Bad Request", {}, {"error": self.says}
        if len(form) != len(dict(form)) or wanted.items() - dict(form).items() or self.terms.get(
                rest.get("audience")) != rest:
            return "400 Bad Request", {}, {"error": "invalid_grant"}
        self.asserted += 1
        issued = {"issued_token_type": self.issued} if self.issued else {}
        return "200 OK", {}, {"access_token": f"assertion.{self.asserted}.x", "token_type": "N_A", "expires_in": 300,
                              **issued}


class Resource(Provider):
    """It takes the company's assertions, each once."""

    def __init__(self, company):
        self.company, self.used = company, 0
        super().__init__()
        company.terms[self.issuer] = {"audience": self.issuer, "resource": self.url, "scope": "read"}

    def answer(self, method, url, fields, body):
        if url.path != "/token":
            return super().answer(method, url, fields, body)
        form = parse_qsl(body, strict_parsing=True)
        fresh = f"assertion.{self.company.asserted}.x"
        self.seen.append(("leg 2", dict(form)))
        if dict(form) != {"grant_type": JWT_BEARER, "assertion": fresh, "scope": "read", "resource": self.url,
                          "client_id": "resource-client"} or self.used == self.company.asserted:
            return "400 Bad Request", {}, {"error": "invalid_grant"}
        self.used = self.company.asserted
        self.tokens += 1
        return "200 OK", {}, {"access_token": f"access-{self.tokens}", "token_type": "Bearer", "expires_in": 3600}


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


@pytest.fixture
def company(home, agent):
    with Company() as provider:
        define(home, "company", f'issuer = "{provider.issuer}"', 'client_id = "company-client"')
        home.oauthctl("vault", "create", check=False)
        home.oauthctl("login", "company")
        yield provider


@pytest.fixture
def resource(company):
    with Resource(company) as server:
        yield server


def write(home, server, name="mcp"):
    define(home, name, f'issuer = "{server.issuer}"', 'client_id = "resource-client"', 'grant = "id_jag"',
           f'token_endpoint = "{server.issuer}/token"', 'subject_account = "company"',
           # Until a login keeps its ID token the servers here take the other one.
           'subject_token_type = "access_token"', f'resource = "{server.url}"', 'scope = "read"')


def log_in(home, server, name="mcp", check=True):
    write(home, server, name)
    return home.oauthctl("login", name, "--accept-changes", check=check)


def legs(*servers):
    return [kind for server in servers for kind, _ in server.seen if kind.startswith("leg")]


def test_a_company_login_gives_the_token_of_another_server_in_two_legs(home, company, resource):
    log_in(home, resource)
    assert get_token(home, "mcp") == "access-1" and legs(company, resource) == ["leg 1", "leg 2"]
    assert home.oauthctl("curl", resource.url).stdout == '{"hello": "world"}'
    assert home.oauthctl("get-token", "mcp", "--force").lines == ["access-2"]
    assert legs(company, resource) == ["leg 1"] * 2 + ["leg 2"] * 2


def test_one_login_serves_many_servers(home, company):
    servers = [Resource(company) for _ in range(5)]
    try:
        for number, server in enumerate(servers):
            log_in(home, server, f"mcp{number}")
            assert get_token(home, f"mcp{number}") == "access-1"
        assert company.kinds().count("authorize") == 1
    finally:
        for server in servers:
            server.__exit__(None, None, None)


def test_the_companys_token_goes_to_the_company_alone(home, company, resource):
    log_in(home, resource)
    assert "access-1" in str(company.seen) and "company-client" not in str(resource.seen)
    assert all("subject_token" not in form for _, form in resource.seen)


def test_an_assertion_that_the_company_refuses_is_a_login_of_the_company(home, company, resource):
    log_in(home, resource)
    company.says = "invalid_grant"
    refused = home.oauthctl("get-token", "mcp", "--force", check=False)
    assert refused.status == 4 and "oauthctl login company" in refused.stderr, refused
    # Its token was got anew before that was believed.
    assert company.kinds().count("refresh_token") == 1
    company.says = None
    home.oauthctl("login", "company")
    assert home.oauthctl("get-token", "mcp", "--force").lines == ["access-2"]


def test_a_server_that_the_company_is_not_on_terms_with_is_told(home, company, resource):
    company.says = "invalid_target"
    refused = log_in(home, resource, check=False)
    assert refused.status == 9 and "invalid_target" in refused.stderr and legs(resource) == []
    # Whose right is missing is said, and no secret of the company's client is asked for.
    company.says = "unauthorized_client"
    refused = home.oauthctl("login", "mcp", "--accept-changes", check=False)
    assert refused.status == 9 and "does not let that account's client exchange tokens" in refused.stderr, refused
    assert "to allow the client company-client the grant urn:" in refused.stderr and "secret" not in refused.stderr


@pytest.mark.parametrize("issued", [PREFIX + "refresh_token", None], ids=["another token", "who knows"])
def test_what_is_no_identity_assertion_is_not_sent_on(home, company, resource, issued):
    """A server that knows none of this gives an access token of the company's user."""
    company.issued = issued
    refused = log_in(home, resource, check=False)
    assert refused.status != 0 and "issued_token_type" in refused.stderr and legs(resource) == []


def test_an_assertion_that_is_refused_is_got_anew_once_and_ends_no_login(home, company, resource):
    log_in(home, resource)
    resource.company = type("Other", (), {"asserted": -1})
    refused = home.oauthctl("get-token", "mcp", "--force", check=False)
    assert refused.status == 9 and legs(company) == ["leg 1"] * 3 and legs(resource) == ["leg 2"] * 3
    assert company.kinds().count("refresh_token") == 0
    resource.company = company
    log_in(home, resource)
    assert get_token(home, "mcp") == "access-2"


def test_a_login_without_an_id_token_says_so(home, company, resource):
    define(home, "mcp", f'issuer = "{resource.issuer}"', 'client_id = "resource-client"', 'grant = "id_jag"',
           f'token_endpoint = "{resource.issuer}/token"', 'subject_account = "company"')
    refused = home.oauthctl("login", "mcp", "--accept-changes", check=False)
    assert refused.status == 4 and "oauthctl login company" in refused.stderr and "openid" in refused.stderr
    assert legs(company, resource) == []


def test_a_change_between_the_two_ways_to_use_another_accounts_token_is_agreed_to(home, company, resource):
    log_in(home, resource)
    edit(home, "mcp", grant='"token_exchange"')
    refused = home.oauthctl("get-token", "mcp", "--force", check=False)
    assert refused.status == 3 and "grant" in refused.stderr and legs(resource) == ["leg 2"]


def wait_for_the_lender(home, company, resource, *words):
    """A caller who waits for the company's refresh, which goes on when the event is set."""
    company.life = 6
    define(home, "company", f'issuer = "{company.issuer}"', 'client_id = "company-client"', 'keep = "on-demand"')
    home.oauthctl("login", "company", "--accept-changes")
    log_in(home, resource)
    edit(home, "mcp", allowed_scope='"admin"')
    time.sleep(7)
    company.life = 3_600
    answer = company.hold("/token")
    caller = home.start(home.programs / "oauthctl", "get-token", "mcp", *words)
    wait_until(lambda: "refresh_token" in company.kinds(), 20, "the lender's refresh is under way")
    return answer, caller


def expect_nothing_more(home, company, resource, answer, caller):
    company.holds.clear()
    answer.set()
    caller.communicate(timeout=60)
    assert caller.returncode != 0
    wait_until(lambda: get_token(home, "company") == f"access-{company.tokens}", 20, "the refresh has ended")
    # Nothing tells that nothing more is sent.
    time.sleep(1)
    assert legs(company, resource) == ["leg 1", "leg 2"]


@pytest.mark.parametrize("how", ["changed", "logged out", "removed"])
def test_nothing_is_asked_for_a_login_that_was_changed_while_its_lender_was_waited_for(home, company, resource, how):
    answer, caller = wait_for_the_lender(home, company, resource, "--force")
    if how == "changed":
        edit(home, "mcp", scope='"read admin"')
    elif how == "removed":
        account_file(home, "mcp").unlink()
        home.oauthctl("reload", check=False)
    else:
        home.oauthctl("logout", "mcp")
    expect_nothing_more(home, company, resource, answer, caller)


def test_nor_for_a_scope_that_was_taken_out_meanwhile(home, company, resource):
    answer, caller = wait_for_the_lender(home, company, resource, "--scope", "admin")
    edit(home, "mcp", allowed_scope=None)
    expect_nothing_more(home, company, resource, answer, caller)


@pytest.mark.parametrize("how", ["given up", "forgotten"])
def test_no_refresh_of_the_lender_is_spent_on_a_login_that_has_ended(home, company, resource, how):
    """The company refuses its own token, which may only be old, once nobody waits any more."""
    company.says, company.waits = "invalid_grant", threading.Event()
    write(home, resource)
    home.oauthctl("reload")
    caller = home.start(home.programs / "oauthctl", "login", "mcp", "--accept-changes")
    wait_until(lambda: "leg 1" in company.kinds(), 20, "the company is asked")
    if how == "given up":
        caller.send_signal(signal.SIGINT)
    else:
        home.oauthctl("account", "forget", "mcp", "--yes")
    caller.communicate(timeout=60)
    company.waits.set()
    # Nothing tells that nothing is sent.
    time.sleep(1)
    assert caller.returncode != 0 and "refresh_token" not in company.kinds()
