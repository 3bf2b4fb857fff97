"""What is typed or pasted at a terminal: the kernel cuts a line that it edits after 4,095 bytes, without a word."""

import os
import re
import signal
from urllib.parse import parse_qs, urlsplit

import pytest

from attacks.recording_server import RecordingServer
from login.provider import Provider
from support import processes
from support.accounts import define
from support.login import wait_until
from support.terminal import run_at_terminal


def pasted(count):
    """So many bytes, no two parts of which are one."""
    return "".join(f"{number:06d}" for number in range(count // 6 + 1))[:count]


@pytest.fixture
def asked(home, agent):
    """A server that an account with a client secret asks; what it was sent."""
    home.oauthctl("vault", "create", check=False)
    with RecordingServer("s") as server:
        define(
            home, "work", f'issuer = "{server.url}"', f'token_endpoint = "{server.url}/token"', 'client_id = "c"',
            'grant = "client_credentials"', 'client_authentication = "client_secret_post"')
        yield server


def set_secret(home, typed):
    return run_at_terminal(
        home, home.programs / "oauthctl", "secret", "set", "work", "client_secret", answers={": ": typed})


def secrets_of(home, server):
    home.oauthctl("login", "work", check=False)
    return {form["client_secret"] for _, _, form in server.requests if "client_secret" in form}


@pytest.mark.parametrize("count", [4_095, 4_096, 8_192])
def test_a_long_secret_is_kept_whole(home, asked, count):
    status, shown = set_secret(home, pasted(count) + "\n")
    assert status == 0 and pasted(count)[:100] not in shown, shown
    assert secrets_of(home, asked) == {pasted(count)}


def test_a_secret_that_is_too_long_is_refused_and_changes_nothing(home, asked):
    assert set_secret(home, "before\n")[0] == 0
    status, shown = set_secret(home, pasted((32 << 10) + 1) + "\n")
    assert status == 64 and "more than 32768 bytes" in shown, shown
    # The rest of it is nobody's command, and on no screen.
    status, shown = run_at_terminal(
        home, "sh", "-c", f"{home.programs}/oauthctl secret set work client_secret; sleep 1",
        answers={": ": pasted(60_000) + "\n"})
    assert status == 0 and pasted(60_000)[-100:] not in shown and pasted(60_000)[40_000:40_100] not in shown, shown
    status, shown = set_secret(home, pasted(8_193) + "\n")
    assert status != 0 and "1 to 8192 bytes" in shown, shown
    assert secrets_of(home, asked) == {"before"}


def test_a_secret_is_edited_as_it_is_typed(home, asked):
    assert set_secret(home, "wrong\x15righx\x7f\x7fht\n")[0] == 0
    assert secrets_of(home, asked) == {"right"}


def test_control_c_ends_the_question_and_shows_what_is_typed_again(home, asked):
    ask = f"{home.programs}/oauthctl secret set work client_secret"
    script = f"trap : INT; stty -a > {home.root}/before; {ask}; stty -a > {home.root}/after"
    run_at_terminal(home, "sh", "-c", script, answers={": ": "half\x03"})
    assert (home.root / "after").read_text() == (home.root / "before").read_text() != ""
    assert secrets_of(home, asked) == set()


@pytest.mark.parametrize("between", [[], ["bg"]], ids=["fg", "bg, fg"])
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGTSTP])
def test_a_question_that_goes_on_after_a_stop_shows_nothing_still(home, asked, number, between):
    """Bash sets the terminal as it was before it lets a stopped program go on."""
    asking = []

    def stop():
        asking.extend(pid for pid in processes.descendants() if processes.name_of(pid) == "oauthctl")
        os.kill(asking[0], number)
        return ""

    def type_secret():
        # Its first wait after the stop.
        wait_until(lambda: processes.state_of(asking[0]) == "S", 10, "the question goes on")
        return "never shown\n"

    def bring_back():
        # A program in the background that sets its terminal is stopped once more.
        wait_until(lambda: processes.state_of(asking[0]) == "T", 10, "the question waits")
        return "fg\n"

    back = {"Stopped": "bg\n", "$ bg": bring_back} if between else {"Stopped": "fg\n"}
    status, shown = run_at_terminal(
        home, "sh", "-c", "PS1='ready$ ' exec bash --norc -i", answers={
            "ready$ ": f"{home.programs}/oauthctl secret set work client_secret\n", "of work, for http": stop,
            **back, "$ fg": type_secret, "Kept": "exit\n"})
    assert "Kept the client secret" in shown and "never shown" not in shown, shown
    assert secrets_of(home, asked) == {"never shown"}


def test_a_question_in_the_background_ends_by_a_signal(home, asked):
    asking = []

    def stop():
        asking.extend(pid for pid in processes.descendants() if processes.name_of(pid) == "oauthctl")
        os.kill(asking[0], signal.SIGSTOP)
        return ""

    def end():
        wait_until(lambda: processes.state_of(asking[0]) == "T", 10, "the question waits")
        # A shell that does not know yet that it is stopped lets it go on by the second.
        return "kill %1; kill -CONT %1\n"

    def leave():
        # Until the shell knows: it does not exit while it takes the question for stopped.
        wait_until(lambda: processes.state_of(asking[0]) is None, 10, "the question has ended")
        return "exit\n"

    run_at_terminal(home, "sh", "-c", "PS1='ready$ ' exec bash --norc -i", answers={
        "ready$ ": f"{home.programs}/oauthctl secret set work client_secret\n", "of work, for http": stop,
        "Stopped": "bg\n", "$ bg": end, "$ kill": leave})
    assert secrets_of(home, asked) == set()


def test_a_question_that_begins_in_the_background_ends_by_a_signal(home, asked):
    asking = []

    def is_asking():
        asking[:] = [pid for pid in processes.descendants() if processes.name_of(pid) == "oauthctl"]
        return asking and processes.state_of(asking[0]) == "T"

    def end():
        wait_until(is_asking, 10, "the question waits")
        return "kill %1; kill -CONT %1\n"

    def leave():
        wait_until(lambda: processes.state_of(asking[0]) is None, 10, "the question has ended")
        return "exit\n"

    run_at_terminal(home, "sh", "-c", "PS1='ready$ ' exec bash --norc -i", answers={
        "ready$ ": f"{home.programs}/oauthctl secret set work client_secret &\n", "[1] ": end, "$ kill": leave})
    assert secrets_of(home, asked) == set()


@pytest.mark.parametrize("most", range(4, 9))
def test_no_secret_is_shown_where_descriptors_run_out(home, asked, most):
    # Some of these limits are too low for the question itself.
    ask = f"ulimit -n {most}; exec {home.programs}/oauthctl secret set work client_secret"
    _, shown = run_at_terminal(home, "sh", "-c", ask, answers={"of work, for http": "never shown\n"}, seconds=20)
    assert "never shown" not in shown, shown


def test_an_address_that_the_terminal_cut_is_not_used(home, agent):
    home.oauthctl("vault", "create", check=False)
    with Provider() as provider:
        provider.define(home, 'scope = "read"')
        shown = []

        def address():
            url = parse_qs(urlsplit(re.search(r"http://127\.0\.0\.1:\d+/authorize\?\S+", shown[-1])[0]).query)
            return f"{url['redirect_uri'][0]}?state={url['state'][0]}&code={'c' * 6_000}\n"

        _, text = run_at_terminal(
            home, home.programs / "oauthctl", "login", "work", "--no-browser", answers={"aste": address},
            seen=shown.append, until="oauthctl login work --device")
        assert "cuts lines after 4095 bytes" in text
        assert "authorization_code" not in provider.kinds()
