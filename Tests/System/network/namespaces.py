"""Namespaces of the kernel for one test: other files under the usual names, another loopback network.

Namespaces belong to threads: what the given function starts, sockets and processes, is inside; the rest of the test
run is not. Needs root.
"""

import ctypes
import os
import subprocess
import threading

import pytest

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")


def isolated(function, network=False):
    """Run `function()` on a thread in a mount namespace, and in a network namespace with loopback alone if asked."""
    end = {}

    def run():
        try:
            enter(network)
            end["result"] = function()
        except BaseException as error:
            end["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if "error" in end:
        raise end["error"]
    return end["result"]


def enter(network):
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS | (CLONE_NEWNET if network else 0)) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    # What is mounted from here on must not reach the rest of the system.
    run("mount", "--make-rprivate", "/")
    if network:
        run("ip", "link", "set", "lo", "up")


def replace(path, replacement):
    """Make `path`, a file or a folder, show the content of `replacement` in this thread's namespace."""
    run("mount", "--bind", replacement, os.path.realpath(path))


def run(*command):
    subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
