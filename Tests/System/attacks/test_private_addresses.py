"""A server out there leads to the network around this machine, by names that a name server points there.

Each test is the attack: it was seen to succeed before the programs were mended. The private network and the public one
are both loopback's, in a network namespace whose names are a file's.
"""

import sys
import time
from pathlib import Path

import pytest

from crowd.wall import Wall
from login.provider import Provider, use_silent_browser
from network.identities import Authority
from network.listeners import server_tls
from network.namespaces import isolated, needs_root, replace, run
from support.accounts import define
from support.terminal import run_at_terminal
from support.wire import Wire

# Of those for special purposes this range is one that IANA calls reachable from anywhere (RFC 7535).
PUBLIC, PRIVATE, OWN = "192.175.48.10", "10.11.12.13", "192.175.48.99"
PORT = 8443
FAMILIES = Path(__file__).parents[1] / "network/families.py"
TOOL, INTRANET = f"https://tool.example:{PORT}", f"https://intranet.example:{PORT}"

pytestmark = needs_root


class Server(Provider):
    """A resource and its authorization server at `address`. `documents` are answered as they are, by their paths;
    what it says of itself is taken from `says`."""

    def __init__(self, root, address, tls):
        self.documents, self.says, self.asked = {}, {}, []
        super().__init__(port=PORT, address=address, tls=tls)
        self.root = self.issuer = root
        self.url = root + "/mcp"

    def answer(self, method, url, fields, body):
        self.asked.append(url.path)
        if url.path in self.documents:
            return self.documents[url.path]
        if url.path == "/par":
            return "201 Created", {}, {"request_uri": "urn:x", "expires_in": 90}
        if url.path == "/device":
            return "200 OK", {}, {
                "device_code": "d", "user_code": "U", "verification_uri": self.root + "/u", "expires_in": 60}
        if url.path == "/mcp" and fields.get("authorization") is None:
            return "401 Unauthorized", {
                "WWW-Authenticate": f'Bearer scope="read", resource_metadata="{self.root}/prm"'}, None
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/.well-known/oauth-authorization-server":
            answer = answer | self.says
        return status, headers, answer


class Network:
    """`tool.example` is at a public address and `intranet.example` at a private one."""

    def __init__(self, home, names=(("tool.example", PUBLIC), ("intranet.example", PRIVATE))):
        hosts = home.root / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in names))
        rules = home.root / "nsswitch.conf"
        rules.write_text("hosts: files\n")
        # Refused at once: the network here leads to no name server.
        servers = home.root / "resolv.conf"
        servers.write_text("nameserver 127.0.0.1\n")
        replace("/etc/hosts", hosts)
        replace("/etc/resolv.conf", servers)
        replace("/etc/nsswitch.conf", rules)
        # Addresses that connections end at, and that are none of an interface's, nor the ones that they come from.
        for addresses in ("192.175.48.0/24", "10.0.0.0/8"):
            run("ip", "route", "add", "local", addresses, "dev", "lo", "src", "127.0.0.1")
        self.authority = Authority(home.root / "authority")
        self.tls = server_tls(self.authority.issue("servers", [name for name, _ in names]))
        use_silent_browser(home)
        browser = home.root / "bin" / "browser"
        browser.write_text(browser.read_text().replace("curl -sSL", f"curl -sSL --cacert {self.authority.file}"))
        home.agent.start()

    def server(self, root, address):
        return Server(root, address, self.tls)


def in_network(home, body, **options):
    def inside():
        network = Network(home, **options)
        body(network)
        home.agent.stop()

    isolated(inside, network=True)


def log_in(home, network, url, *more):
    return home.oauthctl("login", "tool", url, "--ca", network.authority.file, *more, check=False)


def log_in_elsewhere(home, network, url):
    """The authorization server is another one than the resource's: a person agrees to it."""
    status, text = run_at_terminal(
        home, home.programs / "oauthctl", "login", "tool", url, "--ca", network.authority.file,
        answers={"[y/N]": "y\n"})
    assert status == 0, text


def lead_by_challenge(server):
    server.documents["/mcp"] = (
        "401 Unauthorized", {"WWW-Authenticate": f'Bearer resource_metadata="{INTRANET}/prm"'}, None)


def lead_by_resource(server):
    server.documents["/prm"] = "200 OK", {}, {"resource": server.url, "authorization_servers": [INTRANET]}


def lead_by(member, path, **more):
    def lead(server):
        server.says = {member: INTRANET + path, **more}

    return lead


LEADS = {
    "resource metadata": (lead_by_challenge, ()),
    "authorization server": (lead_by_resource, ()),
    "registration": (lead_by("registration_endpoint", "/register"), ()),
    "pushed request": (
        lead_by("pushed_authorization_request_endpoint", "/par", require_pushed_authorization_requests=True), ()),
    "device": (lead_by("device_authorization_endpoint", "/device"), ("--device",)),
    "token": (lead_by("token_endpoint", "/token"), ()),
}


@pytest.mark.parametrize("lead", LEADS)
def test_a_server_out_there_leads_no_request_into_a_private_network(home, lead):
    """The names are public and the certificate is good: the address alone tells."""
    change, more = LEADS[lead]

    def attack(network):
        with network.server(TOOL, PUBLIC) as tool, network.server(INTRANET, PRIVATE) as intranet:
            change(tool)
            refused = log_in(home, network, tool.url, *more)
            assert intranet.connections == 0 and intranet.asked == []
            if lead == "resource metadata":
                # What the challenge names is left out, and the server is found at its own host.
                return
            assert refused.status == 3, refused
            assert "intranet.example" in refused.stderr and "private network" in refused.stderr, refused.stderr

    in_network(home, attack)


def test_a_revocation_goes_to_no_private_network_either(home):
    """Its endpoint is the one that no login asks."""
    def attack(network):
        with network.server(TOOL, PUBLIC) as tool, network.server(INTRANET, PRIVATE) as intranet:
            tool.says = {"revocation_endpoint": INTRANET + "/revoke"}
            assert log_in(home, network, tool.url).status == 0
            home.agent.restart()
            home.oauthctl("logout", "tool", check=False)
            assert intranet.connections == 0 and "revoke" not in intranet.kinds()

    in_network(home, attack)


def test_nor_does_the_question_what_time_it_is(home):
    """The login is taken over from another program, so nothing was ever asked for at its token endpoint."""
    wall = Wall(home.root)

    def attack(network):
        home.agent.stop()
        home.agent.start(environment=wall.environment)
        with network.server(TOOL, PUBLIC) as tool, network.server(INTRANET, PRIVATE) as intranet:
            tool.says = {"token_endpoint": INTRANET + "/token"}
            home.oauthctl("vault", "create", check=False)
            define(home, "tool", f'issuer = "{TOOL}"', 'client_id = "mine"', f'ca_file = "{network.authority.file}"')
            with Wire(home.socket) as wire:
                agreed = wire.call("account.import", account="tool", dry_run=True)["binding_digest"]
                wire.call("account.import", account="tool", refresh_token="r", access_token="imported",
                          expires_at=int(time.time()) + 3_600, binding_digest=agreed)
            wall.set(120)
            home.oauthctl("get-token", "tool")
            assert intranet.connections == 0

    in_network(home, attack)


@pytest.mark.parametrize("is_confined", [False, True], ids=["plain", "as by the unit"])
@pytest.mark.parametrize("written", [OWN, f"::ffff:{OWN}"], ids=["IPv4", "within IPv6"])
def test_an_address_of_this_machine_is_none_out_there(home, written, is_confined):
    """A firewall keeps others from what listens here, not its own user. The unit keeps the list of them from us."""
    if is_confined:
        start = home.agent.start
        home.agent.start = lambda **options: start(**{"before": [sys.executable, FAMILIES], **options})

    def attack(network):
        run("ip", "address", "add", f"{OWN}/32", "dev", "lo")
        with network.server(TOOL, PUBLIC) as tool, network.server(INTRANET, OWN) as intranet:
            lead_by_resource(tool)
            refused = log_in(home, network, tool.url)
            assert intranet.connections == 0 and refused.status == 3, refused

    in_network(home, attack, names=(("tool.example", PUBLIC), ("intranet.example", written)))


def test_a_name_with_a_public_and_a_private_address_is_reached_at_the_public_one(home):
    def both(network):
        with network.server(TOOL, PUBLIC) as tool, network.server(INTRANET, PRIVATE) as intranet:
            with network.server(INTRANET, "192.175.48.20") as outside:
                tool.says = {"token_endpoint": INTRANET + "/token"}
                assert log_in(home, network, tool.url).status == 0
                assert intranet.connections == 0 and outside.kinds().count("authorization_code") == 1

    in_network(
        home, both,
        names=(("tool.example", PUBLIC), ("intranet.example", PRIVATE), ("intranet.example", "192.175.48.20")))


def test_a_company_s_own_network_works_as_it_is(home):
    """What a person names is reached wherever it is, and what is within names its neighbours."""
    def work(network):
        with network.server(TOOL, "10.1.1.1") as tool, network.server(INTRANET, PRIVATE) as intranet:
            lead_by_resource(tool)
            intranet.says = {"token_endpoint": TOOL + "/token"}
            log_in_elsewhere(home, network, tool.url)
            assert tool.kinds() == ["authorization_code"] and "register" in intranet.kinds()
            home.oauthctl("get-token", "tool", "--force")

    in_network(home, work, names=(("tool.example", "10.1.1.1"), ("intranet.example", PRIVATE)))


def test_a_server_in_a_private_network_is_reached_where_a_person_names_it(home):
    """The refusal says so: the issuer is the person's word, whatever the resource says."""
    def work(network):
        with network.server(TOOL, PUBLIC) as tool, network.server(INTRANET, PRIVATE) as intranet:
            lead_by_resource(tool)
            done = log_in(home, network, INTRANET)
            assert done.status == 0, done
            assert "authorization_code" in intranet.kinds() and tool.seen == []

    in_network(home, work)


def test_a_login_goes_on_when_its_server_moves_into_a_private_network(home):
    """Some names lead to a company's network from within, and to the public one from outside. The token endpoint has
    answered this login by its certificate; it is not a stranger's any more."""
    hosts = home.root / "hosts"

    def work(network):
        with network.server(TOOL, PUBLIC) as tool:
            with network.server(INTRANET, "192.175.48.20"):
                tool.says = {"token_endpoint": INTRANET + "/token"}
                assert log_in(home, network, tool.url).status == 0
            hosts.write_text(f"127.0.0.1 localhost\n{PUBLIC} tool.example\n{PRIVATE} intranet.example\n")
            with network.server(INTRANET, PRIVATE) as inside:
                home.oauthctl("get-token", "tool", "--force")
                assert inside.kinds() == ["refresh_token"]

    in_network(home, work, names=(("tool.example", PUBLIC), ("intranet.example", "192.175.48.20")))
