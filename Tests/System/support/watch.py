"""Looking for secrets where other programs could see them: command lines, environments, temporary files."""

import base64
import os
import threading
import urllib.parse
from pathlib import Path

from support import processes

OURS = {
    "oauthctl", "oauthd", "oauthd-fetch", "oauthd-redirect", "curl", "git", "git-remote-http",
    "git-credential-oauthctl"}


class Watch:
    """Looks again and again, while inside, at command line and environment of every process that we started, or they
    did, and at `folders`. Other runs of the tests have the same passwords.

    What was seen is kept, so that secrets can be searched for that are known only later. `seen` names the programs that
    were there to be looked at, so that a test can say that it did look.
    """

    def __init__(self, *folders):
        self.folders = [Path(folder) for folder in folders]
        self.records, self.seen = set(), set()
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()

    def look(self):
        while not self.is_over.is_set():
            for process in processes.descendants():
                self.look_at_process(process)
            for path in (path for folder in self.folders for path in folder.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    self.records.add((str(path), contents(path)))

    def look_at_process(self, process):
        line = contents(f"/proc/{process}/cmdline")
        name = os.path.basename(line.split(b"\0", 1)[0].decode(errors="replace"))
        if name in OURS:
            self.seen.add(name)
        self.records.add((f"command line of {name}", line))
        self.records.add((f"environment of {name}", contents(f"/proc/{process}/environ")))

    def places_of(self, *secrets):
        """Where any of these was to be seen."""
        return {
            where for where, data in list(self.records)
            if any(spelling in data for secret in secrets for spelling in spellings(secret))}


def spellings(secret):
    """A secret as it is, form-urlencoded, and in Base64, alone and as a user's password."""
    return {
        secret.encode(), urllib.parse.quote_plus(secret).encode(), urllib.parse.quote(secret, safe="").encode(),
        base64.b64encode(secret.encode()).rstrip(b"="), base64.b64encode(b"oauth2:" + secret.encode()).rstrip(b"=")}


def contents(path):
    """The bytes of a file that may be gone, or another's."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def files_with(home, *secrets, but=()):
    """The files below the home that hold one of the secrets in the clear, by their names from there."""
    names = {str(path.relative_to(home.root)): path for path in home.files()}
    return {
        name for name, path in names.items() if name not in but
        and any(spelling in contents(path) for secret in secrets for spelling in spellings(secret))}
