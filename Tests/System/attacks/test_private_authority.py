"""Somebody who may write account files has an account's authority believed for another host than its own server's."""

import pytest

from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority
from network.listeners import Portal, server_tls
from support.accounts import edit

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
