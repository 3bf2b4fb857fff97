"""An MCP server as fastmcp makes it: one command logs in, and clients of other people's call a tool with the token."""

import asyncio
import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from conftest import ROOT
from login.provider import use_silent_browser
from support.login import wait_until
from support.ports import free_port

ACCOUNT = "127.0.0.1"


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def mcp(home):
    """mcp(seconds) -> URL of a server whose tokens last so long."""
    started = []

    def server(seconds):
        port = free_port()
        log = open(home.root / "mcp.log", "a")
        process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("mcp_server.py"), str(port), str(seconds)],
            stdout=log, stderr=log,
            env={"PATH": "/usr/bin:/bin", "HOME": str(home.root), "PYTHONDONTWRITEBYTECODE": "1"})
        started.append(process)
        wait_until(lambda: listens(port) or process.poll() is not None, 60, "fastmcp listens")
        assert process.poll() is None, (home.root / "mcp.log").read_text()
        return f"http://127.0.0.1:{port}/mcp"

    use_silent_browser(home)
    yield server
    for process in started:
        process.kill()
        process.wait()


def call(url, headers):
    async def run():
        async with Client(StreamableHttpTransport(url, headers=headers)) as client:
            return (await client.call_tool("hello", {"name": "you"})).data

    return asyncio.run(run())


def headers(home):
    return json.loads(home.oauthctl("get-token", ACCOUNT, "--format", "headers").stdout)


def test_one_command_logs_in_and_a_tool_is_called(home, agent, mcp, row):
    line = row("fastmcp, in-memory OAuth", "`oauthctl login URL` of the MCP server")
    url = mcp(3600)
    home.oauthctl("login", url)
    assert call(url, headers(home)) == "hello you"
    line.seen("works with the URL alone: server, scope and resource are found, a public client is registered")


def test_a_token_that_ends_is_renewed_between_two_calls(home, agent, mcp, row):
    line = row("fastmcp, in-memory OAuth", "tokens of 5 s, calls by fastmcp's client")
    url = mcp(5)
    home.oauthctl("login", url)
    first = headers(home)
    assert call(url, first) == "hello you"
    wait_until(lambda: headers(home) != first, 60, "another token")
    assert call(url, headers(home)) == "hello you"
    line.seen("a new token for each connection; every refresh rotates")


def test_the_python_of_the_docs_runs(home, agent, mcp, row):
    line = row("fastmcp, in-memory OAuth", "the Python of docs/mcp.md")
    url = mcp(3600)
    home.oauthctl("login", url)
    text = re.search(r"(?ms)^```python\n(.*?)^```$", (ROOT / "docs/mcp.md").read_text()).group(1)
    script = home.root / "client.py"
    script.write_text(text.replace("https://mcp.example.com/mcp", url))
    assert home.run(sys.executable, script).stdout == "['hello']\n"
    line.seen("lists the tools")
