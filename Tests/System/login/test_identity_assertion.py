"""One company login, tokens of many servers: both legs of an identity assertion grant (ID-JAG), each judged."""

from urllib.parse import parse_qsl

import pytest

from login.provider import Provider, use_silent_browser
from support.accounts import define, edit
from support.login import get_token

PREFIX = "urn:ietf:params:oauth:token-type:"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class Company(Provider):
    """It gives assertions for its newest access token, by its own client, for the servers it is on terms with."""

    def __init__(self):
        self.terms, self.asserted, self.issued, self.says = {}, 0, PREFIX + "id-jag", None
        super().__init__()

    def answer(self, method, url, fields, body):
        form = parse_qsl(body)
        if url.path != "/token" or ("grant_type", EXCHANGE) not in form:
            return super().answer(method, url, fields, body)
        wanted = {"grant_type": EXCHANGE, "client_id": "company-client", "subject_token": f"access-{self.tokens}",
                  "subject_token_type": PREFIX + "access_token", "requested_token_type": PREFIX + "id-jag"}
        rest = {name: value for name, value in form if name not in wanted}
        self.seen.append(("leg 1", dict(form)))
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


def log_in(home, server, name="mcp", check=True):
    define(home, name, f'issuer = "{server.issuer}"', 'client_id = "resource-client"', 'grant = "id_jag"',
           f'token_endpoint = "{server.issuer}/token"', 'subject_account = "company"',
           # Until a login keeps its ID token the servers here take the other one.
           'subject_token_type = "access_token"', f'resource = "{server.url}"', 'scope = "read"')
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
