"""Redirects on https to this machine, with a certificate of its own, and what is told of one no browser would take."""

import re
import shutil

import pytest

from login.provider import Provider, use_silent_browser
from network.identities import Authority
from support.accounts import account_file, edit
from support.login import get_token, wait_until
from support.ports import free_port


@pytest.fixture(scope="session")
def authority(scratch):
    return Authority(scratch / "redirect-authority")


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


def login(provider, files, redirect):
    return ["login", "tool", provider.issuer, "--client-id", "mine", "--client-authentication", "none",
            "--redirect-uri", redirect, "--redirect-cert", files.certificate, "--redirect-key", files.key]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_redirect_on_https_ends_a_login_by_itself(home, agent, provider, authority, host):
    files, redirect = authority.issue("good", names=[host]), f"https://{host}:{free_port()}/cb"
    opened = use_silent_browser(home, authority.file)
    home.oauthctl(*login(provider, files, redirect))
    assert get_token(home, "tool") == "access-1"
    assert provider.kinds() == ["authorize", "authorization_code"]
    assert provider.form("authorization_code")["redirect_uri"] == redirect
    # The link as on http: the arguments of the browser hold neither state nor challenge.
    assert re.fullmatch(redirect.removesuffix("/cb") + r"/login/[\w-]{22,}", opened.read_text())
    secret = files.key.read_text().splitlines()[1]
    assert not [file for file in home.files() if secret in file.read_text(errors="replace")]
    # What it was written with is what the next login takes.
    home.oauthctl("login", "tool")
    assert get_token(home, "tool") == "access-2"


def test_without_its_files_a_redirect_on_https_is_pasted_as_before(home, agent, provider, authority):
    files, redirect = authority.issue("taken-out"), f"https://localhost:{free_port()}/cb"
    use_silent_browser(home, authority.file)
    home.oauthctl(*login(provider, files, redirect))
    edit(home, "tool", redirect_cert_file=None, redirect_key_file=None)
    process = home.start(home.programs / "oauthctl", "login", "tool", "--no-browser", stdin=-1)
    said = next(line for line in process.stderr if "the browser will end on" in line)
    assert f"{redirect}?" in said
    process.kill()
    process.communicate()


def spoiled(authority, home):
    """Certificates that no browser would take, keys that do not fit or lie open, and what each is told as."""
    good, other = authority.issue("right"), authority.issue("another")

    def copy(name, source, mode=0o600):
        file = home.root / name
        shutil.copy(source, file)
        file.chmod(mode)
        return file

    with_other_key = type(good)(good.authority, good.certificate, other.key)
    # Whoever renews it as it is told writes over both files.
    old = authority.issue("of-others", names=["other.example"], begins=-10, ends=-1)
    ended = authority.issue("ended", begins=-10, ends=-1)
    old_with_other_key = type(good)(good.authority, ended.certificate, other.key)
    open_key = type(good)(good.authority, good.certificate, copy("open.key", good.key, 0o644))
    swapped = type(good)(good.authority, good.key, good.key)
    return {
        "has no subjectAltName of localhost": authority.issue("foreign", names=["127.0.0.1", "other.localhost"]),
        "has expired, at 20": authority.issue("old", begins=-10, ends=-1),
        "is valid from": authority.issue("young", begins=2),
        "is not that of the certificate": with_other_key,
        "another.key is not that of the certificate": old_with_other_key,
        "of-others.pem has no subjectAltName of localhost": old,
        "may be read by others (mode 644)": open_key,
        "holds no certificate (PEM), but a private key": swapped,
        "right.key holds no certificate (PEM), but": type(good)(
            good.authority, good.key, copy("readable.pem", good.certificate, 0o644)),
    }


def test_a_certificate_that_no_browser_would_take_is_told_before_one_is_opened(home, agent, provider, authority):
    opened = use_silent_browser(home, authority.file)
    for words, files in spoiled(authority, home).items():
        redirect = f"https://localhost:{free_port()}/cb"
        result = home.oauthctl(*login(provider, files, redirect), check=False)
        assert result.status == 3 and f"nobody can listen at {redirect}" in result.stderr, result
        assert words in result.stderr, result
        assert not opened.exists() and provider.kinds() == [] and not account_file(home, "tool").exists()
    # A certificate may turn bad between two logins.
    files = authority.issue("turns", ends=10)
    home.oauthctl(*login(provider, files, redirect))
    assert "turns.pem ends in 9 days" in home.oauthctl("doctor", "tool", check=False).stdout
    authority.issue("turns", begins=-10, ends=-1)
    found = home.oauthctl("doctor", "tool", check=False)
    assert found.status == 1 and re.search("wrong .*turns.pem has expired", found.stdout), found
    again = home.oauthctl("login", "tool", check=False)
    assert again.status == 3 and "has expired" in again.stderr and "run: mkcert" in again.stderr, again
    assert get_token(home, "tool") == "access-1"


@pytest.fixture
def recording(home):
    """A home whose program for redirects writes down what it is given; gives the file."""
    folder, told = home.root / "programs", home.root / "told"
    folder.mkdir(mode=0o700)
    for name in ("oauthctl", "oauthd", "oauthd-fetch"):
        shutil.copy(home.programs / name, folder)
    (folder / "oauthd-redirect").write_text(f"#!/bin/sh\nexec cat > {told}\n")
    (folder / "oauthd-redirect").chmod(0o700)
    home.programs = folder
    home.agent.start()
    return told


@pytest.mark.parametrize("named_as", ["certificate", "key"])
@pytest.mark.parametrize("text", ["some secret", "-----BEGIN OPENSSH PRIVATE KEY-----\nsome secret\n"
                                  "-----END OPENSSH PRIVATE KEY-----\n"], ids=["any", "ssh"])
def test_no_other_private_file_is_given_to_the_program_that_speaks_to_browsers(
        home, recording, provider, authority, named_as, text):
    files, mine = authority.issue("plain"), home.root / "mine"
    mine.write_text(text)
    mine.chmod(0o600)
    files = type(files)(files.authority, mine if named_as == "certificate" else files.certificate,
                        mine if named_as == "key" else files.key)
    told = home.oauthctl(*login(provider, files, f"https://localhost:{free_port()}/cb"), check=False)
    assert told.status == 3 and "mine holds no " in told.stderr, told
    assert not recording.exists() or "some secret" not in recording.read_text()


def test_a_browser_that_does_not_know_the_authority_ends_nothing(home, agent, provider, authority):
    """It shows a warning and comes no further; the login waits, and its address can be pasted."""
    files, redirect = authority.issue("unknown"), f"https://localhost:{free_port()}/cb"
    opened = use_silent_browser(home)
    process = home.start(home.programs / "oauthctl", *login(provider, files, redirect))
    wait_until(opened.exists, 20, "the browser is started")
    shown = next(found.group() for line in process.stderr if (found := re.search(r"http\S+[?&]state=\S+", line)))
    use_silent_browser(home, authority.file)
    home.run(home.environment["BROWSER"], shown)
    assert process.wait(60) == 0
    process.communicate()
    assert provider.kinds() == ["authorize", "authorization_code"]
