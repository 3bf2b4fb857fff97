"""Acting as another user of the machine."""

import os
import pickle
import traceback

import pytest

NOBODY = 65534


def as_nobody(action):
    """Run `action` in a process of user `nobody` and return what it returns; only root can."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
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
