"""Logins as people do them: a real browser, the servers' own pages."""

import pytest

from support.accounts import account_file
from support.login import get_token, wait_until


def log_in(home, server, *arguments, check=True):
    options = ["--client-id", "native-app", "--scope", "read", *arguments]
    options += ["--ca", server.ca_file] if server.ca_file else []
    return home.oauthctl("login", "work", server.issuer, *options, check=check, timeout=150)


def visited(home):
    wait_until(home.browser_log.exists, 30, "the browser ends")
    return home.browser_log.read_text()


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_login_and_consent_on_django(home, agent, world, use_browser, row, tls):
    line = row("django-oauth-toolkit, Chromium", f"login and consent pages, {'https' if tls else 'http'}")
    server = world(tls=tls)
    use_browser("chromium", WORLD_CERTIFICATE=server.ca_file and server.ca_file.with_name("server.pem"))
    result = log_in(home, server)
    assert "Logged in as work" in result.stderr and server.say_hello(get_token(home)) == 200
    assert "/accounts/login/" in visited(home) and "//127.0.0.1:" in visited(home)
    line.seen("works; the browser ends on oauthctl's own page")


def test_refusal_on_django(home, agent, dot, use_browser, row):
    line = row("django-oauth-toolkit, Chromium", "the person refuses")
    use_browser("chromium", WORLD_ANSWER="deny")
    result = log_in(home, dot, check=False)
    assert result.status != 0 and "access_denied" in result.stderr, result
    assert not account_file(home).exists()
    line.seen(f"`access_denied`, exit {result.status}, nothing is kept")


def test_device_page_on_django(home, agent, dot, use_browser, row):
    line = row("django-oauth-toolkit, Chromium", "device page, the code typed by hand")
    command = home.start(
        home.programs / "oauthctl", "login", "work", dot.issuer, "--device", "--client-id", "tv-app", "--scope", "read",
        "--device-authorization-endpoint", dot.issuer + "/device-authorization/")
    place = code = None
    for text in command.stderr:
        if text.startswith("Open this on any device"):
            place = next(command.stderr).strip()
        if text.startswith("and enter the code"):
            code = next(command.stderr).strip()
            break
    use_browser("chromium", WORLD_CODE=code, WORLD_END="device-grant-status")
    home.run(home.environment["BROWSER"], place)
    _, stderr = command.communicate(timeout=150)
    assert command.returncode == 0, home.describe(["login --device"], "failed", "", stderr)
    assert dot.say_hello(get_token(home)) == 200
    line.seen("works")


def test_login_and_consent_on_glewlwyd(home, agent, glewlwyd, use_browser, row):
    line, server = row("Glewlwyd, Chromium", "login and consent, pages made by JavaScript, https"), glewlwyd()
    use_browser("chromium", WORLD_CERTIFICATE=server.files.certificate)
    result = log_in(home, server, "--port", server.redirect_port)
    assert "Logged in as work" in result.stderr and server.say_hello(get_token(home)) == 200
    assert "/login.html" in visited(home)
    line.seen("works; its pages have no button that refuses")
