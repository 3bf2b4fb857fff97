"""Proofs and ID tokens that are waited for are of the account that is meant when they are given, as it is then."""

import contextlib
import json
import threading
import time

import pytest

from attacks.test_waiting_callers import Api, a_refresh_under_way, log_two_in
from login.dpop_steps import log_in, provider
from login.provider import use_silent_browser
from login.test_identity import log_in as log_in_for_an_id_token
from login.test_identity import server
from support.accounts import account_file, edit
from support.wire import WireError

CONNECTIONS, EACH = 5, 60


def exchange_defaults(home):
    edit(home, "work", default="false")
    edit(home, "two", default="true")


@pytest.mark.parametrize("how", ["scope", "default"])
def test_a_proof_that_waits_for_others_is_judged_again(home, agent, provider, how):
    # The signature that takes longest, so that they wait for each other.
    provider.algorithms = ["RS256"]
    use_silent_browser(home)
    log_in(home, provider)
    asked = {"url": f"{provider.issuer}/api", "method": "GET"}
    if how == "scope":
        edit(home, "work", allowed_scope='"admin"')
        asked |= {"account": "work", "scope": ["admin"]}
    else:
        account_file(home, "two").write_text(account_file(home).read_text() + "default = false\n")
        edit(home, "work", default="true")
        home.oauthctl("login", "two")
    answers = []
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(agent.connect()) for _ in range(CONNECTIONS)]
        wires[0].call("dpop.proof", **asked)
        for wire in wires:
            for _ in range(EACH):
                wire.request("dpop.proof", **asked)

        def listen(wire):
            answers.extend((json.loads(wire.read_line()), time.monotonic()) for _ in range(EACH))

        listeners = [threading.Thread(target=listen, args=[wire]) for wire in wires]
        for listener in listeners:
            listener.start()
        if how == "scope":
            edit(home, "work", allowed_scope=None)
        else:
            exchange_defaults(home)
        changed = time.monotonic()
        for listener in listeners:
            listener.join()
    of_before = [at for answer, at in answers if answer.get("result", {}).get("account") == "work"]
    # What was signed before the change may still be on its way.
    assert len(of_before) < len(answers) and max(of_before, default=0) < changed + 0.3


def test_an_id_token_that_is_waited_for_is_of_the_account_that_is_the_default_then(home, agent, server):
    server.script(id_token_life_s=3)
    log_in_for_an_id_token(home, server)
    account_file(home, "two").write_text(account_file(home).read_text() + "default = false\n")
    edit(home, "work", default="true")
    home.oauthctl("login", "two")
    server.script(delay_ms={"token": 2_500}, id_token_life_s=3_600)
    got = []

    def ask():
        with agent.connect() as wire:
            try:
                got.append(wire.call("token.id")["account"])
            except WireError as error:
                got.append(str(error))

    asks = threading.Thread(target=ask)
    asks.start()
    # It waits for the refresh; nothing tells so.
    time.sleep(1)
    exchange_defaults(home)
    asks.join(60)
    assert got != ["work"] and len(got) == 1


def test_a_doubt_that_came_while_a_caller_waited_is_told(home, agent):
    with Api() as one:
        log_two_in(home, one, ("default = true", "default = false"), life=3)
        # Their tokens have ended by then.
        time.sleep(4)
        one.life = 3_600
        answer = one.hold("/token")
        caller = home.start(home.programs / "oauthctl", "get-token", "--url", f"{one.issuer}/api")
        a_refresh_under_way(one)
        file = account_file(home, "two")
        # One that the agent has never read: it may be meant.
        file.unlink()
        home.oauthctl("reload", check=False)
        file.write_text("this is no TOML\n")
        home.oauthctl("reload", check=False)
        one.release(answer)
        _, told = caller.communicate(timeout=60)
        again = home.oauthctl("get-token", "--url", f"{one.issuer}/api").stderr
        assert "is taken" in again and "is taken" in told, (told, again)
