"""What a program of the user, outside of the unit, can do with the agent in its sandbox."""

import pytest

from systemd.service import service

# Takes hold of a process (PTRACE_SEIZE), and lets it go at its own end.
TRACE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
print("held" if libc.ptrace(0x4206, int(sys.argv[1]), None, None) == 0 else os.strerror(ctypes.get_errno()))
"""
OPEN = "your other programs can read its memory"


@pytest.mark.parametrize("mode, seen", [(0o711, "Operation not permitted"), (0o755, "held")])
def test_no_program_of_the_user_traces_an_agent_whose_program_it_may_not_read(service, mode, seen):
    """Its own word against it (PR_SET_DUMPABLE) does not count in a user namespace that the user's manager has made."""
    program = service.machine.path("/usr/local/bin/oauthd")
    before = program.stat().st_mode & 0o7777
    program.chmod(mode)
    try:
        service.oauthctl("status")
        service.write("trace.py", TRACE, 0o600)
        told = service.run("python3", service.home / "trace.py", service.agent)
        assert told.stdout.strip() == seen, told
        assert (OPEN in service.oauthctl("doctor", check=False).stdout) == (seen == "held")
    finally:
        program.chmod(before)
