"""git sends no token readable to anybody but the server of plain http on this machine that it is for.

Each test is the attack: it was seen to succeed before the program was mended."""

import base64
import re

import pytest

from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority
from network.listeners import ConnectProxy, Portal, server_tls

GRANTED = '{"access_token":"a-token-of-this-machine","token_type":"Bearer","expires_in":3600,"refresh_token":"r"}'
ASKS = {"status": "401 Unauthorized", "body": "", "fields": ['WWW-Authenticate: Basic realm="x"']}


def tokens(requests):
    """Those with the token. With a user in the address git tries that one without a password, too."""
    given = [re.search(r"Authorization: Basic ([\w+/=]+)", str(request)) for request in requests]
    return [found[1] for found in given if found and b"a-token" in base64.b64decode(found[1])]


@pytest.fixture
def plain(home, agent):
    """The address of a server of plain http, for which git is set up."""
    with Portal("200 OK", GRANTED) as server:
        url = f"http://127.0.0.1:{server.port}"
        write_account(home, "work", **endpoints(url))
        log_in_by_password(home, "work")
        home.oauthctl("setup", "git", "--yes")
        server.say(**ASKS)
        yield url


class Proxy(ConnectProxy):
    """Tunnels, and asks for a token in the place of any server of plain http."""

    def answer(self, connection, status, *fields):
        super().answer(connection, ASKS["status"], *ASKS["fields"])


@pytest.fixture
def proxy():
    with Proxy() as proxy:
        proxy.url = f"http://127.0.0.1:{proxy.port}"
        yield proxy


def settings(way, plain, proxy):
    """Variables and settings of git that name `proxy`, and the address that git begins with."""
    with_user = plain.replace("//", "//work@")
    return {
        "variable": ({"http_proxy": proxy}, {}, plain),
        "setting": ({}, {"http.proxy": proxy}, plain),
        "remote": ({}, {"remote.origin.proxy": proxy}, plain),
        "of the user": ({}, {f"http.{with_user}.proxy": proxy}, with_user),
        "of a path": ({}, {f"http.{plain}/a%2Fb.proxy": proxy}, plain + "/a%2Fb"),
        "of a path that is not told": (
            {}, {f"http.{plain}/team.proxy": proxy, f"credential.{plain}.useHttpPath": "false"}, plain + "/team"),
    }[way]


@pytest.mark.parametrize("way", [
    "variable", "setting", "remote", "of the user", "of a path", "of a path that is not told"])
def test_a_proxy_of_git_s_gets_no_token(home, plain, proxy, way):
    variables, configured, address = settings(way, plain, proxy.url)
    home.run("git", "init", "-q", "here")
    git = ("git", "-C", home.root / "here")
    home.run(*git, "remote", "add", "origin", address + "/one.git")
    for key, value in configured.items():
        home.run(*git, "config", key, value)
    told = home.run(*git, "fetch", check=False, environment=variables).stderr
    assert proxy.heads != [] and tokens(proxy.heads) == [], told
    # The step that is told helps.
    exempt = re.search("run: export no_proxy=([^\\n ]+)", told)[1]
    seen = len(proxy.heads)
    told = home.run(*git, "fetch", check=False, environment={**variables, "no_proxy": exempt}).stderr
    assert len(proxy.heads) == seen and "proxy" not in told, told


@pytest.mark.parametrize("way", ["variable", "setting"])
def test_a_proxy_of_the_server_that_leads_git_here_gets_no_token(home, plain, proxy, way, scratch):
    """git keeps the proxy that it began with."""
    authority = Authority(scratch / "attacks-leading")
    leads = f"Location: {plain}/one.git/info/refs?service=git-upload-pack"
    with Portal("302 Found", "", [leads], tls=server_tls(authority.issue("localhost"))) as server:
        url = f"https://localhost:{server.port}"
        home.run("git", "config", "--global", f"http.{url}.sslCAInfo", str(authority.file))
        if way == "setting":
            home.run("git", "config", "--global", f"http.{url}.proxy", proxy.url)
        variables = {"https_proxy": proxy.url} if way == "variable" else {}
        home.run("git", "ls-remote", f"{url}/one.git", environment=variables, check=False)
    assert len(proxy.heads) > 1 and tokens(proxy.heads) == []


def test_an_address_that_git_is_told_to_take_instead_gets_no_token(home, plain):
    port = plain.rpartition(":")[2]
    with Portal(**ASKS, address="127.0.0.9", port=int(port)) as elsewhere:
        setting = f"http.curloptResolve=127.0.0.1:{port}:127.0.0.9"
        told = home.run("git", "-c", setting, "ls-remote", plain + "/one.git", check=False)
        assert elsewhere.requests != [] and tokens(elsewhere.requests) == [], told
    assert "http.curloptresolve" in told.stderr and "--show-origin" in told.stderr


@pytest.mark.parametrize("way", ["variable", "setting"])
def test_a_proxy_with_the_name_and_port_of_the_server_gets_no_token(home, agent, way, scratch):
    """git asks for its password in the same words, and believes http.proxySSLCAInfo there."""
    ours, others = Authority(scratch / "attacks-ours"), Authority(scratch / "attacks-others")
    with Portal("200 OK", GRANTED, tls=server_tls(ours.issue("localhost"))) as server:
        url = f"https://localhost:{server.port}"
        write_account(home, "work", **endpoints(url), ca_file=str(ours.file))
        log_in_by_password(home, "work")
        home.oauthctl("setup", "git", "--yes")
        port = server.port
    fields = ['Proxy-Authenticate: Basic realm="x"']
    with Portal("407 Ask", "", fields, tls=server_tls(others.issue("localhost")), port=port) as impostor:
        named = url.replace("//", "//work@")
        believed = ("-c", f"http.proxySSLCAInfo={others.file}")
        proxy, variables = ((), {"https_proxy": named}) if way == "variable" else (("-c", f"http.proxy={named}"), {})
        told = home.run("git", *believed, *proxy, "ls-remote", f"{url}/one.git", environment=variables, check=False)
        assert tokens(impostor.requests) == [] and "has the name and port" in told.stderr, told
