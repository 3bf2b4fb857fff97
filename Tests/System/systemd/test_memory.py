"""What a program of the user can do with the agent in its unit."""

import pytest

from systemd.service import service

# Takes hold of a process (PTRACE_SEIZE), and lets it go at its own end.
TRACE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
print("held" if libc.ptrace(0x4206, int(sys.argv[1]), None, None) == 0 else os.strerror(ctypes.get_errno()))
"""


@pytest.mark.parametrize("mode", [0o711, 0o755], ids=["installed by root", "by the user"])
def test_no_program_of_the_user_traces_the_agent_in_its_unit(service, mode):
    """Its own word against it (PR_SET_DUMPABLE) would not count in a user namespace of the user's manager."""
    program = service.machine.path("/usr/local/bin/oauthd")
    before = program.stat().st_mode & 0o7777
    program.chmod(mode)
    try:
        service.oauthctl("status")
        service.write("trace.py", TRACE, 0o600)
        told = service.run("python3", service.home / "trace.py", service.agent)
        assert told.stdout.strip() == "Operation not permitted", told
    finally:
        program.chmod(before)
