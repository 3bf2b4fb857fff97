"""Clients that prove themselves by a certificate (RFC 8705), before a TLS server that demands one."""

import base64
import json
import re
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from login.mutual_tls import CertificateProvider, issue_client, new_key, pem_of
from login.provider import use_silent_browser
from network.identities import Authority
from support import processes
from support.accounts import edit
from support.login import wait_until


@pytest.fixture(scope="session")
def authority(scratch):
    """Signs the server, and the clients that it takes."""
    return Authority(scratch / "mutual-tls")


@pytest.fixture
def provider(authority):
    with CertificateProvider(authority.issue("door"), authority.file.read_text()) as provider:
        yield provider


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def keep(home, provider, *texts, check=True):
    home.oauthctl("vault", "create", check=False)
    return home.oauthctl("key", "import", "work", stdin="".join(texts), check=check)


def test_a_certificate_proves_the_client_where_the_server_looks_for_it(home, agent, provider, authority):
    """At login, refresh and logout, by the aliases of the metadata; the key is in no file and no argument."""
    key = new_key()
    provider.define(home)
    keep(home, provider, pem_of(key), issue_client(authority, "mine", key))
    home.oauthctl("login", "work")
    gate = provider.hold("/token")
    refresh = home.start(home.programs / "oauthctl", "get-token", "work", "--force")
    wait_until(lambda: len(provider.shown) == 2, 10, "the refresh")
    number = key.private_numbers().private_value.to_bytes(32, "big")
    hints = [number, base64.b64encode(number)[4:40], pem_of(key).splitlines()[1][:40].encode()]
    helper, = processes.children(of=agent.process.pid, named="oauthd-fetch")
    assert Path(f"/proc/{helper}/cmdline").read_bytes().count(b"\0") == 1, "its own name and no argument"
    gate.set()
    assert refresh.wait(10) == 0
    home.oauthctl("logout", "work")
    assert provider.shown == [("/token", "mine"), ("/token", "mine"), ("/revoke", "mine"), ("/revoke", "mine")]
    agent.stop()
    for file in home.files():
        content = file.read_bytes()
        assert not [hint for hint in hints if hint in content], file


def test_a_key_of_the_vault_shows_a_certificate_that_it_signed_itself(home, agent, provider):
    home.oauthctl("vault", "create", check=False)
    provider.define(home, 'grant = "client_credentials"', method="self_signed_tls_client_auth")
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 3 and "oauthctl key create work" in refused.stderr
    assert "cat KEY CERTIFICATE | oauthctl key import work" in home.oauthctl("status").stdout
    public = json.loads(home.oauthctl("key", "create", "work").stdout)
    assert re.search(r"(?m)^secrets +private key$", home.oauthctl("account", "show", "work").stdout)
    text = home.oauthctl("key", "show", "work", "--certificate").stdout
    certificate = x509.load_pem_x509_certificate(text.encode())
    assert base64.b64decode(public["x5c"][0]) == certificate.public_bytes(serialization.Encoding.DER)
    assert certificate.public_key().public_numbers().x == int.from_bytes(
        base64.urlsafe_b64decode(public["x"] + "=="), "big")
    url = "https://www.example.com/oauthctl.json"
    document = json.loads(home.oauthctl("client-metadata", "--url", url, "--key", "work").stdout)
    assert document["jwks"]["keys"] == [public]
    provider.client = "work"
    provider.door.trust(text)
    home.oauthctl("login", "work")
    home.oauthctl("get-token", "work", "--force")
    assert provider.shown == [("/token", "work")] * 2


def test_a_refused_certificate_is_told_and_loses_no_login(home, agent, provider, authority):
    """The server ends the connection after the request has left (TLS 1.3): it has taken nothing of it."""
    key, other = new_key(), Authority(authority.directory / "other")
    provider.define(home)
    kept = keep(home, provider, pem_of(key), issue_client(authority, "mine", key, ends=-0.5))
    assert f"Kept the key and the certificate of work, for {provider.issuer}" in kept.stderr, kept
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 9 and "certificate expired" in refused.stderr, refused
    assert "oauthctl key import" in refused.stderr
    told = home.oauthctl("doctor", check=False).stdout
    assert "the certificate of its client has ended" in told, told
    # A new one of the same key.
    kept = keep(home, provider, issue_client(authority, "mine", key))
    assert "Kept the certificate, for the key that work had." in kept.stderr and provider.issuer not in kept.stderr
    home.oauthctl("login", "work")
    provider.door.trust(other.file.read_text())
    for _ in range(3):
        refused = home.oauthctl("get-token", "work", "--force", check=False)
        assert refused.status == 9 and "unknown authority" in refused.stderr, refused
        assert "oauthctl key show work --certificate" in refused.stderr
    provider.door.trust(authority.file.read_text())
    wait_until(
        lambda: home.oauthctl("get-token", "work", "--force", check=False).status == 0, 10, "it is taken again")
    assert [form.get("refresh_token") for _, form in provider.seen if "grant_type" in form] == [None, "refresh-1"]
    # A certificate of somebody else is the server's to refuse.
    provider.client = "another"
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert refused.status == 9 and "oauthctl key show work --certificate" in refused.stderr, refused


def test_a_certificate_that_does_not_fit_is_refused_and_not_kept(home, agent, provider, authority):
    key, other = new_key(), new_key()
    provider.define(home)
    certificate = issue_client(authority, "mine", key)
    for texts, words in (
            ((certificate,), "no key for this certificate"), ((pem_of(key),), "its certificate is missing"),
            ((pem_of(other), certificate), "for another key"),
            ((pem_of(key), certificate.replace("MI", "AA", 1)), "its certificate is none"),
            ((pem_of(key), *[certificate] * 6), "more than 5 certificates"),
            ((pem_of(key), certificate[:200]), "cut off")):
        refused = keep(home, provider, *texts, check=False)
        assert refused.status != 0 and words in refused.stderr and refused.stdout == "", refused
    assert home.oauthctl("key", "show", "work", check=False).status == 3
    keep(home, provider, pem_of(key), certificate)
    assert "for another key" in keep(home, provider, issue_client(authority, "m", other), check=False).stderr
    # Where there is no TLS, nobody is shown one.
    aliases = provider.metadata["mtls_endpoint_aliases"]
    secure, aliases["token_endpoint"] = aliases["token_endpoint"], provider.issuer + "/token"
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 3 and "needs TLS" in refused.stderr and provider.shown == [], refused
    aliases["token_endpoint"] = secure
    # A key whose certificate nobody has is not what this method needs.
    edit(home, "work", client_authentication='"private_key_jwt"')
    keep(home, provider, pem_of(key), check=False)
    home.oauthctl("key", "import", "work", "--replace", stdin=pem_of(key))
    edit(home, "work", client_authentication='"tls_client_auth"')
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 3 and "needs a certificate" in refused.stderr and provider.shown == []


def test_a_server_that_demands_a_certificate_of_everybody_says_so(home, agent, provider):
    provider.metadata["token_endpoint"] = f"https://localhost:{provider.door.port}/token"
    provider.define(home)
    edit(home, "work", client_authentication='"none"')
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 9 and "show a certificate (mutual TLS)" in refused.stderr, refused


@pytest.mark.parametrize("what", ["authority", "issuer"])
def test_a_certificate_that_is_renewed_while_a_login_moves_the_account_moves_with_it(
        home, agent, provider, authority, what):
    key = new_key()
    provider.define(home)
    keep(home, provider, pem_of(key), issue_client(authority, "mine", key))
    home.oauthctl("login", "work")
    if what == "authority":
        renewed = home.root / "renewed.pem"
        renewed.write_text(authority.file.read_text() * 2)
        edit(home, "work", ca_file=f'"{renewed}"')
    else:
        provider.issuer = f"http://localhost:{provider.port}".replace("http:", provider.issuer.split("/")[0])
        edit(home, "work", issuer=f'"{provider.issuer}"')
    gate = provider.hold("/authorize")
    login = home.start(home.programs / "oauthctl", "login", "work", "--accept-changes")
    wait_until(lambda: provider.kinds().count("authorize") == 2, 20, "the browser")
    kept = home.oauthctl("key", "import", "work", stdin=issue_client(authority, "mine", key))
    assert "Kept the certificate, for the key that work had." in kept.stderr
    gate.set()
    assert login.wait(30) == 0, login.stderr.read()
    assert home.oauthctl("get-token", "work", "--force").status == 0
