"""A command that joins the login of another: it is there for that one, too."""

import pytest

from login.provider import Provider, use_silent_browser
from support.login import wait_until


@pytest.mark.parametrize("words", [[], ["--timeout", "1"]], ids=["nothing to read", "out of time"])
def test_a_command_that_cannot_go_on_leaves_the_login_that_it_has_joined(home, agent, words):
    """As a script does, which has no browser and no terminal, beside a person at hers."""
    use_silent_browser(home)
    with Provider() as provider:
        home.oauthctl("vault", "create", check=False)
        provider.define(home, 'scope = "read"')
        gate = provider.hold("/authorize")
        login = home.start(home.programs / "oauthctl", "login", "work")
        wait_until(lambda: "authorize" in provider.kinds(), 30, "the browser")
        joined = home.oauthctl("login", "work", *words, environment={"BROWSER": "nothing"}, check=False)
        assert joined.status != 0, joined
        gate.set()
        said = login.communicate(timeout=60)[1]
        assert login.returncode == 0 and "Logged in" in said, said
        assert provider.kinds().count("authorize") == 1


def test_a_command_that_cannot_go_on_gives_up_the_login_that_it_has_begun(home, agent):
    with Provider() as provider:
        home.oauthctl("vault", "create", check=False)
        provider.define(home, 'scope = "read"')
        alone = home.oauthctl("login", "work", environment={"BROWSER": "nothing"}, check=False)
        assert alone.status == 64 and "standard input has ended" in alone.stderr, alone
        assert "login_pending" not in home.oauthctl("status", "--json").stdout
