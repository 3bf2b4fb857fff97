"""Somebody who may write account files has an account's authority believed for another host than its own server's."""

import socket
import threading

import pytest

from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority, folder_of
from network.listeners import Portal, end, read_head, server_tls
from network.namespaces import isolated, needs_root, replace
from support.accounts import define, edit
from support.vault import key_file

TOKEN = "a-token-that-nobody-else-may-see-0123456789"
ANSWER = f'{{"access_token":"{TOKEN}","token_type":"Bearer","expires_in":3600,"refresh_token":"r"}}'


@pytest.fixture
def hosts(home):
    """An authority, a server with one of its certificates, and another that has got one, too."""
    authority = Authority(home.root / "ca")
    with Portal("200 OK", ANSWER, tls=server_tls(authority.issue("localhost"))) as server:
        with Portal("200 OK", "", tls=server_tls(authority.issue("other", names=("127.0.0.1",)))) as other:
            yield authority, server, other


def test_another_issuer_in_the_file_has_the_authority_believed_nowhere_else(home, agent, hosts):
    """The login's token goes to both hosts, and the authority counts for the one of its issuer alone."""
    authority, server, other = hosts
    own, elsewhere = f"https://localhost:{server.port}", f"https://127.0.0.1:{other.port}"
    write_account(home, "work", **endpoints(own), ca_file=str(authority.file), hosts=[own, elsewhere])
    log_in_by_password(home, "work")

    def curl():
        return home.run(home.programs / "oauthctl", "curl", "work", "-sS", elsewhere + "/x", check=False).status

    # curl's number for a certificate that nobody vouches for.
    assert curl() == 60
    edit(home, "work", issuer=f'"https://127.0.0.1:{server.port}"')
    assert "file changed" in home.oauthctl("status").stdout
    assert curl() == 60
    home.oauthctl("setup", "git", "--yes")
    configured = home.run("git", "config", "--global", "--list").stdout
    assert f"{elsewhere}.sslcainfo" not in configured.lower(), configured
    assert TOKEN not in str(other.requests)


def tokens(server):
    return [request for request in server.requests if TOKEN in str(request)]


def account(home, authority, server, *hosts):
    own = f"https://localhost:{server.port}"
    write_account(home, "work", **endpoints(own), ca_file=str(authority.file), hosts=[own, *hosts])
    log_in_by_password(home, "work")
    return own


def curl(home, *arguments):
    return home.run(home.programs / "oauthctl", "curl", "work", "-sS", *arguments, check=False)


@pytest.mark.parametrize("how", ["a changed issuer", "any host"])
def test_neither_a_changed_issuer_nor_any_host_has_the_system_believed_at_the_server_of_the_login(
        home, agent, hosts, how):
    authority, server, _ = hosts
    system = Authority(home.root / "system")
    with Portal("200 OK", "", tls=server_tls(system.issue("localhost"))) as impostor:
        other = f"https://localhost:{impostor.port}"
        own = account(home, authority, server, other)
        words = ["--any-host"] if how == "any host" else []
        if how == "a changed issuer":
            edit(home, "work", issuer='"https://elsewhere.example"')

        def curl(url):
            return home.run(home.programs / "oauthctl", "curl", *words, "work", "-sS", url, check=False,
                            environment={"SSL_CERT_FILE": str(system.file)}).status

        # curl's number for a certificate that nobody vouches for.
        assert (curl(own + "/x"), curl(other + "/x")) == (0, 60)
        assert len(tokens(server)) == 1 and tokens(impostor) == []


def test_a_second_host_does_not_have_the_system_believed_at_the_server_of_the_login(home, agent, hosts):
    authority, server, other = hosts
    elsewhere = f"https://127.0.0.1:{other.port}"
    own = account(home, authority, server, elsewhere)
    refused = curl(home, own + "/x", elsewhere + "/y")
    assert refused.status == 125 and "once for each host" in refused.stderr, refused
    assert tokens(server) == [] and tokens(other) == []
    assert curl(home, own + "/x").status == 0 and len(tokens(server)) == 1


@needs_root
@pytest.mark.parametrize("words", [[], ["--tlsuser", "a", "--tlspassword", "b"]], ids=["plain", "by a password, too"])
def test_curl_believes_nobody_whom_the_system_believes_beside_the_account_s_authority(home, agent, hosts, words):
    authority, server, _ = hosts
    own = account(home, authority, server)
    system = Authority(home.root / "system")

    def attack():
        replace("/etc/ssl/certs", folder_of(system, home.root / "certs"))
        plain = home.run("curl", "-sS", "--cacert", authority.file, impostor.url, check=False)
        return plain, curl(home, own.replace(str(server.port), str(impostor.port)), *words)

    with Portal("200 OK", "", tls=server_tls(system.issue("localhost"))) as impostor:
        impostor.url = f"https://localhost:{impostor.port}"
        edit(home, "work", hosts=f'["{own}", "{impostor.url}"]')
        home.oauthctl("account", "accept", "work", "--yes")
        plain, refused = isolated(attack)
    assert (plain.status, refused.status) == (0, 60) and len(impostor.requests) == 1


def test_a_token_for_a_second_try_goes_to_nobody_who_was_believed_before(home, agent):
    """The server holds its 401 while a person gives its authority up."""
    first, second = Authority(home.root / "first"), Authority(home.root / "second")
    file = home.root / "ca.pem"
    file.write_text(first.file.read_text())
    certificate = first.issue("localhost")
    with Holding(tls=server_tls(certificate)) as server:
        own, port = f"https://localhost:{server.port}", server.port
        write_account(home, "work", **endpoints(own), ca_file=str(file))
        log_in_by_password(home, "work")
        waiting = home.start(home.programs / "oauthctl", "curl", "work", "-sS", own + "/api")
        assert server.came.wait(20)
        # It keeps the one connection that it has.
        server.socket.shutdown(socket.SHUT_RDWR)
        server.socket.close()
        with Portal("200 OK", ANSWER, tls=server_tls(second.issue("new", names=("localhost",))), port=port):
            file.write_text(second.file.read_text())
            home.oauthctl("reload")
            home.oauthctl("account", "accept", "work", "--yes")
            assert home.oauthctl("get-token", "work", "--force").stdout.strip() == TOKEN
        with Portal("200 OK", "", tls=server_tls(certificate), port=port) as impostor:
            server.answers.set()
            waiting.wait(30)
            assert tokens(impostor) == []


class Holding(Portal):
    """Grants tokens, and answers 401 to the API when `answers` is set."""

    def __init__(self, **options):
        self.came, self.answers, self.count = threading.Event(), threading.Event(), 0
        super().__init__("200 OK", "", **options)

    def serve(self, connection):
        head = read_head(connection)
        if not head:
            return
        self.requests.append(head)
        if b"GET /api" in head:
            self.came.set()
            self.answers.wait(30)
            answer, body = "401 Unauthorized", ""
        else:
            self.count += 1
            answer, body = "200 OK", ANSWER.replace(TOKEN, f"token-{self.count}")
        end(connection, (
            f"HTTP/1.1 {answer}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"Connection: close\r\n\r\n{body}").encode())


def test_no_private_file_is_read_as_an_authority_by_the_program_that_speaks_to_servers(home, agent):
    """Somebody who may write account files names the key of the vault, and a proxy that keeps that program waiting."""
    home.oauthctl("vault", "create")
    with Portal("200 OK", "") as proxy:
        define(home, "work", 'issuer = "https://127.0.0.1:9"', 'client_id = "mine"', f'ca_file = "{key_file(home)}"',
               f'proxy = "http://127.0.0.1:{proxy.port}"')
        for command in (["doctor"], ["login", "work", "--no-browser", "--timeout", "2"]):
            told = home.oauthctl(*command, check=False)
            assert told.status != 0 and "holds no certificate" in told.stdout + told.stderr, told
        assert proxy.connections == 0
