"""A server that puts what it was sent into an ID token: it reaches no terminal and no log."""

import json

from attacks.test_server import (  # noqa: F401  (a fixture)
    CLIENT_SECRET, GRANTED, everything_said, id_token, parrot, spellings, told)
from network.accounts import log_in_by_password
from world.accounts import PASSWORD


def test_the_issuer_of_an_id_token_tells_no_secret_of_the_login(home, parrot):  # noqa: F811
    said = []
    for spelling in spellings("", ""):
        for ends in "%s", "https://%s.example/":
            parrot.say = lambda parts, spelling=spelling, ends=ends: (
                "200 OK", json.dumps({**GRANTED, "id_token": id_token(parrot, iss=ends % parts[spelling][:1000])}), [])
            login = log_in_by_password(home, "work", CLIENT_SECRET, check=False)
            said.append(login.stdout + login.stderr)
    # The refresh of a login that was good.
    parrot.say = lambda parts: ("200 OK", json.dumps({**GRANTED, "id_token": id_token(parrot)}), [])
    log_in_by_password(home, "work", CLIENT_SECRET)
    parrot.say = lambda parts: (
        "200 OK", json.dumps({**GRANTED, "id_token": id_token(parrot, iss=parts["decoded"][:1000])}), [])
    home.oauthctl("get-token", "work", "--force")
    shown = home.oauthctl("account", "show", "work").stdout
    assert "is of another issuer" in shown
    assert told("\n".join(said) + shown + everything_said(home)) == []
    assert "is of another issuer" in "".join(said) and "example" not in home.agent.log.read_text()


def test_a_name_in_the_id_token_of_a_login_by_a_kept_password_tells_none_of_it(home, parrot):  # noqa: F811
    parrot.say = lambda parts: ("200 OK", json.dumps({**GRANTED, "id_token": id_token(parrot)}), [])
    log_in_by_password(home, "work", CLIENT_SECRET)
    home.oauthctl("login", "work", "--password-stdin", "--keep-password", stdin=PASSWORD + "\n")
    count = parrot.count

    def say(parts):
        if "grant_type=refresh_token" in parts["decoded"]:
            return "400 Bad Request", json.dumps({"error": "invalid_grant"}), []
        return "200 OK", json.dumps(
            {**GRANTED, "id_token": id_token(parrot, preferred_username=PASSWORD)}), []

    parrot.say = say
    home.oauthctl("get-token", "work", "--force")
    assert parrot.count >= count + 2, "the agent has logged in by itself"
    assert told(everything_said(home) + home.oauthctl("account", "show", "work").stdout) == []
