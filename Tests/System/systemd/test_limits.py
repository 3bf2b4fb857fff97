"""`MemoryMax=` and `TasksMax=` of the unit: that systemd sets them, and what the kernel makes of it.

What the agent itself does at its limits is in agent/test_limits.py.
"""

import json
import signal

import pytest

from support.login import wait_until
from systemd.limits import CONTROLLERS, Limit
from systemd.machine import Machine, missing, of_unit


@pytest.fixture(scope="module")
def machine(scratch, programs):
    """A machine whose users' service managers were given the controllers."""
    if needed := missing():
        pytest.skip(f"needs {needed}")
    folder = scratch / "limits"
    folder.mkdir()
    booted = Machine(folder, programs, CONTROLLERS)
    yield booted
    booted.stop()


@pytest.fixture
def service(user):
    user.systemctl("start", "oauthd.socket")
    user.oauthctl("status")
    return user


def around(user, controller, what):
    """The limit that the agent's cgroup has, and how to put a burden in it: root's, whom no limit of a user's holds."""
    folder = user.machine.cgroup(user.agent, controller)
    return Limit(controller, user.machine.path(folder)), lambda: user.machine.start(
        "/usr/bin/python3", "-B", "/srv/tests/burden.py", folder, what, stdin=-1)


def pid_answered(user):
    return json.loads(user.oauthctl("status", "--json").stdout)["pid"]


def test_a_storm_of_tasks_ends_at_the_units_limit(service):
    (limit, begin), most = around(service, "pids", "tasks"), of_unit("TasksMax")
    assert limit.value == most
    own, agent = limit.now, service.agent
    assert 0 < own < most
    storm = begin()
    had, refused = storm.stdout.readline().split()
    # The loop's threads may come and go; everything that is in the cgroup fills it.
    assert refused == "EAGAIN" and most - 2 * own <= int(had) < most and limit.now <= most
    # Nobody else is refused anything, and nor are callers of tokens that are there.
    assert pid_answered(service) == agent
    storm.communicate("\n", timeout=60)
    wait_until(lambda: limit.now <= 2 * own, 20, "the storm is over")
    assert pid_answered(service) == agent and service.show("NRestarts") == "0"


def test_who_takes_more_memory_than_the_unit_may_is_killed(service):
    (limit, begin), most = around(service, "memory", "memory"), of_unit("MemoryMax")
    assert limit.value == most
    glutton = begin()
    had = int(glutton.communicate(timeout=120)[0].split()[-1])
    # nsenter tells of its child's end as a shell does, or by the same one.
    assert glutton.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    assert 0.75 * most < had << 20 < most
    # In version 2 of the cgroups systemd ends the agent with it (`OOMPolicy=stop`), and starts another.
    assert pid_answered(service) == wait_until(lambda: service.agent, 30, "an agent")
