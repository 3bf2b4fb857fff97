"""Attacks on what `oauthctl` does with a token: who gets it, which programs run, what a core file would keep.

Each test is the attack: it was seen to succeed before the program was mended.
"""

import fcntl
import os
import pty
import resource
import shutil
import signal
import socket
import subprocess
import termios
import threading

import pytest

from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority
from network.listeners import ConnectProxy, Portal, read_head, server_tls
from support.login import get_token, log_in, wait_until
from support.memory import search
from support.processes import stopped
from support.watch import files_with

TOKEN = "a-token-that-nobody-else-may-see-0123456789"
GRANTED = f'{{"access_token":"{TOKEN}","token_type":"Bearer","expires_in":3600,"refresh_token":"r"}}'
PASSPHRASE = "a passphrase of some length, said once"
# Of a secret on its way to the agent.
COPIES = 3


@pytest.fixture
def work(home, agent, dot):
    """The home with an account `work` that is logged in over http on this machine."""
    log_in(home, dot)
    return home


@pytest.fixture(scope="module")
def stranger(scratch):
    """An authority that nobody trusts until an argument says so."""
    return Authority(scratch / "attacks-stranger")


def curl(home, *arguments, **options):
    return home.oauthctl("curl", *arguments, check=False, **options)


def brief_curl(home, *arguments, **options):
    """For descriptors from which curl may wait to read for ever."""
    return home.run("timeout", "2", home.programs / "oauthctl", "curl", "-sS", *arguments, check=False, **options)


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


@pytest.mark.parametrize("arguments", [
    ["-k"], ["--insecure"], ["-k", "--connect-to", "::127.0.0.1:{evil}"],
    ["-k", "--resolve", "localhost:{port}:127.0.0.1"],
    ["--cacert", "{stranger}", "--connect-to", "::127.0.0.1:{evil}"],
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

    class Impostor(Portal):
        def serve(self, connection):
            # git has read its file; the agent is not to see what stood there.
            own.write_bytes(good.file.read_bytes())
            while head := read_head(connection):
                self.requests.append(head)
                connection.sendall(self.answer.replace(b"Connection: close\r\n", b""))

    own.write_bytes(stranger.file.read_bytes())
    with Impostor(**asks, tls=server_tls(stranger.issue("localhost")), port=server.port) as impostor:
        result = home.run("git", "ls-remote", f"{url}/one.git", check=False)
        assert result.status != 0 and impostor.requests == [], impostor.requests
    # Whoever agrees to it agrees for git, too.
    own.write_bytes(stranger.file.read_bytes())
    home.oauthctl("account", "accept", "work", "--yes")
    with Portal(**asks, tls=server_tls(stranger.issue("localhost")), port=server.port) as agreed:
        home.run("git", "ls-remote", f"{url}/one.git", check=False)
        assert any(b"Authorization: Basic" in request for request in agreed.requests)


@pytest.mark.parametrize("arguments", [
    ["--trace", "shown"], ["--trace-ascii", "shown"], ["-v", "--stderr", "shown"], ["--libcurl", "shown"],
], ids=" ".join)
def test_no_option_writes_the_token_down(work, dot, arguments):
    token = get_token(work)
    result = curl(work, "-sS", *arguments, dot.resource)
    assert files_with(work, token) == set() and token not in result.stdout + result.stderr


def test_no_option_reads_the_token_from_where_curl_got_it(work, dot):
    token = get_token(work)
    for number in range(3, 9):
        result = brief_curl(work, "-w", f"@/dev/fd/{number}", "-o", "/dev/null", dot.resource)
        assert token not in result.stdout + result.stderr, number


# Which programs run

THIEF = '#!/bin/sh\ncat "$3" > {stolen} 2>&1\necho "$@" >> {stolen}\n'
# What stands before the system's folders in PATH. `bin` is the home's own folder, from where every command here is run.
FOLDERS = {"a dot": ".", "nothing": "", "a relative folder": "bin", "everybody's folder": "{root}/open"}


@pytest.fixture(params=FOLDERS, ids=lambda name: name.replace(" ", "-"))
def thieves(request, work):
    """Programs with well-known names where PATH should not lead; `run` tells whether one ran."""
    stolen = work.root / "stolen"
    folder = work.root / "open"
    folder.mkdir()
    for place in (work.root, work.bin, folder):
        for name in ("curl", "git", "xdg-open"):
            (place / name).write_text(THIEF.format(stolen=stolen))
            (place / name).chmod(0o755)
    folder.chmod(0o777)
    first = FOLDERS[request.param].format(root=work.root)
    work.environment["PATH"] = f"{first}:/usr/local/bin:/usr/bin:/bin"
    work.environment.pop("BROWSER", None)
    yield stolen
    for place in (work.root, work.bin, folder):
        for name in ("curl", "git", "xdg-open"):
            (place / name).unlink()


def test_curl_is_not_taken_from_where_anybody_could_put_one(work, dot, thieves):
    assert curl(work, "-sS", dot.resource).stdout == '{"hello": "alice"}'
    assert not thieves.exists()


def test_git_is_not_taken_from_where_anybody_could_put_one(work, thieves):
    work.oauthctl("setup", "git", "--yes")
    work.oauthctl("doctor", check=False)
    assert not thieves.exists()
    assert "oauthctl" in (work.root / ".gitconfig").read_text()


def test_a_browser_is_not_taken_from_where_anybody_could_put_one(work, thieves):
    # Without a display none is looked for at all.
    work.environment["DISPLAY"] = ":0"
    work.run("timeout", "3", work.programs / "oauthctl", "login", "work", check=False)
    assert not thieves.exists()


# Cores

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to see where another process sleeps")


def start_with_cores(home, *arguments, **options):
    """Start `oauthctl` where the user wants cores, in a process group of its own."""
    def allow():
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        # Whoever runs the tests in the background has it ignored, which children inherit.
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)

    return home.start(home.programs / "oauthctl", *arguments, start_new_session=True, preexec_fn=allow, **options)


def cores(home):
    """Core files, which lie where the program ran."""
    with open("/proc/sys/kernel/core_pattern") as file:
        pattern = file.read().strip()
    if pattern.startswith(("/", "|", "@")) or resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        pytest.skip(f"cores of this machine go elsewhere: {pattern}")
    return sorted(path.name for path in home.root.glob(pattern.partition("%")[0] + "*"))


@needs_root
def test_a_quit_key_during_curl_leaves_no_core(work, dot):
    """Neither of `oauthctl` nor of curl; the key reaches both."""
    assert cores(work) == []
    process = start_with_cores(work, "curl", "-sS", dot.api("slow") + "?seconds=30")
    wait_in(wait_until(lambda: curl_of(process.pid), 20, "curl runs"), "poll")
    os.killpg(process.pid, signal.SIGQUIT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGQUIT, said
    assert cores(work) == []


def curl_of(pid):
    """The process id of the curl that a process has started; None before."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    for child in children:
        with open(f"/proc/{child}/comm") as file:
            if file.read() == "curl\n":
                return int(child)
    return None


def wait_in(pid, call):
    """Until a process sleeps in this call of the kernel."""
    def sleeps():
        with open(f"/proc/{pid}/wchan") as file:
            return call in file.read()

    wait_until(sleeps, 20, f"it waits in {call}")


@needs_root
@pytest.mark.parametrize("command", [
    "vault passphrase set", "secret set work client_secret", "get-token work --rejected-stdin"])
def test_a_quit_key_while_a_secret_is_handed_over_leaves_no_core(work, command):
    process = start_with_cores(work, *command.split(), stdin=subprocess.PIPE)
    wait_in(process.pid, "pipe_read")
    with stopped(work.agent.process.pid):
        process.stdin.write(PASSPHRASE + "\n")
        process.stdin.close()
        wait_in(process.pid, "poll")
        found = search(process.pid, {"secret": {PASSPHRASE.encode()}}, work.temporary)
        os.kill(process.pid, signal.SIGQUIT)
        process.wait(20)
    assert process.returncode == -signal.SIGQUIT and cores(work) == []
    # What is sent just then, and the value it was made from; the buffers of reading and printing are wiped.
    assert len(found) <= COPIES, found


@needs_root
@pytest.mark.parametrize("named", [None, "enable=yes,swift-backtrace={}"], ids=["beside", "by the environment"])
def test_a_crash_starts_no_program_that_prints_memory(home, named):
    """Swift's runtime would start one of this name, which is there to print the memory of who crashed."""
    folder = home.temporary / "programs"
    folder.mkdir()
    client = shutil.copy(home.programs / "oauthctl", folder)
    ran = folder / "ran"
    printer = folder / "swift-backtrace"
    printer.write_text(f"#!/bin/sh\necho ran > {ran}\n")
    printer.chmod(0o755)
    environment = {"SWIFT_BACKTRACE": named.format(printer)} if named else {}
    process = home.start(
        client, "get-token", "work", "--rejected-stdin", stdin=subprocess.PIPE,
        environment=environment)
    wait_in(process.pid, "pipe_read")
    os.kill(process.pid, signal.SIGSEGV)
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGSEGV and not ran.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to see whose the files of a process are")
def test_another_program_of_the_user_cannot_look_into_the_client(home):
    """The kernel gives the files of such a process to root; a user of this machine must not be able to open them."""
    found = as_user(home)
    assert found == (True, False)


def as_user(home):
    """As user nobody: whether a program of ours runs, and whether another of the same user may read its memory."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            ends = os.pipe()
            inner = os.fork()
            if inner == 0:
                os.dup2(ends[0], 0)
                arguments = ["oauthctl", "get-token", "x", "--rejected-stdin"]
                os.execve(home.programs / "oauthctl", arguments, {"PATH": "/bin"})

            def waits():
                with open(f"/proc/{inner}/comm") as name, open(f"/proc/{inner}/stat") as state:
                    return name.read().strip() == "oauthctl" and state.read().rpartition(")")[2].split()[0] == "S"
            wait_until(waits, 10, "it waits for its input")
            try:
                open(f"/proc/{inner}/mem", "rb").close()
                may = b"1"
            except PermissionError:
                may = b"0"
            os.write(write, b"1" + may)
            os.kill(inner, signal.SIGKILL)
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    return said[:1] == b"1", said[1:] == b"1"


@pytest.mark.parametrize("place", ["> /dev/full", ">&-"])
@pytest.mark.parametrize("command", ["recovery renew", "rekey"])
def test_a_recovery_code_that_was_not_written_is_told_so(work, command, place):
    result = work.run("sh", "-c", f'"$0" vault {command} {place}', work.programs / "oauthctl", check=False)
    assert result.status == 1 and "run: oauthctl vault recovery renew" in result.stderr, result


def test_data_for_a_closed_standard_output_is_no_success(work):
    result = work.run("sh", "-c", '"$0" get-token work >&-', work.programs / "oauthctl", check=False)
    assert result.status == 1 and "cannot write to standard output" in result.stderr, result


def test_an_end_while_a_secret_is_typed_leaves_the_terminal_as_it_was(work):
    ours, theirs = pty.openpty()
    process = work.start(
        work.programs / "oauthctl", "secret", "set", "work", "refresh_token",
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    try:
        wait_until(lambda: not termios.tcgetattr(ours)[3] & termios.ECHO, 30, "the echo is off")
        shown = b""
        while b": " not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM
        assert termios.tcgetattr(ours)[3] & termios.ECHO
    finally:
        process.kill()
        process.wait()
        os.close(theirs)
        os.close(ours)


@pytest.mark.parametrize("command", [
    ("setup", "proxy", "--remove", "--yes"), ("doctor",), ("login", "pipe", "http://127.0.0.1:9", "--client-id", "c")],
    ids=" ".join)
def test_no_pipe_in_place_of_a_file_is_waited_for(work, command):
    folder = work.config / "oauthctl"
    for file in (folder / "config.toml", folder / "accounts.d/pipe.toml"):
        os.mkfifo(file)
    work.oauthctl(*command, check=False)


def test_a_link_to_the_settings_stays_a_link(work):
    file, behind = work.config / "oauthctl/config.toml", work.root / "dotfiles.toml"
    behind.write_text("")
    file.symlink_to(behind)
    work.oauthctl("setup", "proxy", "--yes", environment={"HTTPS_PROXY": "http://127.0.0.1:9"})
    assert file.is_symlink() and "127.0.0.1:9" in behind.read_text()
