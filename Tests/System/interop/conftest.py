"""Fixtures of the interoperability tests: other engines, a real browser, somebody else's resource server."""

import itertools
import sys
from pathlib import Path

import pytest

from interop import table
from interop.apache import Apache
from interop.glewlwyd import Glewlwyd, Settings
from support.ports import free_port
from world.accounts import CLIENTS

TESTS = Path(__file__).resolve().parent.parent
rows = []


def pytest_addoption(parser):
    parser.addoption("--table", help="write what was seen into this file, between its marks")


@pytest.fixture
def row(request):
    """row(server, feature) -> table.Row: this test's line of the table."""

    def add(server, feature):
        found = table.Row(server, feature)
        request.node.user_properties.append(("row", found))
        rows.append(found)
        return found

    return add


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call":
        for name, found in item.user_properties:
            if name == "row":
                found.ended = report.outcome
        # The reports of pytest must be plain data.
        report.user_properties = []
    return report


def pytest_sessionfinish(session):
    if (file := session.config.getoption("--table")) and rows:
        table.write(Path(file), rows)


@pytest.fixture(scope="session")
def glewlwyd(scratch):
    """glewlwyd(**settings) -> Glewlwyd; servers with equal settings are one and the same."""
    servers = {}

    def server(**settings):
        wanted = Settings(**settings)
        if wanted not in servers:
            servers[wanted] = Glewlwyd(wanted, scratch / f"glewlwyd{len(servers)}")
        return servers[wanted]

    yield server
    for started in servers.values():
        started.stop()


numbers = itertools.count(1)


@pytest.fixture
def apache(scratch):
    """apache(introspection_endpoint) -> Apache that asks there."""
    started = []

    def server(introspection):
        started.append(Apache(
            introspection, CLIENTS["resource-server"], free_port(), scratch / f"apache{next(numbers)}"))
        return started[-1]

    # Apache gives root up and must reach its folder.
    scratch.chmod(0o711)
    yield server
    for one in started:
        one.stop()


@pytest.fixture
def use_browser(home):
    """use_browser(module, **environment): make $BROWSER the `main` of interop.MODULE."""

    def use(module, **environment):
        values = {"WORLD_BROWSER_LOG": str(home.browser_log)}
        values |= {name: str(value) for name, value in environment.items() if value is not None}
        launcher = home.bin / "browser"
        launcher.write_text(
            f"#!{sys.executable}\nimport os, sys\nos.environ.update({values!r})\n"
            f"sys.path.insert(0, {str(TESTS)!r})\nfrom interop.{module} import main\nmain()\n")
        launcher.chmod(0o700)
        home.environment["BROWSER"] = str(launcher)

    return use
