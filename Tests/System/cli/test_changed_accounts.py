"""A definition that changed: what decides where secrets go is agreed to by a person first."""

import shutil

import pytest

from cli.account_steps import accounts, show
from support.accounts import account_file, define, edit
from support.dev_server import consenting
from support.listener import Listener
from support.login import get_token, log_in, wait_until
from support.terminal import run_at_terminal
from support.wire import WireError


# A definition that changed

def other_name(url):
    """The same server by its address."""
    return url.replace("localhost", "127.0.0.1")


CHANGES = {
    "token_endpoint": '"{elsewhere}token"',
    "authorization_endpoint": '"{elsewhere}authorize"',
    "revocation_endpoint": '"{elsewhere}revoke"',
    "pushed_authorization_request_endpoint": '"{elsewhere}par"',
    "hosts": '["{issuer}", "{elsewhere}"]',
    "issuer": '"{elsewhere}"',
    "client_id": '"web-app"',
    "redirect_uri": '"http://127.0.0.1/other"',
    "client_authentication": '"client_secret_post"',
    "assertion_audience": '"token_endpoint"',
    "proxy": '"{elsewhere}"',
    "ca_file": '"{ca}"',
}


def change(home, server, elsewhere, key):
    """Edit one key of the account `work`; returns the file's text before."""
    authority = home.root / "authority.pem"
    authority.write_text("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")
    places = {"elsewhere": elsewhere.url, "issuer": server.issuer, "ca": authority}
    return edit(home, "work", **{key: CHANGES[key].format(**places)})


@pytest.mark.parametrize("key", CHANGES)
def test_a_change_of_what_decides_where_secrets_go_sends_nothing(home, agent, dot, elsewhere, key):
    log_in(home, dot)
    token = get_token(home)
    change(home, dot, elsewhere, key)
    mark = dot.mark()
    # What is still valid is served, as before the change.
    assert get_token(home) == token
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert (refused.status, refused.stdout) == (3, "")
    # No other client can use the refresh token.
    way = "oauthctl login work" if key == "client_id" else "oauthctl account accept work"
    assert key in refused.stderr and way in refused.stderr
    assert home.oauthctl("get-token", "work", "--rejected-stdin", stdin=token, check=False).status == 3
    assert dot.log_entries(mark) == [] and elsewhere.seen == []
    assert accounts(home)["work"]["state"] == "definition_changed"
    # The issuer is the default of `hosts`, and a file has content.
    assert [difference["key"] for difference in show(home)["differences"]][0] == key


def test_a_host_that_was_added_gets_no_token_before_it_is_accepted(home, agent, dot, elsewhere):
    log_in(home, dot)
    change(home, dot, elsewhere, "hosts")
    result = home.oauthctl("curl", "work", elsewhere.url, check=False)
    assert (result.status, elsewhere.seen) == (125, [])
    assert home.oauthctl("curl", "work", dot.resource).stdout == '{"hello": "alice"}'
    home.oauthctl("account", "accept", "work", "--yes")
    assert home.oauthctl("curl", "work", elsewhere.url).stdout == "elsewhere\n"
    assert elsewhere.seen[0]["Authorization"] == f"Bearer {get_token(home)}"


def test_a_host_that_was_taken_out_gets_no_token_any_more(home, agent, dot, elsewhere):
    """By no way that names a URL, while the same token goes on to be given for the hosts that are left."""
    log_in(home, dot, arguments=["--host", dot.issuer, "--host", elsewhere.url])
    token = get_token(home)
    assert home.oauthctl("curl", "work", elsewhere.url).stdout == "elsewhere\n"
    assert [headers["Authorization"] for headers in elsewhere.seen] == [f"Bearer {token}"]
    before = edit(home, "work", hosts=f'["{dot.issuer}"]')
    assert elsewhere.url[:-1] in before
    for account in (["work"], []):
        result = home.oauthctl("curl", *account, elsewhere.url, check=False)
        assert result.status == 125 and token not in result.stdout + result.stderr
    with agent.connect() as wire:
        for names in ({"account": "work"}, {}):
            with pytest.raises(WireError) as refused:
                wire.call("token.get", url=elsewhere.url, **names)
            assert refused.value.failure == ("not_permitted" if names else "account_unknown")
        assert wire.call("token.get", url=dot.resource)["access_token"] == token
    assert len(elsewhere.seen) == 1
    assert home.oauthctl("curl", "work", dot.resource).stdout == '{"hello": "alice"}'
    define(home, "work", *before.splitlines())
    assert home.oauthctl("curl", "work", elsewhere.url).stdout == "elsewhere\n"


def test_curl_s_second_try_asks_for_its_host_again(home, agent, dot):
    """The host is taken out while the first answer, a 401, is on its way: the newer token does not go there."""
    def refresh_and_take_out():
        home.oauthctl("get-token", "work", "--force")
        edit(home, "work", hosts=f'["{dot.issuer}"]')

    with Listener(before_answer=refresh_and_take_out, status=401) as other:
        log_in(home, dot, arguments=["--host", dot.issuer, "--host", other.url])
        result = home.oauthctl("curl", "work", other.url, check=False)
        assert len(other.seen) == 1 and "may not go to" in result.stderr, result


def test_nothing_is_refreshed_by_plan_either(home, agent, world, elsewhere):
    server = world(access_ttl=3)
    log_in(home, server)
    token = get_token(home)
    change(home, server, elsewhere, "token_endpoint")
    mark = server.mark()
    wait_until(lambda: server.say_hello(token) == 401, 20, "the token expires")
    result = wait_until(
        lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 20, "no token any more")
    assert result.status == 3 and elsewhere.seen == []
    assert {entry["path"] for entry in server.log_entries(mark)} == {"/api/hello"}


def test_a_change_while_the_agent_was_not_running_is_found(home, agent, dot, elsewhere):
    log_in(home, dot)
    agent.stop()
    change_file = account_file(home)
    change_file.write_text(change_file.read_text() + f'token_endpoint = "{elsewhere.url}token"\n')
    agent.start()
    mark = dot.mark()
    assert home.oauthctl("get-token", "work", "--force", check=False).status == 3
    assert dot.log_entries(mark) == [] and elsewhere.seen == []


def test_a_change_that_is_taken_back_needs_no_word(home, agent, dot, elsewhere):
    log_in(home, dot)
    text = change(home, dot, elsewhere, "token_endpoint")
    define(home, "work", *text.splitlines())
    assert home.oauthctl("get-token", "work", "--force").status == 0
    assert accounts(home)["work"]["state"] == "ok"


@pytest.mark.parametrize("key, value", [("git_username", '"me"'), ("keep", '"always"'), ("allowed_scope", '["write"]')])
def test_what_does_not_decide_where_secrets_go_may_change(home, agent, dot, key, value):
    log_in(home, dot)
    edit(home, "work", **{key: value})
    assert home.oauthctl("get-token", "work", "--force").status == 0


def test_accept_shows_the_change_and_binds_it(home, agent, dot):
    log_in(home, dot)
    edit(home, "work", token_endpoint=f'"{other_name(dot.token_endpoint)}"')
    assert home.oauthctl("get-token", "work", "--force", check=False).status == 3
    accepted = home.oauthctl("account", "accept", "work", "--yes")
    assert f"token_endpoint: {dot.token_endpoint} → {other_name(dot.token_endpoint)}" in accepted.stderr
    mark = dot.mark()
    assert home.oauthctl("get-token", "work", "--force").status == 0
    assert [entry["status"] for entry in dot.refreshes(mark)] == [200]
    assert "nothing to accept" in home.oauthctl("account", "accept", "work").stderr


def test_accept_does_nothing_before_somebody_agrees(home, agent, dot):
    log_in(home, dot)
    edit(home, "work", token_endpoint=f'"{other_name(dot.token_endpoint)}"')
    assert home.oauthctl("account", "accept", "work", check=False).status != 0
    assert home.oauthctl("get-token", "work", "--force", check=False).status == 3


def test_a_new_login_binds_the_change_too(home, agent, dot):
    log_in(home, dot)
    # Read at once: the agent sees a change of files only after a moment.
    with account_file(home).open("a") as file:
        file.write(f'token_endpoint = "{other_name(dot.token_endpoint)}"\n')
    shown = home.oauthctl("login", "work", "--accept-changes").stderr
    assert f"token_endpoint: {dot.token_endpoint} → {other_name(dot.token_endpoint)}" in shown
    assert home.oauthctl("get-token", "work", "--force").status == 0


def test_a_file_that_was_replaced_for_a_login_is_put_back_where_nobody_logs_in(home, agent):
    with consenting(home) as server:
        command = ["login", "work", server.issuer, "--client-id", "dev"]
        # Whom a server does not name, nobody can expect: said before a browser opens.
        refused = home.oauthctl(*command, "--scope", "read", "--user", "bob", check=False)
        assert refused.status == 64 and "--user bob --scope openid" in refused.stderr, refused
        home.oauthctl(*command, "--scope", "read")
        refused = home.oauthctl("login", "work", "--user", "bob", check=False)
        assert refused.status == 64, refused
        assert "oauthctl login work --add-scope openid --user bob" in refused.stderr, refused
        before = account_file(home).read_bytes()
        command += ["--host", "https://elsewhere.example", "--replace"]
        status, said = run_at_terminal(
            home, home.programs / "oauthctl", *command, answers={"Log in there": "n\n"})
        assert status == 1 and "is as it was" in said and "nothing was changed" in said, said
        assert account_file(home).read_bytes() == before and home.oauthctl("get-token", "work", "--force").lines
        refused = home.oauthctl(*command, "--scope", "no-such-scope", "--accept-changes", check=False)
        assert refused.status == 9 and "is as it was" in refused.stderr, refused
        assert account_file(home).read_bytes() == before and home.oauthctl("get-token", "work", "--force").lines
        # Without a terminal the next step is the whole command: the file is the old one again.
        refused = home.run("setsid", home.programs / "oauthctl", *command, check=False)
        assert refused.status == 64 and "--replace --accept-changes" in refused.stderr, refused
        assert account_file(home).read_bytes() == before and accounts(home)["work"]["state"] == "ok"


def test_another_authority_under_the_same_name_is_a_change(home, agent, world):
    server = world(tls=True)
    authority = home.root / "ca.pem"
    shutil.copy(server.ca_file, authority)
    define(
        home, "work", f'issuer = "{server.issuer}"', 'client_id = "native-app"', 'scope = ["read"]',
        f'ca_file = "{authority}"')
    home.use_browser(server.user, server.password, ca_file=server.ca_file)
    home.oauthctl("login", "work")
    authority.write_text(authority.read_text() + authority.read_text())
    home.oauthctl("reload")
    mark = server.mark()
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert refused.status == 3 and "ca_file" in refused.stderr and server.log_entries(mark) == []
    home.oauthctl("account", "accept", "work", "--yes")
    assert home.oauthctl("get-token", "work", "--force").status == 0
