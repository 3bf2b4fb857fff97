"""Whom the agent trusts, and what it says when it does not: at once, with the cause, and nothing is lost by it."""

import datetime
import re
import shutil
import ssl
import subprocess

import pytest

from network.accounts import endpoints, log_in_by_password, write_account, write_settings
from network.identities import Authority
from network.listeners import Portal, Relay, server_tls
from network.namespaces import isolated, needs_root, replace
from support.login import get_token, log_in, wait_until
from world.accounts import PASSWORD

# What is wrong with the certificate, and how the message names it.
FAULTS = {
    "self-signed": (dict(self_signed=True), ["self-signed certificate"]),
    "for another host": (dict(names=["id.example.org"]), ["'localhost'"]),
    "expired": (dict(begins=-10, ends=-1), ["certificate has expired"]),
    "not yet valid": (dict(begins=2), ["certificate is not yet valid"]),
}


@pytest.fixture(scope="session")
def authority(scratch):
    """An authority that the accounts of a test trust."""
    return Authority(scratch / "network-authority")


@pytest.fixture(scope="session")
def stranger(scratch):
    """One that nobody trusts."""
    return Authority(scratch / "network-stranger")


def login_to(home, port, ca_file=None, check=False):
    trust = ["--ca", ca_file] if ca_file else []
    return home.oauthctl(
        "login", "work", f"https://localhost:{port}", "--client-id", "native-app", *trust, check=check)


def assert_tls_failure(result, portal, words):
    """Said at once, with the cause; not a byte of HTTP reached the server, and one connection was enough.

    Only what time may mend is to be tried again: 6, not 3."""
    passes = any(text in result.stderr for text in ("expired", "not yet valid", "protocol version"))
    assert (result.status, result.stdout) == (6 if passes else 3, ""), result
    assert "localhost" in result.stderr, result.stderr
    assert [word for word in words if word.lower() not in result.stderr.lower()] == [], result.stderr
    assert_clock_is_told(result.stderr)
    assert portal.requests == [] and portal.connections == 1


def assert_clock_is_told(text):
    """A certificate's dates are refused by this machine's clock, which may be what is wrong; else it is no matter."""
    if "expired" not in text and "not yet valid" not in text:
        assert "clock" not in text
        return
    told = re.search(r"this machine's clock says (\d{4}-\d\d-\d\d \d\d:\d\d) UTC: check `date`", text)
    clock = datetime.datetime.strptime(told[1], "%Y-%m-%d %H:%M").replace(tzinfo=datetime.timezone.utc)
    assert abs(datetime.datetime.now(datetime.timezone.utc) - clock) < datetime.timedelta(minutes=5), text


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_certificate_is_refused_at_login_with_its_cause(home, agent, authority, fault):
    options, words = FAULTS[fault]
    files = authority.issue(fault.replace(" ", "-"), **options)
    with Portal(tls=server_tls(files)) as portal:
        refused = login_to(home, portal.port, authority.file)
        assert_tls_failure(refused, portal, words)
        # Whoever has named the right authority is not told to name it.
        assert fault != "for another host" or "name it: --ca" not in refused.stderr, refused


@pytest.mark.parametrize("trusted", ["the system's", "another private one"])
def test_an_authority_that_is_not_the_account_s_is_refused(home, agent, authority, stranger, trusted):
    files = stranger.issue("stranger")
    with Portal(tls=server_tls(files)) as portal:
        own = None if trusted == "the system's" else authority.file
        result = login_to(home, portal.port, own)
        step = f"whether {home.shown(own)}, the ca_file, holds the authority" if own else "name it: --ca FILE"
        assert_tls_failure(result, portal, ["certificate", "issuer", step])


@needs_root
def test_a_private_authority_does_not_add_to_the_system_s(home, agent, authority):
    """With `ca_file` the system's authorities count no more: a public one cannot stand in for the private one."""
    files = authority.issue("private")

    def with_the_authority_in_the_system_store():
        home.agent.stop()
        trust_in_system_store(home, authority.file)
        home.agent.start()
        with Portal(tls=server_tls(files)) as portal:
            result = login_to(home, portal.port, Authority(home.root / "other").file)
            assert_tls_failure(result, portal, ["certificate"])

    isolated(with_the_authority_in_the_system_store)


def test_a_server_without_tls_is_told_apart(home, agent):
    with Portal() as portal:
        result = login_to(home, portal.port)
        assert (result.status, result.stdout) == (6, "") and "ssl" in result.stderr.lower(), result


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tls_older_than_1_2_is_refused(home, agent, authority):
    context = server_tls(authority.issue("old"))
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with Portal(tls=context) as portal:
        assert_tls_failure(login_to(home, portal.port, authority.file), portal, ["protocol version"])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_certificate_that_turns_bad_costs_no_login(home, agent, world, authority, fault):
    """The refresh fails before anything is sent, once for each who asks; when the certificate is right, so is all."""
    server, (options, words) = world(access_ttl=6), FAULTS[fault]
    good, bad = authority.issue("good"), authority.issue("turned-" + fault.replace(" ", "-"), **options)
    with Relay(("127.0.0.1", server.port), tls=server_tls(good)) as relay:
        write_account(home, "work", **endpoints(f"https://localhost:{relay.port}"), ca_file=str(authority.file))
        log_in_by_password(home, "work")
        token, mark = get_token(home), server.mark()
    with Portal(tls=server_tls(bad), port=relay.port) as portal:
        failed = wait_until(
            lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 30, "a failure")
        assert (failed.status, failed.stdout) == (6, ""), failed
        assert [word for word in ["localhost", *words] if word not in failed.stderr] == [], failed.stderr
        assert_clock_is_told(failed.stderr)
        line = next(line for line in home.oauthctl("status").lines if line.startswith("work "))
        assert "login" not in line and portal.requests == []
    with Relay(("127.0.0.1", server.port), tls=server_tls(good), port=relay.port):
        wait_until(lambda: home.oauthctl("get-token", "work", check=False).status == 0, 60, "a token again")
    assert get_token(home) != token and [entry["status"] for entry in server.refreshes(mark)] == [200]


def test_a_changed_authority_file_sends_nothing_until_it_is_accepted(home, agent, world):
    """The file's content is part of what the login is bound to."""
    server = world(tls=True, access_ttl=6)
    own = home.root / "ca.pem"
    shutil.copy(server.ca_file, own)
    log_in(home, server)
    account = home.config / "oauthctl" / "accounts.d" / "work.toml"
    account.write_text(account.read_text().replace(str(server.ca_file), str(own)))
    home.oauthctl("reload")
    mark = server.mark()
    failed = wait_until(
        lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 30, "a failure")
    assert failed.status == 3 and "account accept work" in failed.stderr, failed
    assert server.log_entries(mark) == []
    home.oauthctl("account", "accept", "work", "--yes")
    wait_until(lambda: home.oauthctl("get-token", "work", check=False).status == 0, 30, "a token again")


def test_an_authority_file_that_is_gone_is_told_with_what_brings_it_back(home, agent, world):
    server = world(tls=True)
    own = home.root / "ca.pem"
    shutil.copy(server.ca_file, own)
    home.use_browser(server.user, server.password, ca_file=server.ca_file)
    home.oauthctl("login", "work", server.issuer, "--client-id", "native-app", "--scope", "read", "--ca", own)
    own.rename(home.root / "moved.pem")
    failed = home.oauthctl("get-token", "work", "--force", check=False)
    assert failed.status == 3 and f"its ca_file {home.shown(own)} does not exist" in failed.stderr, failed
    assert "put the file back" in failed.stderr and "oauthctl account accept" in failed.stderr, failed
    assert "try again" not in failed.stderr, failed
    assert "put the file back" in home.oauthctl("status", check=False).stdout
    (home.root / "moved.pem").rename(own)
    home.oauthctl("status", check=False)
    assert "does not exist" not in home.oauthctl("status", check=False).stdout, "it is seen when somebody asks"
    wait_until(lambda: home.oauthctl("get-token", "work", "--force", check=False).status == 0, 60, "a token again")


def test_an_impostor_s_authority_under_the_same_name_gets_no_refresh_token(home, agent, world, authority, stranger):
    """The PEM is replaced and nobody tells the agent: what the file holds is compared when a request is sent."""
    server, own = world(access_ttl=600), home.root / "ca.pem"
    shutil.copy(authority.file, own)
    with Relay(("127.0.0.1", server.port), tls=server_tls(authority.issue("genuine"))) as relay:
        write_account(home, "work", **endpoints(f"https://localhost:{relay.port}"), ca_file=str(own))
        log_in_by_password(home, "work")
        assert home.oauthctl("get-token", "work", "--force").status == 0
    mark, renewed = server.mark(), Authority(home.root / "renewed")
    with Portal(tls=server_tls(stranger.issue("impostor")), port=relay.port) as portal:
        shutil.copy(stranger.file, own)
        failed = home.oauthctl("get-token", "work", "--force", check=False)
        assert portal.requests == [] and portal.connections == 0
    assert failed.status == 3 and "ca_file" in failed.stderr and "account accept work" in failed.stderr, failed
    with Relay(("127.0.0.1", server.port), tls=server_tls(renewed.issue("genuine")), port=relay.port):
        shutil.copy(renewed.file, own)
        home.oauthctl("account", "accept", "work", "--yes")
        assert home.oauthctl("get-token", "work", "--force").status == 0
    assert [entry["status"] for entry in server.refreshes(mark)] == [200]


def test_a_login_takes_an_authority_that_was_just_replaced(home, agent, world, authority):
    """No reload between: `login` shows the change and asks before anything is sent."""
    server, own, renewed = world(access_ttl=600), home.root / "ca.pem", Authority(home.root / "renewed")
    shutil.copy(authority.file, own)
    with Relay(("127.0.0.1", server.port), tls=server_tls(authority.issue("genuine"))) as relay:
        write_account(home, "work", **endpoints(f"https://localhost:{relay.port}"), ca_file=str(own))
        log_in_by_password(home, "work")
    mark = server.mark()
    shutil.copy(renewed.file, own)
    with Relay(("127.0.0.1", server.port), tls=server_tls(renewed.issue("genuine")), port=relay.port):
        refused = home.oauthctl("login", "work", "--password-stdin", stdin=PASSWORD + "\n", check=False)
        assert refused.status != 0 and "ca_file (content)" in refused.stderr and server.log_entries(mark) == []
        home.oauthctl("login", "work", "--password-stdin", "--accept-changes", stdin=PASSWORD + "\n")
        assert server.say_hello(get_token(home)) == 200


def test_the_authority_of_config_toml_counts_for_every_account(home, agent, world):
    server = world(tls=True)
    write_settings(home, ca_file=str(server.ca_file))
    home.oauthctl("reload")
    home.use_browser(server.user, server.password, ca_file=server.ca_file)
    home.oauthctl("login", "work", server.issuer, "--client-id", "native-app", "--scope", "read")
    assert server.say_hello(get_token(home)) == 200


# --- The system's store ----------------------------------------------------------------------------------------------


def trust_in_system_store(home, authority, hashed=True, linked=False):
    """Show the agents of this thread a copy of the system's certificates with one more authority in it.

    `linked`: it stays where it is, and the store has a link to it.
    """
    store = home.root / "certs"
    if hashed:
        shutil.copytree("/etc/ssl/certs", store, symlinks=True)
        if linked:
            (store / "private.pem").symlink_to(authority)
        else:
            shutil.copy(authority, store / "private.pem")
        digest = subprocess.run(
            ["openssl", "x509", "-in", authority, "-noout", "-hash"], capture_output=True, text=True, check=True).stdout
        (store / f"{digest.strip()}.0").symlink_to("private.pem")
    else:
        store.mkdir()
        public = open("/etc/ssl/certs/ca-certificates.crt").read()
        (store / "ca-certificates.crt").write_text(public + authority.read_text())
    replace("/etc/ssl/certs", store)


@needs_root
@pytest.mark.parametrize(("hashed", "linked"), [(True, False), (True, True), (False, False)],
                         ids=["a folder of hashed names", "a link to elsewhere", "one bundle"])
def test_an_authority_of_the_system_needs_no_word(home, world, hashed, linked):
    """As after `update-ca-certificates`: neither the account nor config.toml mentions it."""
    server = world(tls=True)

    def log_in_with_the_system_s_store():
        trust_in_system_store(home, server.ca_file, hashed, linked)
        home.agent.start()
        home.use_browser(server.user, server.password, ca_file=server.ca_file)
        home.oauthctl("login", "work", server.issuer, "--client-id", "native-app", "--scope", "read")
        return get_token(home)

    assert server.say_hello(isolated(log_in_with_the_system_s_store)) == 200
    assert "ca_file" not in (home.config / "oauthctl" / "accounts.d" / "work.toml").read_text()
