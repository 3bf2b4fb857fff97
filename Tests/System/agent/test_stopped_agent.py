"""An agent that a signal stopped: whoever waits learns which process it is, and what makes it go on."""

import contextlib
import os
import signal

from support.login import get_token, log_in
from support.processes import stopped


def test_a_stopped_agent_is_told_with_what_wakes_it_and_get_token_waits_for_it(home, agent, dot):
    log_in(home, dot)
    token = get_token(home)
    pid = agent.process.pid
    remedy = f"run: kill -CONT {pid}"
    with contextlib.ExitStack() as wait:
        wait.enter_context(stopped(pid))
        asking = home.start(home.programs / "oauthctl", "get-token", "work")
        wait.callback(asking.kill)
        others = [home.start(home.programs / "oauthctl", *words) for words in (
            ("status",), ("agent", "status"), ("agent", "stop"), ("account", "list"))]
        for other in others:
            wait.callback(other.kill)
        for other in others:
            output, told = other.communicate(timeout=60)
            assert (other.returncode, output) == (6, "") and f"(pid {pid}) is stopped" in told and remedy in told, told
        lines = [asking.stderr.readline() for _ in range(2)]
        assert f"(pid {pid}) is stopped" in lines[0] and remedy in lines[1], lines
        assert asking.poll() is None, "it waits for the token still"
        os.kill(pid, signal.SIGCONT)
        output, rest = asking.communicate(timeout=60)
        assert (asking.returncode, output.strip(), rest) == (0, token, ""), "told once, and answered"
