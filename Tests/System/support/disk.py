"""A disk without room."""

import errno


def fill(path):
    """Take all the room there is with the file `path`."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1024))
        except OSError as error:
            assert error.errno == errno.ENOSPC
