"""Redirects beside a loopback listener with any port: fixed ports, claimed https addresses, schemes of one's own."""

import re
import shlex
import shutil
import subprocess
import threading
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, build_opener

import pytest

from login.provider import Provider, use_silent_browser
from support.accounts import account_file
from support.login import wait_until
from support.ports import listening
from support.terminal import run_at_terminal

SCHEME = "com.example.app"


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


class NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def redirected(url):
    """Where the server sends the browser that opens `url`."""
    try:
        build_opener(NoRedirect).open(url, timeout=20)
    except HTTPError as answer:
        return answer.headers["Location"]
    raise AssertionError("no redirect")


def begin(home, *command, browsers=("--no-browser",)):
    """A login whose address is opened elsewhere: the process, and where the server sends the browser."""
    process = home.start(home.programs / "oauthctl", *command, *browsers, stdin=subprocess.PIPE)
    for line in process.stderr:
        if found := re.match(r"\s+(http://\S+/authorize\?\S+)", line):
            return process, redirected(found.group(1))
    raise AssertionError(f"no address: {process.communicate()}")


def login(provider, *flags):
    return ["login", "tool", provider.issuer, "--client-id", "mine", "--client-authentication", "none", *flags]


def free_again(port):
    try:
        return listening(port=port)
    except OSError:
        return None


def test_of_several_ports_the_first_that_is_free_is_listened_on(home, agent, provider):
    use_silent_browser(home)
    taken, free = listening(), listening()
    first, second = taken.getsockname()[1], free.getsockname()[1]
    free.close()
    with taken:
        home.oauthctl(*login(provider, "--port", f"{first},{second}"))
    assert provider.form("authorize")["redirect_uri"] == f"http://127.0.0.1:{second}/callback"
    assert f"redirect_ports = [{first}, {second}]" in account_file(home, "tool").read_text()
    home.oauthctl("login", "tool")
    assert provider.form("authorize")["redirect_uri"] == f"http://127.0.0.1:{first}/callback"
    # The listener of before is gone some moments after its login.
    with wait_until(lambda: free_again(first), 20, "the redirect's port is free again"), listening(port=second):
        refused = home.oauthctl("login", "tool", check=False)
    assert refused.status != 0 and "none of redirect_ports (" in refused.stderr


def test_where_another_program_has_the_port_the_login_ends_at_once(home, agent, provider):
    """Another user may have it before an address is pasted, and show one with a code of his own."""
    with listening() as taken:
        command = login(provider, "--port", str(taken.getsockname()[1]))
        refused = home.oauthctl(*command, "--no-browser", check=False, stdin="x\n")
    assert refused.status == 6 and "is in use by another program" in refused.stderr, refused.stderr
    assert "paste" not in refused.stderr and not account_file(home, "tool").exists(), refused


@pytest.mark.parametrize("redirect", ["https://app.example/cb", "https://localhost:8443/cb", f"{SCHEME}:/cb"])
def test_an_address_that_nobody_listens_at_is_pasted(home, agent, provider, redirect):
    process, address = begin(home, *login(provider, "--redirect-uri", redirect))
    assert address.startswith(redirect + "?code=")
    stdout, stderr = process.communicate(f"{redirect}?code=c&state=wrong\n{address}\n", timeout=60)
    assert process.returncode == 0 and "Logged in as tool" in stderr, stderr
    assert provider.form("authorization_code")["redirect_uri"] == redirect
    assert provider.kinds() == ["authorize", "authorization_code"]


@pytest.fixture
def unheard(home):
    """A home whose agent cannot listen for a browser."""
    folder = home.root / "programs"
    folder.mkdir(mode=0o700)
    for name in ("oauthctl", "oauthd", "oauthd-fetch"):
        shutil.copy(home.programs / name, folder)
    (folder / "oauthd-redirect").write_text("#!/bin/false\n")
    (folder / "oauthd-redirect").chmod(0o700)
    home.programs = folder
    home.agent.start()
    return home


@pytest.mark.parametrize("redirect", ["https://app.example/cb", f"{SCHEME}:/cb"])
def test_a_login_that_nobody_can_listen_for_starts_no_browser_and_goes_on(unheard, provider, redirect):
    started = unheard.root / "browser.started"
    browser = unheard.bin / "browser"
    browser.write_text(f"#!/bin/sh\n: > {started}\n")
    browser.chmod(0o700)
    unheard.environment["BROWSER"] = str(browser)
    process, address = begin(unheard, *login(provider, "--redirect-uri", redirect), browsers=())
    _, stderr = process.communicate(f"{address}\n", timeout=60)
    assert process.returncode == 0 and "Logged in as tool" in stderr, stderr
    assert not started.exists() and "BROWSER" not in stderr


def test_a_person_whose_browser_was_opened_is_asked_for_the_address_at_once(home, agent, provider):
    use_silent_browser(home)
    _, text = run_at_terminal(
        home, home.programs / "oauthctl", *login(provider, "--redirect-uri", "https://app.example/cb"),
        until="paste it here: ")
    assert "https://app.example/cb?" in text


def handler(home):
    return home.data / "applications" / f"oauthctl-{SCHEME}.desktop"


def test_a_scheme_s_handler_brings_the_address_to_the_login_that_waits(home, agent, provider):
    home.oauthctl("setup", "scheme", SCHEME, "--yes")
    [command] = re.findall("^Exec=(.*)$", handler(home).read_text(), re.MULTILINE)
    process, address = begin(home, *login(provider, "--redirect-uri", f"{SCHEME}:/cb"))
    gate = provider.holds["/token"] = threading.Event()
    words = [address if word == "%u" else word for word in shlex.split(command)]
    wrong = home.run(*words[:-1], f"{SCHEME}:/cb?code=c&state=wrong", check=False)
    assert wrong.status != 0 and "no login waits" in wrong.stderr
    # It ends while the server takes its time with the code, which would stand in its arguments.
    said = home.run(*words)
    assert "has its answer" in said.stderr and address not in said.stdout + said.stderr
    gate.set()
    # The command that waits learns it, too; a second visit changes nothing.
    learned = process.communicate(timeout=60)[1]
    assert "setup scheme" not in learned, learned
    assert "Logged in as tool" in learned and process.returncode == 0
    again = home.run(*words, check=False)
    assert again.status != 0 and "has ended" in again.stderr and address not in again.stderr
    assert provider.kinds() == ["authorize", "authorization_code"]


def test_a_handler_starts_no_agent(home):
    said = home.oauthctl("redirect", f"{SCHEME}:/cb?code=c&state=s", check=False)
    assert said.status != 0 and "state=s" not in said.stderr and not home.socket.exists()


def test_setup_scheme_shows_what_it_changes_and_takes_it_back(home):
    listed = home.config / "mimeapps.list"
    listed.parent.mkdir(parents=True, exist_ok=True)
    before = "[Default Applications]\ntext/plain=mine.desktop\n"
    listed.write_text(before)
    home.oauthctl("setup", "scheme", SCHEME, "--dry-run")
    assert not handler(home).exists() and listed.read_text() == before
    command = home.programs / "oauthctl", "setup", "scheme", SCHEME
    status, text = run_at_terminal(home, *command, answers={"[y/N]": "n\n"})
    assert status == 1 and "Exec=" in text and listed.read_text() == before
    home.oauthctl(*command[1:], "--yes")
    assert f"x-scheme-handler/{SCHEME}=oauthctl-{SCHEME}.desktop\n" in listed.read_text() and handler(home).exists()
    assert "already" in home.oauthctl(*command[1:], "--yes").stderr
    home.oauthctl(*command[1:], "--remove", "--yes")
    assert not handler(home).exists() and listed.read_text() == before
    # What is not to be read for certain is left as it is.
    head = b"[Default Applications]"
    for foreign in (head + b"\r\ntext/plain=mine.desktop\r\n", head + b"\nx=\xe4.desktop\n"):
        listed.write_bytes(foreign)
        refused = home.oauthctl(*command[1:], "--yes", check=False)
        assert refused.status == 3 and listed.read_bytes() == foreign and not handler(home).exists()
    listed.unlink()
    handler(home).parent.mkdir(parents=True, exist_ok=True)
    handler(home).write_bytes(b"\xff" * 100)
    assert home.oauthctl(*command[1:], "--yes", check=False).status == 3 and handler(home).read_bytes() == b"\xff" * 100
    # Every line that goes is shown.
    entry = "# mine\r\n[Desktop Entry]\r\n"
    handler(home).write_bytes(entry.encode())
    told = home.oauthctl(*command[1:], "--remove", "--dry-run").stderr
    assert "- # mine" in told and "- [Desktop Entry]" in told
    # What is no file of ours is not replaced, and a list that says the same elsewhere is changed where it is shown.
    handler(home).unlink()
    handler(home).symlink_to(home.root / "precious")
    (home.root / "precious").write_text("mine")
    refused = home.oauthctl(*command[1:], "--yes", check=False)
    assert refused.status == 3 and "is a link to" in refused.stderr and handler(home).is_symlink()
    handler(home).unlink()
    line = f"x-scheme-handler/{SCHEME}=oauthctl-{SCHEME}.desktop"
    removed = f"[Removed Associations]\n{line}\n"
    listed.write_text(removed)
    assert f"+ {line}" in home.oauthctl(*command[1:], "--yes").stderr
    home.oauthctl(*command[1:], "--remove", "--yes")
    assert removed in listed.read_text() and listed.read_text().count(line) == 1
    for scheme in ("https", "app", "../x.y", "Com.Example"):
        assert home.oauthctl("setup", "scheme", scheme, "--yes", check=False).status == 64
