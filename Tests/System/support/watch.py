"""Looking for secrets where other programs could see them: command lines, environments, temporary files."""

import os
import threading
from pathlib import Path

OURS = {"oauthctl", "oauthd", "oauthd-fetch", "curl", "git", "git-remote-http", "git-credential-oauthctl"}


class Watch:
    """Looks again and again, while inside, at every process's command line and environment, and at `folders`.

    `found` lists (where, secret's number); `seen` names the programs that were there to be looked at, so that a test
    can say that it did look.
    """

    def __init__(self, *secrets, folders=()):
        self.secrets = [secret.encode() for secret in secrets]
        self.folders = [Path(folder) for folder in folders]
        self.found, self.seen, self.rounds = set(), set(), 0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()

    def look(self):
        own = os.getpid()
        while not self.is_over.is_set():
            for process in os.listdir("/proc"):
                if process.isdigit() and int(process) != own:
                    self.look_at_process(process)
            for folder in self.folders:
                self.look_at_folder(folder)
            self.rounds += 1

    def look_at_process(self, process):
        line = contents(f"/proc/{process}/cmdline")
        name = os.path.basename(line.split(b"\0", 1)[0].decode(errors="replace"))
        if name in OURS:
            self.seen.add(name)
        self.search(f"command line of {name}", line)
        self.search(f"environment of {name}", contents(f"/proc/{process}/environ"))

    def look_at_folder(self, folder):
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                self.search(str(path), contents(path))

    def search(self, where, data):
        self.found.update((where, number) for number, secret in enumerate(self.secrets) if secret in data)


def contents(path):
    """The bytes of a file that may be gone, or another's."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def files_with(home, *secrets):
    """(file, secret's number) for every file below the home that holds a secret in the clear."""
    found = []
    for path in home.files():
        data = contents(path)
        found += [
            (str(path.relative_to(home.root)), number) for number, secret in enumerate(secrets)
            if secret.encode() in data]
    return found
