"""Nobody else looks into the memory of the agent or of a helper, and a crash leaves no core."""

import os
import resource
import signal

import pytest

from support.accounts import account_file
from support.home import accepts
from support.login import wait_until
from support.memory import may_attach, may_read
from support.others import as_nobody, home_of_nobody
from support.planted import PlantedServer
from support.processes import children
from support.wire import Wire


# Others

@pytest.fixture
def nobodys(scratch, programs):
    """Another user's, whose rights hide no answer as root's do."""
    with home_of_nobody(scratch, programs) as home:
        yield home


def test_no_program_of_the_same_user_reads_or_traces_the_agent_or_a_helper(nobodys):
    server = PlantedServer(lambda kind, secret: secret)
    server.gate.clear()

    def ask_for_a_token():
        file = account_file(nobodys, "machine")
        file.parent.mkdir(parents=True)
        file.write_text(f'issuer = "{server.issuer(40)}"\nclient_id = "planted"\ngrant = "client_credentials"\n')
        with Wire(nobodys.socket) as wire:
            wire.call("config.reload")
            wire.call("secret.set", account="machine", kind="client_secret", value="planted")
            wire.call("login.start", account="machine", request_id="one")

    try:
        agent, plain = nobodys.begin_agent().pid, nobodys.begin("sleep", "60").pid
        as_nobody(ask_for_a_token)
        assert server.requests.acquire(timeout=30), "the server was asked"
        helper, = children(of=agent)
        of_each = (agent, helper, plain)
        assert as_nobody(lambda: [may_read(pid) for pid in of_each]) == [False, False, True]
        assert as_nobody(lambda: [may_attach(pid) for pid in of_each]) == [False, False, True]
    finally:
        server.stop()


def test_keys_that_cannot_be_locked_in_memory_are_told(nobodys):
    def remarks():
        with Wire(nobodys.socket) as wire:
            wire.call("vault.create")
            return wire.call("agent.status")["degraded"]

    nobodys.begin_agent(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0)))
    assert any("swap" in remark for remark in as_nobody(remarks))


def test_a_crash_leaves_no_core(home, programs):
    def leaves_a_core(*command, once):
        """Of a program that crashes `once` it is ready, and that was started with the right to leave one."""
        process = home.start(*command, preexec_fn=allow_cores)
        try:
            wait_until(once, 20, "it runs")
        finally:
            os.kill(process.pid, signal.SIGSEGV)
            _, status = os.waitpid(process.pid, 0)
            process.returncode = -os.WTERMSIG(status)
            process.communicate()
        assert process.returncode == -signal.SIGSEGV
        return os.WCOREDUMP(status)

    def allow_cores():
        limit = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (limit, limit))

    if not leaves_a_core("sleep", "60", once=lambda: True):
        pytest.skip("needs a system that writes core files")
    assert not leaves_a_core(programs / "oauthd", once=lambda: accepts(home.socket))
