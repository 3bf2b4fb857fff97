"""`oauthctl login` on a real server's login and consent pages, and what is there afterwards."""

import json
import re
import urllib.error
import urllib.parse
import urllib.request

import pytest

from support.dev_server import DevServer
from support.login import get_token, log_in
from world.accounts import CLIENTS
from world.browser import Browser


@pytest.mark.parametrize("client", ["native-app", "web-app"])
def test_login_gives_a_token_that_the_resource_accepts(home, agent, dot, client):
    mark = dot.mark()
    result = log_in(home, dot, client=client)
    assert result.stdout == "" and "Logged in as work" in result.stderr
    assert dot.say_hello(get_token(home)) == 200
    [exchange] = dot.token_requests("authorization_code", mark)
    assert exchange["status"] == 200
    assert exchange["authorization"] == ("basic" if CLIENTS[client].secret else None)
    assert "/accounts/login/" in {entry["path"] for entry in dot.log_entries(mark)}


def test_login_over_https_trusts_the_account_s_own_authority(home, agent, world):
    server = world(tls=True)
    log_in(home, server)
    assert server.say_hello(get_token(home)) == 200


def test_an_unknown_authority_is_refused_before_any_login(home, agent, world):
    server = world(tls=True)
    mark = server.mark()
    result = home.oauthctl("login", "work", server.issuer, "--client-id", "native-app", check=False)
    assert result.status != 0 and "certificate" in result.stderr.lower()
    assert server.log_entries(mark) == []


def test_the_token_is_kept_over_a_restart(home, agent, dot):
    log_in(home, dot)
    token = get_token(home)
    home.agent.restart()
    assert get_token(home) == token


def test_login_starts_the_agent_when_none_runs(home, dot):
    log_in(home, dot)
    assert dot.say_hello(get_token(home)) == 200


def test_logging_in_again_needs_no_issuer(home, agent, dot):
    log_in(home, dot)
    first = get_token(home)
    home.oauthctl("login", "work")
    assert get_token(home) != first


def test_denied_consent_is_told_and_leaves_nothing(home, agent, dot):
    result = log_in(home, dot, answer="deny", check=False)
    assert result.status != 0 and "access_denied" in result.stderr
    assert home.oauthctl("get-token", "work", check=False).status == 3
    assert json.loads(home.oauthctl("account", "list", "--json").stdout)["accounts"] == []


def test_a_denied_login_keeps_the_one_before(home, agent, dot):
    log_in(home, dot)
    token = get_token(home)
    assert log_in(home, dot, answer="deny", check=False).status != 0
    assert get_token(home) == token


def test_status_tells_the_account_and_the_agent(home, agent, dot):
    log_in(home, dot)
    lines = home.oauthctl("status").lines
    [account] = [line for line in lines if line.startswith("work")]
    assert account.split()[1] == "ok" and urllib.parse.urlsplit(dot.issuer).hostname in account
    assert any(line.startswith("agent") and f"pid {agent.process.pid}" in line for line in lines)


def test_a_login_without_an_account_makes_no_vault(home, agent):
    result = home.oauthctl("login", "work", check=False)
    assert result.status == 3 and "oauthctl login work ISSUER --client-id ID" in result.stderr
    assert json.loads(home.oauthctl("vault", "status", "--json").stdout)["state"] == "absent"


def test_a_file_where_the_agent_does_not_look_is_told_with_the_command_that_moves_it(home, agent, dot):
    """The agent was started with another XDG_CONFIG_HOME than this shell has."""
    other = home.root / "other"
    shell = {"XDG_CONFIG_HOME": str(other)}
    home.use_browser(dot.user, dot.password)
    told = home.oauthctl(
        "login", "work", dot.issuer, "--client-id", "native-app", check=False, environment=shell)
    assert told.status == 3 and f"export XDG_CONFIG_HOME={home.config}" in told.stderr
    assert not other.exists(), "nothing was written"
    misplaced = other / "oauthctl" / "accounts.d" / "work.toml"
    misplaced.parent.mkdir(parents=True)
    misplaced.write_text(f'issuer = "{dot.issuer}"\nclient_id = "native-app"\nscope = ["read"]\n')
    # With accounts in both folders neither is the one that was moved.
    accounts = home.config / "oauthctl" / "accounts.d"
    accounts.mkdir(parents=True, exist_ok=True, mode=0o700)
    (accounts / "second.toml").write_bytes(misplaced.read_bytes())
    told = home.oauthctl("login", "work", check=False, environment=shell)
    [command] = re.findall("mkdir [^#]+", told.stderr)
    assert told.status == 3 and home.shown(misplaced) in command
    assert str(home.config) in home.oauthctl("doctor", check=False, environment=shell).stdout
    home.run("sh", "-c", command)
    home.oauthctl("reload")
    home.oauthctl("login", "work", environment=shell)
    assert dot.say_hello(get_token(home)) == 200


def test_the_address_can_be_pasted_back(home, agent, dot):
    """Over ssh: the browser is on another machine, its last address is copied by hand."""
    command = home.start(
        home.programs / "oauthctl", "login", "work", dot.issuer, "--client-id", "native-app", "--scope", "read",
        "--no-browser", stdin=-1)
    url = None
    for line in command.stderr:
        if found := re.search(re.escape(dot.authorization_endpoint) + r"\S+", line):
            url = found.group()
            break
    assert url, "no authorization URL on stderr"
    redirect = Browser(dot.user, dot.password).open(url, follow_redirect=False)
    _, stderr = command.communicate(redirect + "\n", timeout=60)
    assert command.returncode == 0, stderr
    assert dot.say_hello(get_token(home)) == 200


def test_a_code_that_the_server_refuses_is_told_and_the_login_goes_on(home, agent, dot):
    """Whoever sees the address of a login can answer it, with a code that is worth nothing."""
    command = home.start(
        home.programs / "oauthctl", "login", "work", dot.issuer, "--client-id", "native-app", "--scope", "read",
        "--no-browser", stdin=-1)
    url = next(found.group() for line in command.stderr if (found := re.search(r"http\S+[?&]state=\S+", line)))
    sent = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
    forged = urllib.parse.urlencode({"code": "forged", "state": sent["state"][0], "iss": dot.issuer})
    with pytest.raises(urllib.error.HTTPError) as page:
        urllib.request.urlopen(f"{sent['redirect_uri'][0]}?{forged}", timeout=20)
    assert page.value.code == 400 and "The login goes on" in page.value.read().decode()
    assert "invalid_grant" in next(line for line in command.stderr if "goes on" in line)
    redirect = Browser(dot.user, dot.password).open(url, follow_redirect=False)
    _, stderr = command.communicate(redirect + "\n", timeout=60)
    assert command.returncode == 0, stderr
    assert dot.say_hello(get_token(home)) == 200


@pytest.mark.parametrize("member, named", [
    ("require_pushed_authorization_requests", "RFC 9126"), ("require_signed_request_object", "RFC 9101")])
def test_a_server_that_wants_other_requests_is_refused_by_name(home, agent, request, member, named):
    server = DevServer(home)
    request.addfinalizer(server.stop)
    base = server.issuer
    metadata = {
        "issuer": base, "authorization_endpoint": f"{base}/authorize", "token_endpoint": f"{base}/token",
        "device_authorization_endpoint": f"{base}/device_authorization", member: True}
    server.script(answers=[
        {"endpoint": "metadata", "action": "answer", "status": 200, "body": json.dumps(metadata), "times": 2}])
    result = home.oauthctl("login", "work", base, "--client-id", "dev", check=False)
    assert result.status == 3 and named in result.stderr
    assert f"oauthctl login work {base} --client-id dev --device" in result.stderr


@pytest.mark.parametrize("arguments", [("get-token", "nobody"), ("login", "nobody")])
def test_an_unknown_account_is_an_error_of_configuration(home, agent, arguments):
    result = home.oauthctl(*arguments, check=False)
    assert (result.status, result.stdout) == (3, "") and "nobody" in result.stderr


def test_no_secret_is_written_in_the_clear(home, agent, dot):
    """Neither tokens nor the client secret, in whatever file of the home; nor in what the programs print."""
    printed = log_in(home, dot, client="web-app")
    secrets = [get_token(home).encode(), CLIENTS["web-app"].secret.encode()]
    status = home.oauthctl("status")
    agent.stop()
    texts = {"login": printed.stdout + printed.stderr, "status": status.stdout + status.stderr}
    contents = {name: text.encode() for name, text in texts.items()}
    contents |= {str(path.relative_to(home.root)): path.read_bytes() for path in home.files()}
    assert any(name.startswith("data/oauthctl/") for name in contents), "no vault was written"
    assert [name for name, content in contents.items() if any(secret in content for secret in secrets)] == []


def test_files_are_for_their_owner_alone(home, agent, dot):
    log_in(home, dot)
    folders = [home.data / "oauthctl", home.state / "oauthctl", home.runtime / "oauthctl"]
    paths = [path for folder in folders for path in [folder, *folder.rglob("*")]]
    assert [path for path in paths if path.stat().st_mode & 0o077] == []


def test_without_a_display_no_browser_is_started_and_after_a_while_the_redirect_address_is_told(home, agent, dot):
    opened = home.root / "opened"
    opener = home.bin / "xdg-open"
    opener.write_text(f"#!/bin/sh\ntouch {opened}\n")
    opener.chmod(0o755)
    home.environment.pop("BROWSER", None)
    command = home.start(
        home.programs / "oauthctl", "login", "work", dot.issuer, "--client-id", "native-app", "--scope", "read",
        stdin=-1)
    said = []
    for line in command.stderr:
        said.append(line)
        if "--port N" in line:
            break
    text = "".join(said)
    assert "No browser here" in text and "Does the browser show an error?" in text and not opened.exists()
    [url] = re.findall(re.escape(dot.authorization_endpoint) + r"\S+", text)
    redirect = Browser(dot.user, dot.password).open(url, follow_redirect=False)
    assert redirect.partition("?")[0] in said[-1]
    # It still takes the pasted address.
    _, stderr = command.communicate(redirect + "\n", timeout=60)
    assert command.returncode == 0, stderr
