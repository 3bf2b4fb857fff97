"""A clock that is hours wrong costs nothing and is told."""

import datetime
import email.utils
import json
import re

from network.listeners import Relay
from support.dev_server import DevServer
from support.accounts import define


class Later(Relay):
    """Passes everything on; the server's clock is `hours` ahead in it, and the server has the relay's address."""

    def __init__(self, server, hours):
        self.hours = datetime.timedelta(hours=hours)
        self.server = server.issuer.encode()
        super().__init__(("127.0.0.1", int(server.issuer.rpartition(":")[2])), change=self.shift)
        self.issuer = f"http://127.0.0.1:{self.port}"

    def shift(self, data):
        # Ports that the kernel chooses have five digits: no length changes.
        data = data.replace(self.server, self.issuer.encode())
        return re.sub(rb"(?im)^date: ([^\r\n]+)", self.date, data)

    def date(self, found):
        told = email.utils.parsedate_to_datetime(found.group(1).decode())
        return b"Date: " + email.utils.format_datetime(told + self.hours, usegmt=True).encode()


def test_a_wrong_clock_is_told_and_costs_no_life_of_a_token(home, agent, request):
    server = DevServer(home)
    request.addfinalizer(server.stop)
    server.script(access_token_life_s=600)
    with Later(server, hours=3) as late:
        define(
            home, "work", f'issuer = "{late.issuer}"', f'token_endpoint = "{late.issuer}/token"',
            'client_id = "dev-machine"', 'grant = "client_credentials"')
        home.oauthctl("secret", "set", "work", "client_secret", stdin="dev-machine-secret\n")
        home.oauthctl("login", "work")
        told = "this machine's clock is 3 h behind that of 127.0.0.1"
        assert told in home.oauthctl("status").stdout
        findings = home.oauthctl("doctor", "--json", check=False).stdout
        assert told in json.dumps(json.loads(findings), ensure_ascii=False)
        with home.agent.connect() as wire:
            assert 590 <= wire.call("token.get", account="work")["expires_in_s"] <= 600
            late.hours = datetime.timedelta(0)
            wire.call("token.get", account="work", force=True)
            assert wire.call("agent.status")["degraded"] == []


def test_a_login_that_has_only_begun_tells_a_wrong_clock(home, agent, request):
    """Who cannot log in for his clock hears of it before there is any token."""
    server = DevServer(home)
    request.addfinalizer(server.stop)
    with Later(server, hours=3) as late:
        define(home, "work", f'issuer = "{late.issuer}"', 'client_id = "dev"')
        with home.agent.connect() as wire:
            assert late.issuer in wire.call("login.start", request_id="one", account="work")["authorization_url"]
            degraded = wire.call("agent.status")["degraded"]
        assert degraded == ["this machine's clock is 3 h behind that of 127.0.0.1"]
