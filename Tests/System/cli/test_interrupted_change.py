"""Control-C of a command that waits for a refresh: the agent has its wish, and says what becomes of it."""

import signal
import time

from login.provider import Provider, use_silent_browser
from support.login import wait_until


def test_whoever_gives_up_a_change_that_waits_for_a_refresh_is_told_that_it_may_be_made(home, agent):
    use_silent_browser(home)
    with Provider() as server:
        server.define(home, 'scope = "read"', 'keep = "on-demand"')
        home.oauthctl("login", "work")
        held = server.hold("/token")
        asking = home.start(home.programs / "oauthctl", "get-token", "work", "--force")
        wait_until(lambda: "refresh_token" in server.kinds(), 20, "a refresh")
        command = home.start(
            home.programs / "oauthctl", "logout", "work",
            # Whoever runs this may ignore it, as a shell does for what it starts in the background.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        # It has asked by then, and waits.
        time.sleep(1)
        command.send_signal(signal.SIGINT)
        _, told = command.communicate(timeout=20)
        assert command.returncode == -signal.SIGINT and "may do it all the same" in told, told
        held.set()
        asking.communicate(timeout=60)
        wait_until(lambda: "logged out" in home.oauthctl("status").stdout, 20, "it is made")
