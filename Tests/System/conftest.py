"""Fixtures of the system tests: the built programs in a private home, against real servers on loopback.

OAUTHCTL_BIN names the folder of the programs (default: .build/release of this package).
"""

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from support import processes
from support.home import Home
from support.listener import Listener
from support.unattended import log_in, server_of
from support.vault import made_vault
from systemd.machine import Machine, missing
from world.server import AuthorizationServer, Settings, site_template

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = ("oauthctl", "oauthd", "oauthd-fetch", "oauthd-redirect", "oauth-dev-server")


@pytest.fixture(scope="session", autouse=True)
def nothing_left_running():
    """Ends what tests started and left, detached processes too."""
    processes.adopt_orphans()
    before = processes.children()
    yield
    processes.end_orphans(before)


@pytest.fixture(scope="session")
def scratch():
    """The folder of everything the tests write; below /tmp because socket paths are short."""
    folder = Path(tempfile.mkdtemp(prefix="oct-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def programs():
    """The folder of the built programs; without them the tests fail rather than skip."""
    folder = Path(os.environ.get("OAUTHCTL_BIN", ROOT / ".build" / "release")).resolve()
    missing = [name for name in PROGRAMS if not os.access(folder / name, os.X_OK)]
    if missing:
        pytest.fail(f"not in {folder}: {', '.join(missing)}. Run `make build`, or set OAUTHCTL_BIN.", pytrace=False)
    return folder


numbers = itertools.count(1)


@pytest.fixture
def home(scratch, programs):
    """A private home; whatever still runs in it is ended with the test."""
    before = processes.children()
    root = scratch / f"h{next(numbers)}"
    root.mkdir(mode=0o700)
    private = Home(root, programs)
    yield private
    private.agent.stop()
    processes.end_orphans(before)
    if private.agent.log.exists():
        log = private.agent.log.read_text(errors="replace")
        assert "Sanitizer" not in log, log


@pytest.fixture
def agent(home):
    """The home's agent, running."""
    return home.agent.start()


@pytest.fixture
def oauthctl(home):
    """oauthctl(*arguments, stdin=None, check=True, timeout=60, environment=None) -> Result, in the home."""
    return home.oauthctl


@pytest.fixture(scope="session")
def world(scratch):
    """world(**settings) -> AuthorizationServer; servers with equal settings are one and the same."""
    servers = {}

    def server(**settings):
        wanted = Settings(**settings)
        if wanted not in servers:
            template = site_template(scratch / "site")
            servers[wanted] = AuthorizationServer(wanted, scratch / f"as{len(servers)}", template)
        return servers[wanted]

    yield server
    for started in servers.values():
        started.stop()


@pytest.fixture
def dot(world):
    """django-oauth-toolkit with the default settings: tokens that live 5 minutes, rotation without grace."""
    return world()


@pytest.fixture
def server(home):
    """A server that rotates without grace: an old refresh token that is sent ends the login."""
    started = server_of(home, "strict")
    yield started
    started.process.send_signal(signal.SIGCONT)
    home.agent.stop()
    started.stop()


@pytest.fixture
def vault(home, server):
    """A running agent, a login `work`, and a vault with key file and recovery code: `code`."""
    home.agent.start()
    home.code = made_vault(home)
    log_in(home, server)
    return home


@pytest.fixture
def work(vault):
    """A running agent, and a login `work`."""
    return vault


@pytest.fixture
def elsewhere():
    """A server that is nobody's friend: `url`, and `seen`, the headers of each request that reached it."""
    with Listener() as listener:
        yield listener


@pytest.fixture(scope="session")
def machine(scratch, programs):
    """A booted systemd with the programs and units installed."""
    if needed := missing():
        pytest.skip(f"needs {needed}")
    folder = scratch / "machine"
    folder.mkdir()
    booted = Machine(folder, programs)
    yield booted
    booted.stop()


@pytest.fixture
def user(machine):
    """A fresh user of the machine, with a running `systemd --user`."""
    person = machine.new_user()
    yield person
    person.stop()


def pytest_report_header():
    version = subprocess.run(["git", "--version"], capture_output=True, text=True).stdout.strip()
    return f"programs: {os.environ.get('OAUTHCTL_BIN', ROOT / '.build' / 'release')}; {version}"
