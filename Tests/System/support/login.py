"""Steps that many tests begin with."""

import time

from world.accounts import CLIENTS


def log_in(home, server, name="work", client="native-app", answer="allow", arguments=(), check=True):
    """`oauthctl login NAME ISSUER` through the server's own pages; returns the command's result."""
    home.use_browser(server.user, server.password, answer, server.ca_file)
    secret = CLIENTS[client].secret
    options = ["--client-id", client, "--scope", "read"]
    if secret:
        options += ["--client-secret-stdin"]
    if server.ca_file:
        options += ["--ca", server.ca_file]
    return home.oauthctl(
        "login", name, server.issuer, *options, *arguments, stdin=secret + "\n" if secret else None, check=check)


def get_token(home, name="work"):
    """What `oauthctl get-token` prints: the token alone on its line."""
    result = home.oauthctl("get-token", name)
    assert len(result.lines) == 1 and result.stderr == "", result
    return result.lines[0]


def live_tokens(home, server, margin, generations):
    """What `get-token` gives, again and again, until there were so many different tokens: each lives when it is handed
    out, and then for `margin` seconds at least. Where it takes longer than that to ask the server, the answer says
    nothing."""
    tokens, end = [], time.monotonic() + 90
    while len(set(tokens)) < generations:
        assert time.monotonic() < end, f"{len(set(tokens))} tokens in 90 s"
        asked = time.monotonic()
        token = get_token(home)
        lives = server.say_hello(token) == 200
        assert lives or time.monotonic() - asked > margin, f"token {len(set(tokens))} was dead when it was handed out"
        tokens.append(token)
    return tokens


def wait_until(condition, seconds, what):
    """Poll until `condition()` is true and return what it returned; the test fails after `seconds`."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return found
