"""git believes an authority at the server for which a person has agreed to it, and at no other.

Each test is the attack: it was seen to succeed before the program was mended."""

import os
import re

import pytest

from attacks.git_steps import ASKS, GRANTED, git_asks, granted, servers, url
from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority, folder_of
from network.listeners import Portal, server_tls
from network.namespaces import isolated, needs_root, replace

def move(home, second, elsewhere, forgets):
    """`work` is at another server with another authority, and a person has agreed to both; what that person is told."""
    told = home.oauthctl("account", "forget", "work", "--yes").stderr if forgets else ""
    write_account(home, "work", **endpoints(elsewhere), ca_file=str(second.file))
    home.oauthctl("reload")
    for kind in ("password", "client_secret"):
        home.oauthctl("secret", "set", "work", kind, stdin="of the other server\n")
    return told + home.oauthctl("login", "work", *([] if forgets else ["--accept-changes"])).stderr


@pytest.mark.parametrize("forgets", [False, True], ids=["moved", "forgotten and made anew"])
def test_an_authority_of_another_server_gets_no_token_of_the_former_one_by_git(home, servers, url, forgets):
    first, second, elsewhere = servers
    told = move(home, second, elsewhere, forgets)
    assert git_asks(home, url, second) == []
    words = f"the authority that git's configuration names for {url} is gone, or another server's\n"
    assert words + "  run: oauthctl setup git\n" in told, told
    doctor = home.oauthctl("doctor", check=False)
    assert doctor.status == 1 and words in doctor.stdout, doctor
    home.oauthctl("setup", "git", "--yes")
    assert git_asks(home, url, second) == []
    assert any(b"Authorization: Basic" in request for request in git_asks(home, url, first))
    assert words not in home.oauthctl("doctor", check=False).stdout
    copies = home.state / "oauthctl" / "authorities"
    assert {file.name.partition("@")[0]: file.read_bytes() for file in copies.iterdir()} == {
        "work": second.file.read_bytes(), "zother": first.file.read_bytes()}


def test_setup_mends_what_an_earlier_version_has_left_to_another_server(home, servers, url):
    """It had one copy for each account, and a login elsewhere put that server's authority into it."""
    first, second, elsewhere = servers
    move(home, second, elsewhere, forgets=False)
    copy = home.state / "oauthctl" / "authorities" / "work.pem"
    copy.write_bytes(second.file.read_bytes())
    home.run("git", "config", "--global", f"http.{url}.sslCAInfo", str(copy))
    doctor = home.oauthctl("doctor", check=False)
    told = home.oauthctl("setup", "git", "--yes").stderr
    assert git_asks(home, url, second) == [] and not copy.exists()
    assert f"--replace-all http.{url}.sslCAInfo" in told, told
    assert f"names for {url} is gone, or another server's" in doctor.stdout, doctor
    assert any(b"Authorization: Basic" in request for request in git_asks(home, url, first))


def test_a_changed_file_brings_the_authority_of_its_login_to_no_other_server(home, servers, url):
    """Whoever writes account files names another issuer there; nobody has agreed to its authority for that one."""
    first, _, elsewhere = servers
    write_account(home, "work", **endpoints(elsewhere), ca_file=str(first.file))
    home.oauthctl("reload")
    told = home.oauthctl("setup", "git", "--yes").stderr
    assert home.run("git", "config", "--global", f"http.{elsewhere}.sslCAInfo", check=False).stdout == ""
    assert "the login is for another issuer than its file names\n  run: oauthctl account accept work\n" in told, told


def test_a_changed_file_without_an_authority_takes_none_away_from_git(home, servers, url):
    """git would believe everybody whom the system believes, before anybody has agreed to that."""
    for name in ("work", "zother"):
        write_account(home, name, **endpoints(url))
    home.oauthctl("reload")
    home.oauthctl("setup", "git", "--yes")
    named = home.run("git", "config", "--global", f"http.{url}.sslCAInfo", check=False).stdout.strip()
    assert named and open(named, "rb").read() == servers[0].file.read_bytes()


def renewed(home, url, second):
    """`work` believes another authority of its server by now, and a person has agreed to that alone."""
    write_account(home, "work", **endpoints(url), ca_file=str(second.file))
    home.oauthctl("reload")
    home.oauthctl("account", "accept", "work", "--yes")


def tokens(requests):
    return [request for request in requests if "authorization:" in str(request).lower()]


@pytest.mark.parametrize("order", ["accepted", "logged in later"])
def test_an_authority_that_one_account_believes_gets_no_token_of_another_at_the_same_server(home, servers, url, order):
    """git trusts what the login of `work` is bound to, and asks for a token of `zother`."""
    first, second, _ = servers
    home.oauthctl("setup", "git", "--yes", "--account", "zother")
    if order == "logged in later":
        # Nothing of it goes by a command that could have looked at git.
        home.oauthctl("account", "forget", "zother", "--yes")
        renewed(home, url, second)
        home.oauthctl("setup", "git", "--yes", "--account", "work")
        with Portal("200 OK", GRANTED, tls=server_tls(first.issue("localhost")), port=int(url.rpartition(":")[2])):
            write_account(home, "zother", **endpoints(url), ca_file=str(first.file))
            log_in_by_password(home, "zother")
        home.oauthctl("setup", "git", "--yes", "--account", "zother")
    else:
        renewed(home, url, second)
    # As `setup git` wrote it for `work`, or by hand.
    copy = home.state / "oauthctl" / "authorities" / f"work@{url.removeprefix('https://')}.pem"
    copy.write_text(second.file.read_text())
    home.run("git", "config", "--global", "--replace-all", f"http.{url}.sslCAInfo", str(copy))
    asked = git_asks(home, url, second)
    assert asked != [] and tokens(asked) == []


def test_the_helper_tells_what_helps_where_git_trusts_another_authority(home, servers, url):
    renewed(home, url, servers[1])
    question = f"protocol=https\nhost={url.removeprefix('https://')}\n\n"
    told = home.oauthctl("git-credential", "--account", "zother", "get", stdin=question, check=False)
    assert "password" not in told.stdout and f"git trusts another authority at {url}" in told.stderr, told
    assert "run: oauthctl setup git --account zother" in told.stderr
    mine = home.oauthctl("git-credential", "--account", "work", "get", stdin=question)
    assert "password=a-token" in mine.stdout, mine


@pytest.mark.parametrize("variable", ["GIT_CONFIG_GLOBAL", "HOME", "XDG_CONFIG_HOME"])
def test_git_s_configuration_counts_where_its_path_is_no_text(home, servers, url, variable):
    """The account without an authority of its own was given to whom git believes by the other's."""
    with Portal("200 OK", GRANTED) as plain:
        server = endpoints(f"http://127.0.0.1:{plain.port}")
        write_account(home, "third", **server, hosts=[url.removeprefix("https://")], username="third-user")
        home.oauthctl("reload")
        log_in_by_password(home, "third")
    folder = home.root / os.fsdecode(b"Andr\xe9")
    name = {"GIT_CONFIG_GLOBAL": "conf", "HOME": ".gitconfig", "XDG_CONFIG_HOME": "git/config"}[variable]
    (folder / name).parent.mkdir(parents=True)
    (home.root / ".gitconfig").rename(folder / name)
    place = folder / name if variable == "GIT_CONFIG_GLOBAL" else folder
    question = f"protocol=https\nhost={url.removeprefix('https://')}\n\n"
    told = home.oauthctl(
        "git-credential", "--account", "third", "get", stdin=question, check=False,
        environment={variable: str(place)})
    assert "password" not in told.stdout and "git trusts another authority" in told.stderr, told


def test_another_port_of_the_same_machine_takes_no_authority_from_git(home, agent, servers, url):
    """An account there believes another authority, and git goes on as it did."""
    first, second, elsewhere = servers
    with Portal("200 OK", GRANTED, tls=server_tls(second.issue("other", names=("localhost",)))) as other:
        write_account(home, "third", **endpoints(f"https://localhost:{other.port}"), ca_file=str(second.file))
        log_in_by_password(home, "third")
    assert tokens(git_asks(home, url, first)) != []


def test_an_authority_that_git_trusts_for_a_path_gets_no_token_of_another_account_at_that_server(home, servers, url):
    """git goes by the path as it stands in the address, which it does not tell so, or not at all."""
    first, second, _ = servers
    renewed(home, url, second)
    home.oauthctl("setup", "git", "--yes", "--account", "zother")
    copies = home.state / "oauthctl" / "authorities"
    (copies / "work@localhost.pem").write_text(second.file.read_text())
    key = f"http.{url}//team.sslCAInfo"
    home.run("git", "config", "--global", key, str(copies / "work@localhost.pem"))

    def asked(authority, path):
        port = int(url.rpartition(":")[2])
        with Portal(**ASKS, tls=server_tls(authority.issue("localhost")), port=port) as server:
            address = f"{url}{path}".replace("//", "//zother@", 1)
            told = home.run("git", "ls-remote", address, check=False)
            return granted(server.requests), told.stderr

    given, told = asked(second, "//team/one.git")
    assert given == [] and "git trusts another authority" in told, told
    # The step that is told names the place.
    step = re.search("run: (git config --show-origin .*)", told)[1]
    assert ".gitconfig" in home.run("sh", "-c", step).stdout
    assert asked(first, "/other/one.git")[0] != []


@needs_root
def test_whom_the_system_believes_gets_no_token_of_a_server_with_an_authority_of_its_own(home, servers, url):
    """As a network that looks into TLS, or whoever got a certificate for the server's name."""
    first, second, _ = servers

    def attack():
        replace("/etc/ssl/certs", folder_of(second, home.root / "certs"))
        return git_asks(home, url, second), git_asks(home, url, second, f"http.{url}.sslCAPath=/etc/ssl/certs")

    asked, otherwise = isolated(attack)
    assert asked == [] and otherwise != []
    assert tokens(git_asks(home, url, first)) != []
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert "sslca" not in home.run("git", "config", "--global", "--list", check=False).stdout


@needs_root
@pytest.mark.parametrize("path", ["/team/one.git", "//team/one.git", "/team%2Fone.git"])
def test_an_authority_that_was_set_up_for_a_path_is_believed_alone_however_the_address_spells_it(
        home, servers, url, path):
    first, second, _ = servers
    home.oauthctl("setup", "git", "--remove", "--yes")
    home.oauthctl("setup", "git", "--yes", "--account", "zother", "--host", f"{url}/team")

    def attack():
        replace("/etc/ssl/certs", folder_of(second, home.root / "certs"))
        with Portal(**ASKS, tls=server_tls(second.issue("localhost")), port=int(url.rpartition(":")[2])) as server:
            home.run("git", "ls-remote", url + path, check=False)
            return server.requests

    assert isolated(attack) == []
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert "sslca" not in home.run("git", "config", "--global", "--list", check=False).stdout


@pytest.mark.parametrize("folder", [".local/state", "elsewhere"])
def test_a_shell_with_its_state_elsewhere_does_not_hide_whom_git_trusts(home, servers, url, folder):
    renewed(home, url, servers[1])
    home.oauthctl(
        "setup", "git", "--yes", "--account", "work", environment={"XDG_STATE_HOME": str(home.root / folder)})
    for copy in (home.state / "oauthctl" / "authorities").iterdir():
        copy.unlink()
    question = f"protocol=https\nhost={url.removeprefix('https://')}\n\n"
    told = home.oauthctl("git-credential", "--account", "zother", "get", stdin=question, check=False)
    assert "password" not in told.stdout and "git trusts another authority" in told.stderr, told


@pytest.mark.parametrize("way", [
    "accepted after setup", "http.sslVerify=false", "http.sslVerify=0x0", "http.URL.sslVerify=off",
    "variable", "user in the address"])
def test_git_that_believes_others_gets_no_token_of_a_login_with_an_authority_of_its_own(home, servers, url, way):
    """Whether it never learned the authority, checks nobody, or takes another account's for an address with a user."""
    first, second, _ = servers
    question = f"protocol=https\nhost={url.removeprefix('https://')}\nusername=work\n\n"
    setting, variables = ("git", "config", "--global"), {}
    if way == "accepted after setup":
        home.oauthctl("setup", "git", "--remove", "--yes")
        home.oauthctl("setup", "git", "--yes", "--account", "work")
        home.run(*setting, "--unset-all", f"http.{url}.sslCAInfo")
    elif way == "variable":
        variables["GIT_SSL_NO_VERIFY"] = "1"
    elif way == "user in the address":
        copies = home.state / "oauthctl" / "authorities"
        (copies / "zother@localhost.pem").write_text(second.file.read_text())
        named = url.replace("https://", "https://work@")
        home.run(*setting, f"http.{named}.sslCAInfo", str(copies / "zother@localhost.pem"))
        with Portal(**ASKS, tls=server_tls(second.issue("localhost")), port=int(url.rpartition(":")[2])) as server:
            told = home.run("git", "ls-remote", f"{named}/one.git", check=False)
        assert server.requests != [] and granted(server.requests) == [] and "git trusts another" in told.stderr, told
        return
    else:
        key, _, value = way.replace("URL", url).partition("=")
        home.run(*setting, key, value)
    told = home.oauthctl("git-credential", "get", stdin=question, environment=variables, check=False)
    assert "password" not in told.stdout and "git " in told.stderr and "run: " in told.stderr, told
