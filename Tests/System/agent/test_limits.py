"""`MemoryMax=` and `TasksMax=` of the unit: what they hold the agent to, and what becomes of it there.

The kernel's limit is put around the agent here, with the unit's numbers; that systemd does the same is shown in
systemd/test_limits.py.
"""

import os
import threading

import pytest

from support.dev_server import DevServer
from support.wire import Wire, WireError
from systemd.limits import Limit
from systemd.machine import of_unit

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a cgroup")
ACCOUNTS = 24


@pytest.fixture
def server(home, agent):
    server = DevServer(home, "--auto-consent", "--access-token-life", "3600")
    home.use_browser("alice", "demo")
    for number in range(ACCOUNTS):
        home.oauthctl("login", f"a{number}", server.issuer, "--client-id", "dev", "--scope", "read")
    yield server
    server.stop()


def refresh_all(home):
    """A refresh of every account at once; the failures."""
    failures = []

    def refresh(number):
        with Wire(home.socket) as wire:
            try:
                wire.call("token.get", account=f"a{number}", force=True)
            except WireError as error:
                failures.append(error.failure)

    threads = [threading.Thread(target=refresh, args=(number,)) for number in range(ACCOUNTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_tasks(home, agent, server):
    with Limit.new("pids", of_unit("TasksMax")) as limit:
        limit.add(agent.process.pid)
        server.script(delay_ms={"token": 1000})
        most, done = [0], threading.Event()

        def watch():
            while not done.is_set():
                most[0] = max(most[0], limit.now)

        watching = threading.Thread(target=watch)
        watching.start()
        assert refresh_all(home) == []
        done.set()
        watching.join()
        print(f"most tasks: {most[0]} of {of_unit('TasksMax')}")
        assert 1 < most[0] < of_unit("TasksMax") / 4

        # At the limit no request can be made; its caller is told so, and it is over when the limit is.
        server.script(delay_ms={})
        limit.set(limit.now)
        with Wire(home.socket) as wire:
            for account in ("a0", "a1", "a2"):
                with pytest.raises(WireError) as refused:
                    wire.call("token.get", account=account, force=True, timeout_ms=20_000)
                assert refused.value.failure == "unavailable"
            assert wire.call("token.get", account="a3")["access_token"]
            limit.set("max")
            assert wire.call("token.get", account="a4", force=True)["access_token"]
            wire.call("token.get", account="a0")
        assert agent.process.poll() is None


def test_memory(home, agent, server):
    with Limit.new("memory", of_unit("MemoryMax")) as limit:
        limit.add(agent.process.pid)
        assert refresh_all(home) == []
        print(f"most memory: {limit.peak >> 10} KiB of {of_unit('MemoryMax') >> 10}")
        assert limit.peak < of_unit("MemoryMax") / 4
