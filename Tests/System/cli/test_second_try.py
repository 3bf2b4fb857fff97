"""What somebody reads who mistyped, pasted the wrong thing, or said no: once, with what to do next."""

import json
import re
import urllib.parse

import pytest

from support.login import get_token, log_in
from world.browser import Browser


@pytest.mark.parametrize("words", [
    ("get-token", "wrk"), ("login", "wrk"), ("logout", "wrk"), ("account", "show", "wrk"),
    ("account", "forget", "wrk", "--yes"), ("doctor", "wrk"), ("curl", "wrk", "http://127.0.0.1:1/")])
def test_a_misspelled_account_is_answered_with_the_one_that_was_meant(home, agent, dot, words):
    log_in(home, dot)
    result = home.oauthctl(*words, check=False)
    assert result.status != 0 and re.search(r"did you mean work\?|run: oauthctl login work ", result.stderr), result
    assert get_token(home)


def test_a_refused_code_is_told_once_to_whoever_pasted_it_and_asked_for_anew(home, agent, dot):
    command = home.start(
        home.programs / "oauthctl", "login", "work", dot.issuer, "--client-id", "native-app", "--scope", "read",
        "--no-browser", stdin=-1)
    url = next(found.group() for line in command.stderr if (found := re.search(r"http\S+[?&]state=\S+", line)))
    sent = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
    forged = urllib.parse.urlencode({"code": "forged", "state": sent["state"][0], "iss": dot.issuer})
    told = ""
    for paste in ("", "no address", f"{sent['redirect_uri'][0]}?{forged}"):
        command.stdin.write(paste + "\n")
        command.stdin.flush()
        for line in command.stderr:
            told += line
            if re.search("(P|, and p)aste the .*: $", line):
                break
    redirect = Browser(dot.user, dot.password).open(url, follow_redirect=False)
    _, rest = command.communicate(redirect + "\n", timeout=60)
    assert command.returncode == 0, told + rest
    assert (told + rest).count("invalid_grant") == 1 and told.count("that is no address") == 1, told + rest
    assert told.splitlines()[-1].startswith("The login goes on: open its address again")


def test_a_change_is_there_to_be_accepted_as_soon_as_it_is_written(home, agent, dot):
    log_in(home, dot)
    file = home.config / "oauthctl" / "accounts.d" / "work.toml"
    for host in ("one.example", "two.example", "three.example"):
        text = re.sub(r"(?m)^hosts = .*\n", "", file.read_text())
        file.write_text(text.replace("client_id", f'hosts = ["{host}"]\nclient_id'))
        assert host in home.oauthctl("account", "accept", "work", "--yes").stderr


def test_json_is_asked_for_alike_everywhere_and_accounts_tell_what_chooses_them(home, agent, dot):
    log_in(home, dot)
    file = home.config / "oauthctl" / "accounts.d" / "work.toml"
    file.write_text(file.read_text() + 'default = true\npaths = ["team"]\n')
    home.oauthctl("reload")
    [account] = json.loads(home.oauthctl("account", "list", "--json").stdout)["accounts"]
    assert account["default"] is True and account["paths"] == ["team"]
    assert json.loads(home.oauthctl("get-token", "work", "--json").stdout)["access_token"] == get_token(home)
    both = home.oauthctl("get-token", "work", "--json", "--format", "header", check=False)
    assert both.status == 64 and both.stdout == "" or json.loads(both.stdout)["error"]["exit"] == 64
