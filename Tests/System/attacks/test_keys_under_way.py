"""What changes while a key is made or a proof is signed: both wait for keys that are being made.

Each test is the attack: it was seen to succeed before the program was mended."""

import contextlib
import json
import threading
import time

import pytest

from login.assertion_judge import Judge
from login.dpop_steps import home, log_in, provider
from support.accounts import account_file, define, edit

CLIENT = ('client_id = "mine"', 'client_authentication = "private_key_jwt"')


@contextlib.contextmanager
def keys_under_way(home, issuer):
    """Inside, the agent makes keys for another account, one after the other, each for some time."""
    define(home, "other", f'issuer = "{issuer}"', *CLIENT)
    create = ("key", "create", "other", "--algorithm", "RS256", "--replace")
    makers = [home.start(home.programs / "oauthctl", *create) for _ in range(4)]
    # Long enough for most of them to be asked for; with fewer the others wait less.
    time.sleep(0.25)
    try:
        yield
    finally:
        for maker in makers:
            maker.communicate(timeout=100)


REFUSED = "asked for another server than the file names now; it is not kept"


@pytest.mark.parametrize("command", ["create", "import"])
def test_a_key_is_for_the_server_of_the_moment_that_it_was_asked_for(home, agent, command):
    given = None
    if command == "import":
        given = home.run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256").stdout
    with Judge() as good, Judge() as evil:
        evil.audience = None
        lines = [f'issuer = "{good.issuer}"', *CLIENT]
        home.oauthctl("vault", "create")
        for _ in range(5):
            define(home, "work", *lines)
            home.oauthctl("reload")
            with keys_under_way(home, good.issuer):
                asked = home.start(
                    home.programs / "oauthctl", "key", command, "work", "--replace", stdin=-1 if given else None)
                if given:
                    asked.stdin.write(given)
                    asked.stdin.close()
                    asked.stdin = None
                time.sleep(0.25)
                account_file(home).write_text("\n".join([*lines, f'token_endpoint = "{evil.issuer}/token"']) + "\n")
                _, told = asked.communicate(timeout=100)
            # On a busy machine the file changes before the key is asked for: then that is the server.
            if evil.issuer not in told:
                login = home.oauthctl("login", "work", check=False)
                assert login.status != 0, (told, login)
                assert not [kind for kind in evil.kinds() if kind in ("refused", "authorization_code")]
            if REFUSED in told:
                return
        raise AssertionError(f"no key was made while the file changed; the last one: {told}")


@pytest.mark.parametrize("act", ["host", "lock", "logout", "forget", "issuer"])
def test_no_proof_is_given_for_a_token_whose_right_has_ended(home, agent, provider, act):
    """Of many callers each waits for the signatures of those before it."""
    provider.algorithms = ["RS256"]
    log_in(home, provider)
    answers = []

    def listen(wire):
        for _ in range(60):
            answers.append((json.loads(wire.read_line()), time.monotonic()))

    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(agent.connect()) for _ in range(3)]
        for wire in wires:
            for _ in range(60):
                wire.request("dpop.proof", account="work", url=provider.issuer + "/api", method="GET")
        callers = [threading.Thread(target=listen, args=[wire]) for wire in wires]
        for caller in callers:
            caller.start()
        if act in ("host", "issuer"):
            edit(home, "work", **{act if act == "issuer" else "hosts": {
                "host": '["https://elsewhere.example"]', "issuer": '"https://elsewhere.example"'}[act]})
        else:
            home.oauthctl(*{"lock": ("vault", "lock"), "logout": ("logout", "work"), "forget": (
                "account", "forget", "work", "--yes")}[act])
        end = time.monotonic()
        for caller in callers:
            caller.join()
    late = ["result" in answer for answer, moment in answers if moment > end + 0.1]
    assert late and not any(late), late
