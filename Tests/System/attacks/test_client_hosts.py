"""No host but the account's gets a token, whatever proxy, option or authority is named.

Each test is the attack: it was seen to succeed before the program was mended."""

import socket
import threading

import pytest

from attacks.client import brief_curl, curl, work
from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority
from network.listeners import ConnectProxy, Portal, read_head, server_tls
from support.login import get_token, log_in

TOKEN = "a-token-that-nobody-else-may-see-0123456789"
GRANTED = f'{{"access_token":"{TOKEN}","token_type":"Bearer","expires_in":3600,"refresh_token":"r"}}'


@pytest.fixture(scope="module")
def stranger(scratch):
    """An authority that nobody trusts until an argument says so."""
    return Authority(scratch / "attacks-stranger")


# Plain http to this machine goes nowhere else

@pytest.mark.parametrize("arguments", [
    [], ["--noproxy", "x"], ["--noproxy", ""], ["--noproxy", "example.com", "--"], ["--no-noproxy"],
], ids=" ".join)
@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_gets_no_token_of_a_loopback_host(work, dot, elsewhere, arguments, variable):
    curl(work, "-sS", *arguments, dot.resource, environment={variable: elsewhere.url})
    assert elsewhere.seen == []


@pytest.mark.parametrize("arguments", [
    ["-x", "{url}"], ["--proxy", "{url}"], ["--proxy1.0", "{address}"], ["--preproxy", "socks5://{address}"],
    ["--socks4", "{address}"], ["--socks4a", "{address}"], ["--socks5", "{address}"],
    ["--socks5-hostname", "{address}"], ["--connect-to", "::{address}"], ["--resolve", "localhost:{port}:127.0.0.1"],
    ["--unix-socket", "stolen.sock"], ["--abstract-unix-socket", "oauthctl-attack"], ["--interface", "lo"],
    ["--dns-servers", "127.0.0.1"], ["--doh-url", "https://{address}/"], ["--alt-svc", "file"], ["-p", "-x", "{url}"],
    ["-K", "moved"], ["--expand-proxy", "{url}"], ["--proxytunnel"],
], ids=" ".join)
def test_no_option_leads_a_token_of_a_loopback_host_elsewhere(work, dot, elsewhere, arguments):
    address = elsewhere.url[len("http://"):-1]
    (work.root / "moved").write_text(f'proxy = "{elsewhere.url}"\n')
    values = {"url": elsewhere.url, "address": address, "port": dot.port}
    mark = dot.mark()
    with UnixThief(str(work.root / "stolen.sock")) as named, UnixThief("\0oauthctl-attack") as abstract:
        result = curl(work, "-sS", "-m", "5", *[word.format(**values) for word in arguments], dot.resource)
    assert elsewhere.seen == [] and named.heard == abstract.heard == b""
    assert (result.status, result.stdout) == (125, "") and dot.api_requests(mark) == []


class UnixThief:
    """Listens on a Unix socket and keeps what the first caller says."""

    def __init__(self, path):
        self.heard = b""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen()
        self.thread = threading.Thread(target=self.hear, daemon=True)
        self.thread.start()

    def hear(self):
        try:
            connection, _ = self.socket.accept()
        except OSError:
            return
        with connection:
            self.heard = connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.socket.close()


# The host that was checked is the one that is spoken to

@pytest.fixture
def portal(home, agent):
    """An account at a server that answers everything with a token, and the heads of what came to it."""
    with Portal("200 OK", GRANTED) as server:
        write_account(home, "work", **endpoints(f"http://localhost:{server.port}"))
        log_in_by_password(home, "work")
        server.requests.clear()
        yield server


@pytest.mark.parametrize("arguments", [
    ["-H", "Host: evil.example"], ["-H", "host:evil.example"], ["-H", " Host : evil.example"],
    ["-H", ":authority: evil.example"], ["-H", "X: y\r\nHost: evil.example"], ["-H", "@headers"],
    ["-A", "x\r\nHost: evil.example"], ["-e", "x\r\nHost: evil.example"], ["-b", "a=b\r\nHost: evil.example"],
    ["-r", "0-1\r\nHost: evil.example"], ["--request-target", "http://evil.example/"],
    ["--request-target", "/ HTTP/1.1\r\nHost: evil.example\r\nX: y"],
    ["-X", "GET http://evil.example/ HTTP/1.1\r\nX: y"],
    ["-X", "GET http://evil.example/"],
    # An accent on a punctuation mark: one character to who reads characters, and curl reads bytes.
    ["-H", "Host:\u0301x.evil.example"], ["-H", "@\u0301headers"], ["-H", "Authorization:\u0301 Bearer evil.example"],
], ids=repr)
def test_no_request_with_a_token_names_another_host(home, portal, arguments):
    """Behind one address there may be many hosts, somebody else's among them: the Host field decides."""
    for name in ("headers", "\u0301headers"):
        (home.root / name).write_text("Host: evil.example\n")
    result = curl(home, "-sS", *arguments, f"http://localhost:{portal.port}/api")
    assert [head for head in portal.requests if b"evil.example" in head] == []
    assert (result.status, result.stdout, portal.requests) == (125, "", [])


def fields_of(stream):
    """The header fields up to the blank line."""
    fields = {}
    while field := stream.readline().strip():
        name, _, value = field.partition(b":")
        fields[name.strip().lower()] = value.strip()
    return fields


class Pipelined(Portal):
    """Takes each request for as long as its own fields say, and what follows for the next. `requests` are pairs of Host
    and body."""

    def serve(self, connection):
        with connection.makefile("rb") as stream:
            while stream.readline():
                fields = fields_of(stream)
                self.requests.append((fields.get(b"host"), stream.read(int(fields.get(b"content-length") or 0))))
                connection.sendall(self.answer.replace(b"Connection: close\r\n", b""))


def test_no_header_makes_a_request_the_body_of_another(home, agent):
    """The rest of a body that is said to be short is a request to another host; its body is the next, with the token.
    """
    hidden = "xPOST /steal HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 150\r\n\r\n"
    with Pipelined("200 OK", GRANTED) as server:
        url = f"http://localhost:{server.port}"
        write_account(home, "work", **endpoints(url))
        log_in_by_password(home, "work")
        server.requests.clear()

        def send(*headers, body=("--data-binary", hidden)):
            words = [word for header in headers for word in ("-H", header)]
            return curl(home, "work", "-sS", "-m", "60", *words, *body, f"{url}/a", f"{url}/b", stdin=hidden)

        for headers in (
                ["Content-Length: 1"], ["content-length:1"], ["Content-Length:"], ["Content-Length;"],
                ["Content-Length : 1"], [" Content-Length: 1"], ["Content-Length\t: 1"],
                ["Transfer-Encoding: chunked", "Content-Length: 1"], ["Transfer-Encoding: identity"],
                ["Transfer-Encoding:"], ["Connection: Upgrade", "Upgrade: h2c"], ["Connection: Host"], ["TE: chunked"],
                ["Trailer: Host"], ["Expect: 100-continue"]):
            for option in (["--data-binary", hidden], ["-T", "-"]):
                result = send(*headers, body=option)
                stolen = [body for host, body in server.requests if host == b"evil.example" or TOKEN.encode() in body]
                assert stolen == [], (headers, option)
                assert (result.status, result.stdout, server.requests) == (125, "", []), (headers, option)
        # What people do set.
        result = send("Expect:", "Connection: close", "Content-Type: text/plain")
        assert result.status == 0 and [body for _, body in server.requests] == [hidden.encode()] * 2, result


@pytest.mark.parametrize("arguments", [
    ["-k"], ["--insecure"], ["-k", "--connect-to", "::127.0.0.1:{evil}"],
    ["-k", "--resolve", "localhost:{port}:127.0.0.1"],
    ["--cacert", "{stranger}", "--connect-to", "::127.0.0.1:{evil}"],
    ["--interface", "lo", "--cacert", "{stranger}", "--proxy", "http://127.0.0.1:{evil}"],
    ["-k", "-x", "http://127.0.0.1:{evil}"], ["-k", "--interface", "lo"],
], ids=" ".join)
def test_no_host_but_the_account_s_gets_a_token_over_https(home, agent, world, stranger, arguments):
    """`--insecure` and a foreign authority take away what tells who is there."""
    server = world(tls=True)
    log_in(home, server)
    with Portal(tls=server_tls(stranger.issue("localhost"))) as evil:
        values = {"evil": evil.port, "port": server.port, "stranger": stranger.file}
        words = [word.format(**values) for word in arguments]
        url = server.resource if len(words) > 1 else f"https://127.0.0.1:{evil.port}/"
        result = curl(home, "work", "-sS", "-m", "10", *words, url, environment={"https_proxy": ""})
        assert evil.requests == []
    assert (result.status, result.stdout) == (125, "")


def test_an_account_s_own_authority_still_works(home, agent, world):
    server = world(tls=True)
    log_in(home, server)
    assert curl(home, "-sS", "--cacert", server.ca_file, server.resource).stdout == '{"hello": "alice"}'


def test_a_proxy_for_https_never_sees_the_token(home, agent, world):
    """Not even where the command line takes the proxy's headers from the descriptor that curl has the token on."""
    server = world(tls=True)
    log_in(home, server)
    token = get_token(home)
    with ConnectProxy() as proxy:
        through = {"https_proxy": f"http://127.0.0.1:{proxy.port}", "CURL_CA_BUNDLE": str(server.ca_file)}
        assert curl(home, "-sS", server.resource, environment=through).stdout == '{"hello": "alice"}'
        for number in range(3, 9):
            brief_curl(home, "--proxy-header", f"@/dev/fd/{number}", server.resource, environment=through)
        assert proxy.heads and not [head for head in proxy.heads if token in head]


@pytest.mark.parametrize("noticed", [False, True], ids=["at once", "noticed before"])
def test_an_impostor_s_authority_under_the_same_name_gets_no_token_by_curl(home, agent, stranger, noticed):
    """Nobody tells the agent that the file changed: what curl trusts is what the agent has compared."""
    good, own = Authority(home.root / "authority"), home.root / "ca.pem"
    own.write_bytes(good.file.read_bytes())
    with Portal("200 OK", GRANTED, tls=server_tls(good.issue("localhost"))) as server:
        url = f"https://localhost:{server.port}"
        write_account(home, "work", **endpoints(url), ca_file=str(own))
        log_in_by_password(home, "work")
        assert curl(home, "-sS", url).stdout == GRANTED
    own.write_bytes(stranger.file.read_bytes())
    if noticed:
        home.oauthctl("reload")
    with Portal("200 OK", "mine", tls=server_tls(stranger.issue("localhost")), port=server.port) as impostor:
        result = curl(home, "-sS", url)
        assert (impostor.requests, impostor.connections) == ([], 0)
    assert (result.status, result.stdout) == (125, "") and "oauthctl account accept work" in result.stderr, result
    # The file as it was is good again.
    own.write_bytes(good.file.read_bytes())
    home.oauthctl("reload")
    with Portal("200 OK", GRANTED, tls=server_tls(good.issue("localhost")), port=server.port):
        assert curl(home, "-sS", url).stdout == GRANTED


def test_an_authority_taken_out_of_the_file_opens_no_other(home, agent, stranger):
    """Whoever has a certificate of an authority that everybody trusts, as a network that looks into TLS has."""
    good = Authority(home.root / "authority")
    with Portal("200 OK", GRANTED, tls=server_tls(good.issue("localhost"))) as server:
        url = f"https://localhost:{server.port}"
        write_account(home, "work", **endpoints(url), ca_file=str(good.file))
        log_in_by_password(home, "work")
    write_account(home, "work", **endpoints(url))
    home.oauthctl("reload")
    with Portal("200 OK", "mine", tls=server_tls(stranger.issue("localhost")), port=server.port) as impostor:
        result = curl(home, "-sS", url, environment={"CURL_CA_BUNDLE": str(stranger.file)})
        assert result.status == 60 and impostor.requests == []


def test_git_is_told_of_the_login_s_authority_whatever_else_the_file_says_by_now(home, agent):
    authority = Authority(home.root / "authority")
    with Portal("200 OK", GRANTED, tls=server_tls(authority.issue("localhost"))) as server:
        url = f"https://localhost:{server.port}"
        write_account(home, "work", **endpoints(url), ca_file=str(authority.file))
        log_in_by_password(home, "work")
        write_account(
            home, "work", **endpoints(url), ca_file=str(authority.file), redirect_uri="http://127.0.0.1:1/other")
        home.oauthctl("reload")
        home.oauthctl("setup", "git", "--yes")
    named = home.run("git", "config", "--global", f"http.{url}.sslCAInfo").stdout.strip()
    assert open(named).read() == authority.file.read_text()


def test_an_impostor_s_authority_under_the_same_name_gets_no_token_by_git(home, agent, stranger):
    """git opens the authority itself, whenever it likes: its configuration does not name the account's file."""
    good, own = Authority(home.root / "authority"), home.root / "ca.pem"
    own.write_bytes(good.file.read_bytes())
    asks = {"status": "401 Unauthorized", "body": "", "fields": ['WWW-Authenticate: Basic realm="x"']}
    with Portal("200 OK", GRANTED, tls=server_tls(good.issue("localhost"))) as server:
        url = f"https://localhost:{server.port}"
        write_account(home, "work", **endpoints(url), ca_file=str(own))
        log_in_by_password(home, "work")
        home.oauthctl("setup", "git", "--yes")

    file_lock, is_over = threading.Lock(), threading.Event()

    class Impostor(Portal):
        def serve(self, connection):
            # git has read its file; the agent is not to see what stood there. A git that has gone may be served late.
            with file_lock:
                if not is_over.is_set():
                    own.write_bytes(good.file.read_bytes())
            while head := read_head(connection):
                self.requests.append(head)
                connection.sendall(self.answer.replace(b"Connection: close\r\n", b""))

    own.write_bytes(stranger.file.read_bytes())
    with Impostor(**asks, tls=server_tls(stranger.issue("localhost")), port=server.port) as impostor:
        result = home.run("git", "ls-remote", f"{url}/one.git", check=False)
        assert result.status != 0 and impostor.requests == [], impostor.requests
    # Whoever agrees to it agrees for git, too.
    with file_lock:
        is_over.set()
        own.write_bytes(stranger.file.read_bytes())
    home.oauthctl("account", "accept", "work", "--yes")
    with Portal(**asks, tls=server_tls(stranger.issue("localhost")), port=server.port) as agreed:
        result = home.run("git", "ls-remote", f"{url}/one.git", check=False)
        assert any(b"Authorization: Basic" in request for request in agreed.requests), result.stderr
