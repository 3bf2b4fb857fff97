"""A client that was registered here is deleted after it has revoked its tokens: once it is gone it revokes none."""

import signal
import subprocess

import pytest

from attacks.test_between_questions import Between
from login.provider import use_silent_browser
from login.test_registration import Managing
from support.login import wait_until


class Ordered(Managing):
    """`log` holds what it has revoked and deleted, in order. It revokes no token of `spared`, and none for a
    client that is deleted."""

    def __init__(self):
        self.spared, self.log = set(), []
        super().__init__()

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if method == "DELETE":
            self.log.append("deleted")
        if url.path == "/token":
            self.log.append("tokens")
        if url.path == "/revoke":
            if self.seen[-1][1]["token"] in self.spared:
                return "503 Service Unavailable", {}, None
            if self.deleted:
                self.log.append("refused")
                return "401 Unauthorized", {}, {"error": "invalid_client"}
            self.log.append(self.seen[-1][1]["token"])
        return status, headers, answer


@pytest.fixture
def provider(home):
    use_silent_browser(home)
    with Ordered() as provider:
        yield provider


def test_a_client_stays_until_the_logouts_of_all_accounts_by_it_are_told(home, agent, provider):
    home.oauthctl("login", "one", provider.url)
    folder = home.config / "oauthctl" / "accounts.d"
    (folder / "two.toml").write_text((folder / "one.toml").read_text())
    (folder / "two.toml").chmod(0o600)
    home.oauthctl("login", "two")
    provider.spared = {"refresh-2"}
    for name in "two", "one":
        home.oauthctl("logout", name)
        said = home.oauthctl("account", "forget", name, "--yes").stderr
    assert "what two has still to revoke goes first" in said and "deleted" not in provider.log, said
    provider.spared = set()
    home.agent.restart()
    wait_until(lambda: "deleted" in provider.log, 90, "the client to be deleted")
    assert provider.log.index("refresh-1") < provider.log.index("refresh-2") < provider.log.index("deleted")
    assert "refused" not in provider.log


@pytest.mark.parametrize("end", ["interrupt", "forget"])
def test_a_client_stays_until_the_tokens_of_a_login_that_was_given_up_are_revoked(home, agent, provider, end):
    home.oauthctl("vault", "create")
    gate = provider.hold("/token")
    login = home.start(home.programs / "oauthctl", "login", "one", provider.url, stdin=subprocess.DEVNULL)
    wait_until(lambda: "tokens" in provider.log, 30, "the tokens")
    if end == "interrupt":
        login.send_signal(signal.SIGINT)
    else:
        # Its answer waits until the login, which it has ended, has taken back the file that it had made.
        with Between(home, '"client":') as between:
            forget = home.start(home.programs / "oauthctl", "account", "forget", "one", "--yes",
                                environment={"OAUTHCTL_SOCKET": str(between.path)})
            assert between.reached.wait(30)
            login.wait(30)
            between.goes.set()
            _, told = forget.communicate(timeout=60)
        assert forget.returncode == 0 and "Forgot one." in told, told
    login.wait(30)
    gate.set()
    wait_until(lambda: "deleted" in provider.log, 60, "the client to be deleted")
    assert provider.log == ["tokens", "refresh-1", "deleted"]
