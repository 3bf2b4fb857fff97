"""`oauthctl curl` asks the agent more than once before it sends anything. Each test holds one question back while the
account is changed, as a suspend of the machine, or a busy agent, may."""

import shutil
import socket
import subprocess
import threading
import time

import pytest

from attacks.git_steps import ASKS, GRANTED, granted, servers, url
from attacks.test_waiting_callers import Api
from login.provider import use_silent_browser
from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority
from network.listeners import Portal, server_tls
from support.accounts import account_file, define
from support.login import wait_until


class Between:
    """A socket between `oauthctl` and the agent: the first data with `word` in it waits until `goes` is set."""

    def __init__(self, home, word):
        self.word, self.agent = word.encode(), home.socket
        self.reached, self.goes = threading.Event(), threading.Event()
        folder = home.root / "between"
        folder.mkdir(mode=0o700)
        self.path = folder / "socket"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(self.path))
        self.path.chmod(0o600)
        self.socket.listen(20)
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.goes.set()
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def accept(self):
        while True:
            try:
                caller, _ = self.socket.accept()
            except OSError:
                return
            agent = socket.socket(socket.AF_UNIX)
            agent.connect(str(self.agent))
            for ends in ((caller, agent), (agent, caller)):
                threading.Thread(target=self.pass_on, args=ends, daemon=True).start()

    def pass_on(self, one, other):
        try:
            while data := one.recv(65536):
                if self.word in data and not self.reached.is_set():
                    self.reached.set()
                    self.goes.wait(60)
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def start_curl(home, between, *words, **environment):
    return home.start(home.programs / "oauthctl", "curl", "work", "-sS", *words,
                      environment={"OAUTHCTL_SOCKET": str(between.path), **environment})


def move(home, to, **lines):
    """`work` is logged in at another server from now on."""
    write_account(home, "work", **endpoints(to), **lines)
    home.oauthctl("reload")
    for kind in ("password", "client_secret"):
        home.oauthctl("secret", "set", "work", kind, stdin="of the other server\n")
    home.oauthctl("login", "work", "--accept-changes")


def test_curl_believes_nobody_else_for_a_token_of_a_login_that_has_an_authority(home, servers, url):
    _, second, elsewhere = servers
    with Between(home, "account.show") as between:
        curl = start_curl(home, between, f"{url}/api", SSL_CERT_FILE=str(second.file), CURL_CA_BUNDLE="")
        assert between.reached.wait(20)
        move(home, elsewhere, ca_file=str(second.file))
        port = int(url.rpartition(":")[2])
        with Portal("200 OK", "{}", tls=server_tls(second.issue("localhost")), port=port) as impostor:
            between.goes.set()
            _, told = curl.communicate(timeout=60)
            assert curl.returncode != 0 and impostor.requests == [], told


@pytest.mark.parametrize("held", ["account.show", "BEGIN CERTIFICATE"])
def test_no_proof_goes_to_whom_another_login_believes(home, agent, servers, held):
    first, second, _ = servers

    def portal(token, authority):
        answer = f'{{"access_token":"{token}","token_type":"DPoP","expires_in":3600,"refresh_token":"r"}}'
        return Portal("200 OK", answer, tls=server_tls(authority.issue("localhost")))

    with portal("one", first) as old, portal("two", second) as new:
        addresses = [f"https://localhost:{server.port}" for server in (old, new)]
        write_account(home, "work", **endpoints(addresses[0]), ca_file=str(first.file), dpop=True)
        log_in_by_password(home, "work")
        with Between(home, held) as between:
            curl = start_curl(home, between, f"{addresses[0]}/api")
            assert between.reached.wait(20)
            move(home, addresses[1], ca_file=str(second.file), dpop=True, hosts=addresses)
            old.__exit__(None, None, None)
            believed = second if held == "account.show" else first
            with Portal("200 OK", "{}", tls=server_tls(believed.issue("localhost")), port=old.port) as impostor:
                between.goes.set()
                _, told = curl.communicate(timeout=60)
                assert curl.returncode != 0 and impostor.requests == [], told


def test_git_gets_no_token_of_a_login_that_has_an_authority_where_it_does_not_check_who_answers(home, servers, url):
    _, second, elsewhere = servers
    port = int(url.rpartition(":")[2])
    for key in ("sslCAInfo", "sslCAPath"):
        home.run("git", "config", "--global", "--unset-all", f"http.{url}.{key}", check=False)
    with Between(home, "access_token") as between, Portal(
            **ASKS, tls=server_tls(second.issue("localhost")), port=port) as impostor:
        git = home.start("git", "-c", "http.sslVerify=false", "ls-remote", f"{url}/one.git",
                         environment={"OAUTHCTL_SOCKET": str(between.path)})
        assert between.reached.wait(20)
        move(home, elsewhere, ca_file=str(second.file))
        between.goes.set()
        git.communicate(timeout=60)
        assert granted(impostor.requests) == []


def test_no_host_gets_a_token_that_was_given_after_it_was_taken_out(home, agent):
    with Api() as server, Api() as one, Api() as two:
        use_silent_browser(home)
        server.define(home, 'scope = "read"', f'hosts = ["{server.issuer}", "{one.issuer}", "{two.issuer}"]')
        home.oauthctl("login", "work")
        with Between(home, two.issuer.rpartition(":")[2]) as between:
            curl = start_curl(home, between, f"{one.issuer}/api", f"{two.issuer}/api")
            assert between.reached.wait(20)
            file = account_file(home)
            file.write_text(file.read_text().replace(f'"{one.issuer}", ', ""))
            home.oauthctl("reload")
            between.goes.set()
            curl.communicate(timeout=60)
        assert curl.returncode != 0 and one.authorizations == two.authorizations == []


@pytest.mark.parametrize("held", ["account.show", "BEGIN CERTIFICATE"])
def test_nor_while_whom_its_login_believes_was_looked_up(home, agent, scratch, held):
    authority = Authority(scratch / "attacks-between")

    def tls():
        return server_tls(authority.issue("localhost"))

    with Portal("200 OK", GRANTED, tls=tls()) as one, Portal("200 OK", "{}", tls=tls()) as two:
        urls = [f"https://localhost:{server.port}" for server in (one, two)]
        write_account(home, "work", **endpoints(urls[0]), ca_file=str(authority.file), hosts=urls)
        log_in_by_password(home, "work")
        with Between(home, held) as between:
            curl = start_curl(home, between, *urls)
            assert between.reached.wait(20)
            write_account(home, "work", **endpoints(urls[0]), ca_file=str(authority.file), hosts=urls[:1])
            home.oauthctl("reload")
            between.goes.set()
            _, told = curl.communicate(timeout=60)
        assert curl.returncode != 0 and two.requests == [], told


def test_no_host_gets_a_token_that_was_taken_out_while_curl_had_no_input(home, agent):
    """curl itself would wait for it, with the token."""
    with Api() as one, Api() as two:
        use_silent_browser(home)
        one.define(home, 'scope = "read"', f'hosts = ["{one.issuer}", "{two.issuer}"]')
        home.oauthctl("login", "work")
        curl = home.start(home.programs / "oauthctl", "curl", "work", "-sS", "-d", "@-", f"{one.issuer}/api",
                          f"{two.issuer}/api", stdin=subprocess.PIPE)
        # It waits for its input; nothing tells so.
        time.sleep(1)
        one.define(home, 'scope = "read"')
        home.oauthctl("reload")
        _, told = curl.communicate("x", timeout=60)
        assert curl.returncode != 0 and one.authorizations == two.authorizations == [], told


@pytest.mark.parametrize("how", ["edited", "logged out", "locked", "forgotten"])
def test_git_gets_no_token_that_was_given_before_its_settings_were_looked_at(home, agent, how):
    """A git of which the first question for its settings takes a while."""
    folder = home.root / "slow"
    folder.mkdir(mode=0o700)
    reached, goes = folder / "reached", folder / "goes"
    slow = folder / "git"
    slow.write_text(f"""#!/bin/sh
if [ ! -e {reached} ]; then
  touch {reached}
  while [ ! -e {goes} ]; do sleep 0.05; done
fi
exec {shutil.which("git")} "$@"
""")
    slow.chmod(0o700)
    with Api() as server:
        use_silent_browser(home)
        server.define(home, 'scope = "read"', f'hosts = ["{server.issuer}", "http://127.0.0.1:9"]')
        home.oauthctl("login", "work")
        git = home.start(home.programs / "oauthctl", "git-credential", "get", stdin=subprocess.PIPE,
                         environment={"PATH": f"{folder}:{home.environment['PATH']}"})
        git.stdin.write("protocol=http\nhost=127.0.0.1:9\n\n")
        git.stdin.flush()
        wait_until(reached.exists, 20, "git is asked for its settings")
        if how == "edited":
            server.define(home, 'scope = "read"')
            home.oauthctl("reload")
        else:
            words = {"logged out": ["logout", "work"], "locked": ["vault", "lock"],
                     "forgotten": ["account", "forget", "work", "--yes"]}
            home.oauthctl(*words[how])
        goes.touch()
        printed, told = git.communicate(timeout=60)
        assert "access-" not in printed + told, printed


def test_no_file_is_removed_that_was_written_while_the_agent_was_asked(home, agent):
    define(home, "work", 'issuer = "https://a.example"', 'client_id = "mine"')
    with Between(home, "account.forget") as between:
        forget = home.start(home.programs / "oauthctl", "account", "forget", "work", "--yes",
                            environment={"OAUTHCTL_SOCKET": str(between.path)})
        assert between.reached.wait(20)
        define(home, "work", 'issuer = "https://b.example"', 'client_id = "theirs"')
        between.goes.set()
        _, told = forget.communicate(timeout=60)
    assert forget.returncode == 3 and "changed meanwhile" in told and "theirs" in account_file(home).read_text(), told


@pytest.mark.parametrize("asks", ["curl", "git"])
def test_a_token_that_is_renewed_meanwhile_is_no_other_login(home, agent, scratch, asks):
    authority = Authority(scratch / "attacks-between")
    tokens = iter(range(100))

    class Renewing(Portal):
        def serve(self, connection):
            self.say("200 OK", f'{{"access_token":"token-{next(tokens)}","token_type":"Bearer","expires_in":3600,'
                               '"refresh_token":"r"}')
            super().serve(connection)

    with Renewing("200 OK", "{}", tls=server_tls(authority.issue("localhost"))) as server:
        url = f"https://localhost:{server.port}"
        write_account(home, "work", **endpoints(url), ca_file=str(authority.file))
        log_in_by_password(home, "work")
        home.oauthctl("setup", "git", "--yes", "--account", "work")
        with Between(home, "account.show" if asks == "curl" else "access_token") as between:
            if asks == "curl":
                caller = start_curl(home, between, f"{url}/api")
            else:
                caller = home.start(home.programs / "oauthctl", "git-credential", "get", stdin=subprocess.PIPE,
                                    environment={"OAUTHCTL_SOCKET": str(between.path)})
                caller.stdin.write(f"protocol=https\nhost=localhost:{server.port}\n\n")
                caller.stdin.flush()
            assert between.reached.wait(20)
            home.oauthctl("get-token", "work", "--force")
            between.goes.set()
            printed, told = caller.communicate(timeout=60)
        assert caller.returncode == 0 and "meanwhile" not in told, told
        assert asks == "curl" or "password=token-1\n" in printed
