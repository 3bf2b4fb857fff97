"""Acting as another user of the machine."""

import contextlib
import errno
import os
import pickle
import shutil
import socket
import subprocess
import traceback

import pytest

from support.home import Home, accepts
from support.login import wait_until

NOBODY = 65534


@contextlib.contextmanager
def before_its_first_line(program, folder):
    """PID of a `program` that nobody's process has just become; its loader waits for a library that never comes."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    fifo = folder / f"{program.name}.so"
    os.mkfifo(fifo)
    fifo.chmod(0o644)
    process = subprocess.Popen(
        [program], env={"LD_PRELOAD": str(fifo)}, user=NOBODY, group=NOBODY, extra_groups=[],
        stdin=subprocess.DEVNULL)
    end = None
    try:
        end = wait_until(lambda: open_if_read(fifo), 20, "it is loaded")
        yield process.pid
    finally:
        process.kill()
        process.wait()
        if end:
            os.close(end)
        fifo.unlink()


def open_if_read(fifo):
    """A descriptor to write to it; None as long as nobody reads."""
    try:
        return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        assert error.errno == errno.ENXIO
        return None


def as_nobody(action, user=NOBODY):
    """Run `action` in a process of user `nobody` and return what it returns; only root can."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            with open(writer, "wb") as pipe:
                pipe.write(pickle.dumps(action()))
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, "rb") as pipe:
        result = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, "the process of the other user failed"
    return pickle.loads(result)


@contextlib.contextmanager
def home_of_nobody(scratch, programs, user=NOBODY):
    """A home of user `nobody`, or of another one with the group of his number, with programs that he may read.

    `begin(program, ...)` starts one as him, `begin_agent` the agent; `give()` makes him the owner of all.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    mode = scratch.stat().st_mode
    scratch.chmod(0o711)
    folder = scratch / "programs"
    shutil.copytree(programs, folder, dirs_exist_ok=True, ignore=lambda _, names: {
        name for name in names if not name.startswith("oauth") or "." in name})
    root = scratch / "n"
    root.mkdir(mode=0o700)
    home = Home(root, folder)
    begun = []

    def give():
        for path in [root, *root.rglob("*")]:
            os.chown(path, user, user)

    def begin(program, *arguments, **options):
        begun.append(home.start(program, *arguments, user=user, group=user, extra_groups=[], **options))
        return begun[-1]

    def begin_agent(**options):
        process = begin(folder / "oauthd", **options)
        wait_until(lambda: as_nobody(lambda: accepts(home.socket), user), 20, "the agent listens")
        return process

    give()
    home.give, home.begin, home.begin_agent = give, begin, begin_agent
    try:
        yield home
    finally:
        for process in begun:
            process.terminate()
            process.communicate(timeout=70)
        scratch.chmod(mode)
        shutil.rmtree(root)


@contextlib.contextmanager
def sockets_as_nobody():
    """What is made in here is nobody's: whose a socket is says the effective user at its creation. Only root can."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextlib.contextmanager
def listening_as_nobody(family, host, port):
    """A socket that listens and is nobody's; only root can make one."""
    with sockets_as_nobody():
        listener = socket.create_server((host, port), family=family)
    with listener:
        yield listener


@contextlib.contextmanager
def connections_as_nobody(address, count):
    """Connections to `address` that are nobody's and say nothing; only root can make them."""
    with contextlib.ExitStack() as made:
        with sockets_as_nobody():
            for _ in range(count):
                made.enter_context(socket.create_connection(address, timeout=20))
        yield
