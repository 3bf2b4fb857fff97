"""The device flow (RFC 8628): somebody enters a code at another device."""

import re

from login.clients import TV, device_login, start_device_login
from support.accounts import account_file
from support.login import get_token, wait_until
from support.terminal import run_at_terminal

DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"


def test_device_flow(home, agent, dot):
    mark = dot.mark()
    status, stdout, stderr = device_login(home, dot, "allow")
    assert (status, stdout) == (0, "") and "Logged in as tv" in stderr
    assert dot.say_hello(get_token(home, "tv")) == 200
    polls = dot.token_requests(DEVICE_CODE, mark)
    assert [entry["status"] for entry in polls][-1] == 200 and {entry["status"] for entry in polls[:-1]} <= {400}
    # Never sooner than the interval that the server told: 1 s.
    times = [entry["time"] for entry in polls]
    assert all(after - before >= 0.95 for before, after in zip(times, times[1:]))


def test_a_login_that_nobody_finishes_is_given_up_after_timeout(home, agent, dot):
    """By device and by browser; what was made for it goes again."""
    endpoint = ["--device-authorization-endpoint", dot.issuer + "/device-authorization/"]
    browser = ["--client-id", "native-app", "--scope", "read", "--no-browser"]
    for words in ([*TV, *endpoint], browser):
        told = home.oauthctl("login", "tv", dot.issuer, *words, "--timeout", "1", check=False)
        assert told.status == 4 and "tv: nobody finished the login within 1 s" in told.stderr
        assert ("the server may not know the client id" in told.stderr) == (words is browser), told
        [again] = re.findall("run: (.*)", told.stderr)
        assert again.startswith(f"oauthctl login tv {dot.issuer} ") and "--timeout" not in again
        assert again.count("--device ") == words.count("--device") and not account_file(home, "tv").exists()
    assert home.oauthctl("login", "tv", dot.issuer, *TV, "--timeout", "0", check=False).status == 64


def test_a_question_that_nobody_can_be_asked_is_named_without_its_colon(home, agent, dot):
    """Without a terminal."""
    command = home.start(
        home.programs / "oauthctl", "login", "m", dot.issuer, "--client-id", "machine", "--grant", "client-credentials",
        start_new_session=True)
    said = command.communicate(timeout=60)[1]
    assert command.returncode == 64
    assert re.search("there is no terminal to ask on: Client secret of m, [^\n]*[^: \n]\n", said), said


def test_a_device_login_is_renewed_like_any_other(home, agent, dot):
    device_login(home, dot, "allow")
    token, mark = get_token(home, "tv"), dot.mark()
    answer = home.oauthctl("get-token", "tv", "--rejected-stdin", stdin=token)
    assert dot.say_hello(answer.lines[0]) == 200 and answer.lines[0] != token and len(dot.refreshes(mark)) == 1


def test_the_page_with_the_code_is_drawn_at_a_terminal_that_is_wide_enough(home, agent, dot):
    """As a QR code, unless it is declined; what it says stands above it in letters."""
    command = [
        home.programs / "oauthctl", "login", "tv", dot.issuer, *TV, "--device-authorization-endpoint",
        dot.issuer + "/device-authorization/"]
    wide = {"COLUMNS": "100", "TERM": "xterm"}

    def shown(*flags, **variables):
        _, text = run_at_terminal(home, *command, *flags, until="Waiting", environment={**wide, **variables})
        assert "user_code=" in text
        return "▀" in text and "█" in text

    assert shown()
    assert not shown("--no-qr")
    assert not shown(COLUMNS="30")
    assert not shown(LC_ALL="C")
    assert not shown(TERM="dumb")
    piped = start_device_login(home, dot)
    lines = []
    for line in piped.stderr:
        lines.append(line)
        if "Waiting" in line:
            break
    piped.kill()
    piped.wait()
    assert "█" not in "".join(lines)


def test_a_denied_device_is_told_and_polling_ends(home, agent, dot):
    status, stdout, stderr = device_login(home, dot, "deny")
    assert (status, stdout) == (9, "") and "denied" in stderr
    mark = dot.mark()
    assert home.oauthctl("get-token", "tv", check=False).status == 3
    assert dot.log_entries(mark) == []


def test_a_device_login_that_is_given_up_ends_the_polling(home, agent, dot):
    command = start_device_login(home, dot)
    assert any("Waiting" in line for line in command.stderr)
    mark = dot.mark()
    wait_until(lambda: dot.log_entries(mark), 20, "a poll")
    command.send_signal(2)
    _, rest = command.communicate(timeout=20)
    assert command.returncode == 130 and "given up" in rest
    with agent.connect() as wire:
        assert wire.call("account.list")["accounts"] == []


def test_a_server_that_does_not_say_where_devices_ask_is_told(home, agent, dot):
    result = home.oauthctl("login", "tv", dot.issuer, *TV, check=False)
    assert (result.status, result.stdout) == (3, "") and "--device-authorization-endpoint" in result.stderr


def test_a_client_that_the_server_does_not_know_is_told(home, agent, dot):
    result = home.oauthctl(
        "login", "tv", dot.issuer, "--client-id", "nobody", "--device", "--device-authorization-endpoint",
        dot.issuer + "/device-authorization/", check=False)
    assert (result.status, result.stdout) == (9, "") and "Invalid client_id" in result.stderr
