"""What else is given or sent after a machine stood still: ID tokens, and what a client signs with the time."""

import base64
import json
import threading
import time

import pytest

from faults.paused import METADATA, TellsTime, TimedProvider, date_after, define_at, wall
from login.assertion_judge import Judge
from support.accounts import define
from support.login import wait_until
from support.wire import Wire


def import_token(home, name="work"):
    """One of an hour, from before anything was known of its server's time."""
    with Wire(home.socket) as wire:
        wire.call("account.import", account=name, refresh_token="refresh-0", access_token="imported",
                  expires_at=int(time.time()) + 3_600)


class OpenID(TimedProvider):
    """Each answer of its token endpoint has an ID token of half an hour, of `subject`."""

    subject = "alice"

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path == "/token":
            now = int(time.time() + self.ahead)
            claims = {"iss": self.issuer, "sub": self.subject, "aud": "mine", "iat": now, "exp": now + 1_800}
            if "authorization_code" in body:
                claims["nonce"] = self.form("authorize")["nonce"]
            parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
                     for part in ({"alg": "RS256"}, claims)]
            answer |= {"scope": "openid", "id_token": ".".join(parts) + ".c2ln"}
        return status, headers, answer


def test_no_id_token_is_given_after_its_end(home, wall):
    with OpenID() as server:
        server.define(home, 'scope = "openid"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        first = home.oauthctl("get-token", "work", "--type", "id").stdout
        server.ahead = 7_200
        wall.set(7_200)
        assert home.oauthctl("get-token", "work", "--type", "id").stdout != first
        assert server.kinds().count("refresh_token") == 1


class TimedJudge(TellsTime, Judge):
    """Takes assertions by its time, once `is_strict`."""

    is_strict = False

    def proves(self, form, path):
        return super().proves(form, path) if self.is_strict else None


@pytest.mark.parametrize("command", ["login", "logout"])
def test_what_a_client_signs_has_the_time_of_now(home, wall, command):
    """The judge's time is this machine's; before the pause both were two hours behind."""
    wall.set(-7_200)
    with TimedJudge() as server:
        server.ahead = -7_200
        server.define(home, 'scope = "read"', 'keep = "on-demand"', 'client_authentication = "private_key_jwt"',
                      f'token_endpoint = "{server.issuer}/token"', f'revocation_endpoint = "{server.issuer}/revoke"',
                      f'authorization_endpoint = "{server.issuer}/authorize"')
        server.register(home.oauthctl("key", "create", "work", "--algorithm", "ES256").stdout, "ES256")
        home.oauthctl("login", "work")
        server.is_strict, server.ahead = True, 0
        wall.set(0)
        home.oauthctl(command, "work")
        assert "refused" not in server.kinds()


@pytest.mark.parametrize("age", [0, 2_000])
def test_a_server_whose_metadata_come_out_of_a_cache_tells_the_time(home, wall, age):
    class Cached(TimedProvider):
        def answer(self, method, url, fields, body):
            status, headers, answer = super().answer(method, url, fields, body)
            if url.path.startswith("/.well-known/"):
                headers |= {"Date": date_after(self.ahead - age), "Age": str(age)}
            return status, headers, answer

    with Cached() as server:
        server.define(home, 'scope = "read"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        first = home.oauthctl("get-token", "work").stdout
        server.ahead = 7_200
        wall.set(7_200)
        assert home.oauthctl("get-token", "work").stdout != first


@pytest.mark.parametrize("date", [None, "soon"])
def test_of_a_server_that_tells_no_time_the_wall_clock_counts(home, wall, date):
    class Dateless(TimedProvider):
        def answer(self, method, url, fields, body):
            status, headers, answer = super().answer(method, url, fields, body)
            headers.pop("Date")
            return status, headers | ({"Date": date} if date else {}), answer

    with Dateless() as server:
        server.define(home, 'scope = "read"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        first = home.oauthctl("get-token", "work").stdout
        wall.set(7_200)
        assert home.oauthctl("get-token", "work").stdout != first


def test_another_account_s_login_hides_no_pause(home, wall):
    with TimedProvider() as server:
        define_at(home, server)
        define_at(home, server, name="other")
        import_token(home)
        server.ahead = 7_200
        wall.set(7_200)
        home.oauthctl("login", "other")
        assert home.oauthctl("get-token", "work").stdout != "imported\n"


def test_a_server_that_is_back_later_than_the_wall_clock_is_asked_again(home, wall):
    """As after a pause whose network comes back some seconds later: until then the token is all there is."""
    with TimedProvider() as server:
        server.define(home, 'scope = "read"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        first = home.oauthctl("get-token", "work").stdout
        silent = server.hold(METADATA)
        server.ahead = 7_200
        wall.set(7_200)
        assert home.oauthctl("get-token", "work").stdout == first
        silent.set()
        wait_until(lambda: home.oauthctl("get-token", "work").stdout != first, 20, "the server tells")
        assert server.kinds().count("refresh_token") == 1


def test_silent_servers_take_no_places_by_the_question_for_their_time(home, wall):
    """80 of them: a refresh and a login at another server go on."""
    silent = [TimedProvider() for _ in range(80)]
    with TimedProvider() as server:
        for number, one in enumerate(silent):
            one.hold(METADATA)
            define_at(home, one, name=f"silent{number}")
            import_token(home, f"silent{number}")
        for name in ("work", "other"):
            define_at(home, server, name=name)
        home.oauthctl("login", "work")
        server.ahead = 600
        wall.set(600)
        began = time.monotonic()
        asking = [home.start(home.programs / "oauthctl", *words)
                  for words in (("get-token", "work", "--force", "--timeout", "2"), ("login", "other"))]
        for one in asking:
            one.communicate(timeout=60)
            assert one.returncode == 0
        # All of them are still held: a place was there all the while.
        assert time.monotonic() - began < 3 and sum(one.connections for one in silent) < 24
    for one in silent:
        one.__exit__()


def test_a_caller_that_waits_for_the_time_is_answered_by_the_next_agent(home, wall):
    with TimedProvider() as server:
        server.define(home, 'scope = "read"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        told = server.hold(METADATA)
        server.ahead = 600
        wall.set(600)
        asking = home.start(home.programs / "oauthctl", "get-token", "work", "--timeout", "30")
        wait_until(lambda: server.connections and home.agent.log.read_text().count("servers are asked"), 10, "asked")
        home.agent.stop()
        threading.Timer(1, told.set).start()
        home.agent.start(environment=wall.environment)
        assert asking.communicate(timeout=60)[0] == "access-1\n"


def test_an_account_without_a_token_signs_with_the_time_of_now(home, wall):
    """Another account of the same server has a token, so that its time is asked for."""
    wall.set(-7_200)
    with TimedJudge() as server:
        server.ahead = -7_200
        for name in ("work", "other"):
            define_at(home, server, 'client_authentication = "private_key_jwt"', name=name)
            server.register(home.oauthctl("key", "create", name, "--algorithm", "ES256").stdout, "ES256")
        home.oauthctl("login", "work")
        with Wire(home.socket) as wire:
            wire.call("account.import", account="other", refresh_token="refresh-0")
        server.is_strict, server.ahead = True, 0
        wall.set(0)
        home.oauthctl("get-token", "other")
        assert "refused" not in server.kinds()


def test_an_id_token_is_asked_about_again_when_the_access_token_has_ended(home, wall):
    class Short(OpenID):
        def answer(self, method, url, fields, body):
            status, headers, answer = super().answer(method, url, fields, body)
            return status, headers, answer | {"expires_in": 1} if url.path == "/token" else answer

    with Short() as server:
        server.define(home, 'scope = "openid"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        first = home.oauthctl("get-token", "work", "--type", "id").stdout
        # The access token's life.
        time.sleep(1.5)
        silent = server.hold(METADATA)
        server.ahead = 7_200
        wall.set(7_200)
        assert home.oauthctl("get-token", "work", "--type", "id").stdout == first
        silent.set()
        wait_until(lambda: home.oauthctl("get-token", "work", "--type", "id").stdout != first, 20, "the server tells")


def test_an_agent_that_stops_gives_no_token_in_doubt(home, wall):
    """It waits for another server's answer, and asks nobody any more."""
    with TimedProvider() as server, TimedProvider() as slow:
        for name, one in {"work": server, "slow": slow}.items():
            define_at(home, one, name=name)
            home.oauthctl("login", name)
        held = slow.hold("/token")
        asking = home.start(home.programs / "oauthctl", "get-token", "slow", "--force", "--timeout", "30")
        wait_until(lambda: "refresh_token" in slow.kinds(), 20, "a refresh")
        home.agent.process.terminate()
        wait_until(lambda: "stopping" in home.agent.log.read_text(), 20, "it stops")
        server.ahead = slow.ahead = 7_200
        wall.set(7_200)
        with Wire(home.socket) as wire, pytest.raises(Exception, match="stopping|unavailable"):
            wire.call("token.get", account="work", timeout_ms=3_000)
        held.set()
        asking.communicate(timeout=60)
