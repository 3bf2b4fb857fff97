"""A logout that its server was not told yet, and a login of after it, over reboots and with a clock that was wrong."""

import uuid

import pytest

from crowd.wall import Wall
from login.provider import use_silent_browser
from login.whole_provider import Whole
from network.namespaces import isolated, needs_root, run

HOUR = 3600


def reboot(home, wall):
    home.agent.stop()
    boot = home.root / uuid.uuid4().hex
    boot.write_text(f"{uuid.uuid4()}\n")
    run("mount", "--bind", boot, "/proc/sys/kernel/random/boot_id")
    home.agent.start(environment=wall.environment)


@needs_root
@pytest.mark.parametrize("ahead", [0, HOUR, -HOUR])
def test_a_logout_ends_no_later_login_whatever_the_clock_said_then(home, ahead):
    """The server tells no time."""
    use_silent_browser(home)
    wall = Wall(home.root)

    def story():
        with Whole() as provider:
            wall.set(ahead)
            home.agent.start(environment=wall.environment)
            home.oauthctl("login", "one", provider.issuer, "--client-id", "app")
            reboot(home, wall)
            provider.busy = True
            assert "could not be told yet" in home.oauthctl("logout", "one").stderr
            wall.set(0)
            reboot(home, wall)
            home.oauthctl("login", "two", provider.issuer, "--client-id", "app")
            provider.busy = False
            reboot(home, wall)
            # Whoever logs in has what waits told before, where it ends no login.
            home.oauthctl("login", "three", provider.issuer, "--client-id", "app")
            home.oauthctl("get-token", "two", "--force")
            assert provider.revoked == []
            for name in ("two", "three"):
                home.oauthctl("logout", name)
            assert "refresh-1" in provider.revoked
            home.agent.stop()

    isolated(story)
