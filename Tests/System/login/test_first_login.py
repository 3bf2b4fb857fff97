"""A login that fails: what it leaves behind, and what it says to do next."""

import http.client
import json
import re
import shlex
import signal
import socket
import subprocess
from urllib.parse import urlsplit

import pytest

from support.accounts import account_file, define
from support.dev_server import DevServer, consenting
from support.login import get_token
from support.terminal import run_at_terminal

LEGACY = ["--client-id", "dev-legacy", "--grant", "password", "--username", "alice"]
MACHINE = ["--client-id", "dev-machine", "--grant", "client-credentials", "--client-secret-stdin"]


@pytest.fixture
def server(home, agent):
    server = DevServer(home)
    yield server
    server.stop()


def next_step(result):
    """What stands behind `run: `, without the remark behind it."""
    [step] = [line for line in result.stderr.splitlines() if line.startswith("  run: ")]
    return step.removeprefix("  run: ").partition("   ")[0]


def accounts(home):
    return [account["account"] for account in json.loads(home.oauthctl("account", "list", "--json").stdout)["accounts"]]


@pytest.mark.parametrize(("arguments", "wrong", "right", "status"), [
    ([*LEGACY, "--password-stdin"], "wrong", "demo", 9),
    ([*LEGACY, "--password-stdin", "--keep-password"], "wrong", "demo", 9),
    (MACHINE, "not-the-secret", "dev-machine-secret", 9),
], ids=["password", "kept password", "client secret"])
def test_a_first_login_that_fails_leaves_nothing_and_tells_the_whole_command(
        home, server, arguments, wrong, right, status):
    failed = home.oauthctl("login", "work", server.issuer, *arguments, stdin=wrong + "\n", check=False)
    assert (failed.status, failed.stdout) == (status, "") and "is removed again" in failed.stderr
    assert not account_file(home).exists() and accounts(home) == []
    step = next_step(failed)
    assert shlex.split(step) == ["oauthctl", "login", "work", server.issuer, *arguments]
    assert ("# with the right --username and password" in failed.stderr) == (arguments != MACHINE)
    home.run("sh", "-c", step, stdin=right + "\n")
    get_token(home)


def test_a_client_whose_secret_was_forgotten_is_told_how_to_give_it(home, agent):
    with consenting(home) as server:
        failed = home.oauthctl("login", "work", server.issuer, "--client-id", "dev-web", check=False)
        assert failed.status == 9 and "invalid_client" in failed.stderr, failed
        step = shlex.split(next_step(failed))
        assert step == ["oauthctl", "login", "work", server.issuer, "--client-id", "dev-web", "--client-secret-stdin"]
        home.oauthctl(*step[1:], stdin="dev-web-secret\n")
        get_token(home)


def test_an_address_is_pasted_behind_a_secret_from_standard_input(home, agent):
    with consenting(home) as server:
        login = home.start(
            home.programs / "oauthctl", "login", "work", server.issuer, "--client-id", "dev-web",
            "--client-secret-stdin", "--no-browser", stdin=subprocess.PIPE)
        login.stdin.write("dev-web-secret\n")
        login.stdin.flush()
        url = next(found.group() for line in login.stderr if (found := re.search(r"http\S+[?&]state=\S+", line)))
        place = urlsplit(url)
        connection = http.client.HTTPConnection(place.netloc, timeout=20)
        connection.request("GET", f"{place.path}?{place.query}")
        redirect = connection.getresponse().getheader("Location")
        connection.close()
        _, stderr = login.communicate(redirect + "\n", timeout=60)
        assert login.returncode == 0, stderr
        get_token(home)


@pytest.mark.parametrize("has_endpoints", [False, True], ids=["by discovery", "endpoints as given"])
def test_a_first_login_at_a_server_that_is_not_there_says_what_to_look_at(home, agent, has_endpoints):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        issuer = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        endpoints = ["--token-endpoint", issuer + "/token"] if has_endpoints else []
        failed = home.oauthctl("login", "work", issuer, *MACHINE, *endpoints, stdin="secret\n", check=False)
    assert failed.status == 6 and "connect" in failed.stderr.lower()
    assert failed.stderr.endswith("\n  check its address, and whether the server runs; then try again\n"), failed
    assert not account_file(home).exists()


def test_a_scope_that_is_refused_at_the_first_login_is_told_without_the_file_that_is_gone(home, server):
    arguments = [*MACHINE, "--scope", "no-such"]
    failed = home.oauthctl("login", "work", server.issuer, *arguments, stdin="dev-machine-secret\n", check=False)
    assert failed.status == 9 and "is removed again" in failed.stderr and "invalid_scope" in failed.stderr
    assert failed.stderr.rstrip().endswith("with another --scope") and "check scope in" not in failed.stderr


def test_without_browser_and_terminal_a_login_ends_at_once_and_names_a_browser_that_is_gone(home, server):
    home.environment["BROWSER"] = "/gone/firefox"
    failed = home.oauthctl("login", "work", server.issuer, "--client-id", "dev", check=False)
    assert failed.status == 64 and "BROWSER (/gone/firefox)" in failed.stderr
    assert "no browser can be opened here" in failed.stderr and "--device" in next_step(failed)
    assert not account_file(home).exists() and accounts(home) == []
    # Who says so waits for a browser elsewhere, and is told how long.
    command = home.start(
        home.programs / "oauthctl", "login", "work", server.issuer, "--client-id", "dev", "--no-browser")
    assert any("Waiting 5 min at most" in line for line in command.stderr)
    command.send_signal(signal.SIGINT)
    command.communicate(timeout=20)


def test_a_login_given_up_leaves_nothing(home, server):
    command = home.start(
        home.programs / "oauthctl", "login", "tv", server.issuer, "--client-id", "dev-tv", "--device")
    assert any("Waiting" in line for line in command.stderr)
    command.send_signal(signal.SIGINT)
    _, rest = command.communicate(timeout=20)
    assert command.returncode == 130 and "is removed again" in rest
    assert "The vault stays, and with it the recovery code" in rest
    assert not account_file(home, "tv").exists() and accounts(home) == []


def test_a_first_login_that_another_terminal_gives_up_is_begun_anew_by_the_whole_command(home, server):
    """The account that both log in to was made by the other command, which takes it back."""
    words = ["login", "tv", server.issuer, "--client-id", "dev-tv", "--device"]
    commands = []
    for _ in range(2):
        commands.append(home.start(home.programs / "oauthctl", *words))
        assert any("Waiting" in line for line in commands[-1].stderr)
    commands[0].send_signal(signal.SIGINT)
    assert "is removed again" in commands[0].communicate(timeout=20)[1]
    _, rest = commands[1].communicate(timeout=20)
    assert commands[1].returncode == 4 and f"run: oauthctl {' '.join(words)}\n" in rest, rest
    assert not account_file(home, "tv").exists() and accounts(home) == []


@pytest.mark.parametrize("how", ["changed", "replaced by the same"])
def test_a_file_that_somebody_edits_meanwhile_is_left(home, server, how):
    command = home.start(
        home.programs / "oauthctl", "login", "tv", server.issuer, "--client-id", "dev-tv", "--device")
    assert any("Waiting" in line for line in command.stderr)
    file = account_file(home, "tv")
    text = file.read_text()
    if how == "changed":
        text += "# mine\n"
        with file.open("a") as end:
            end.write("# mine\n")
    else:
        other = file.with_suffix(".new")
        other.write_text(text)
        other.rename(file)
    command.send_signal(signal.SIGINT)
    _, rest = command.communicate(timeout=20)
    assert command.returncode == 130 and file.read_text() == text
    assert "was changed meanwhile, and stays" in rest and "oauthctl account forget tv" in rest
    assert "removed" not in rest and accounts(home) == ["tv"]


def test_a_question_given_up_leaves_nothing(home, server):
    status, text = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work", server.issuer, *LEGACY,
        answers={"Password for work": "\x03"})
    assert status == 130 and "is removed again" in text
    assert not account_file(home).exists() and accounts(home) == []


def test_an_account_that_was_there_before_stays(home, server):
    define(
        home, "work", f'issuer = "{server.issuer}"', 'client_id = "dev-legacy"', 'grant = "password"',
        'username = "alice"')
    before = account_file(home).read_text()
    for arguments in ([], [server.issuer, *LEGACY, "--replace"]):
        failed = home.oauthctl("login", "work", *arguments, "--password-stdin", stdin="wrong\n", check=False)
        assert failed.status == 9 and "removed" not in failed.stderr
        # To be asked for another password.
        step = next_step(failed)
        assert step.startswith("oauthctl login work") and ("--replace" in step) == bool(arguments)
        assert account_file(home).read_text() == before
    assert accounts(home) == ["work"] and "dev-legacy" in before
    home.oauthctl("login", "work", "--password-stdin", stdin="demo\n")


def test_one_of_two_secrets_stays_with_the_way_on_and_the_way_back(home, server):
    half = home.oauthctl(
        "login", "work", server.issuer, *LEGACY, "--client-secret-stdin", stdin="secret\n", check=False)
    assert half.status != 0 and "oauthctl login work --password-stdin" in half.stderr
    assert "oauthctl account forget work" in half.stderr and accounts(home) == ["work"]


def test_a_kept_password_that_is_refused_is_to_be_set_anew(home, server):
    define(
        home, "work", f'issuer = "{server.issuer}"', 'client_id = "dev-legacy"', 'grant = "password"',
        'username = "alice"')
    home.oauthctl("secret", "set", "work", "password", stdin="wrong\n")
    failed = home.oauthctl("login", "work", check=False)
    assert next_step(failed) == "oauthctl secret set work password && oauthctl login work"
    home.run("sh", "-c", next_step(failed), stdin="demo\n")
    get_token(home)


@pytest.mark.parametrize("names", [[], ["work"]], ids=["a lone address", "beside a name"])
def test_plain_http_to_another_machine_is_refused_with_the_command_that_may_work(home, server, names):
    define(home, "work", f'issuer = "{server.issuer}"', 'client_id = "dev"')
    told = home.oauthctl("login", *names, "http://example.invalid/x", "--scope", "read", check=False)
    assert told.status == 64 and "http:// is accepted on this machine only" in told.stderr, told
    assert shlex.split(next_step(told)) == ["oauthctl", "login", *names, "https://example.invalid/x", "--scope", "read"]
    other = home.oauthctl("login", "ftp://example.invalid/x", check=False)
    assert other.status == 64 and next_step(other) == "oauthctl login https://example.invalid/x", other


def test_a_denied_device_is_told_to_log_in_again_by_device(home, server):
    define(home, "work", f'issuer = "{server.issuer}"', 'client_id = "dev"')
    command = home.start(home.programs / "oauthctl", "login", "work", "--device")
    shown = []
    for line in command.stderr:
        shown.append(line.strip())
        if "Waiting" in line:
            break
    server.script(device_interval_s=0.1, deny_device=shown[shown.index("and enter the code:") + 1])
    _, rest = command.communicate(timeout=60)
    assert command.returncode == 9 and "run: oauthctl login work --device" in rest


def test_a_forgotten_name_is_told_with_the_command_that_has_one(home, server):
    told = home.oauthctl("login", "as.example", "--client-id", "dev", "--scope", "read write", check=False)
    assert told.status == 64 and "server's address" in told.stderr
    assert shlex.split(next_step(told)) == [
        "oauthctl", "login", "work", "as.example", "--client-id", "dev", "--scope", "read write"]


def test_several_accounts_are_named_each_with_its_command(home, server):
    for name in ("alpha", "beta"):
        define(home, name, f'issuer = "{server.issuer}"', 'client_id = "dev"')
    told = home.oauthctl("login", check=False)
    assert told.status == 3 and "oauthctl login alpha   # or: oauthctl login beta" in told.stderr
    for arguments in (["get-token", "--url", server.issuer], ["curl", server.issuer + "/api/hello"]):
        told = home.oauthctl(*arguments, check=False)
        assert "oauthctl login alpha   # or: oauthctl login beta" in told.stderr
