"""R1, R2: whatever a power cut leaves of the disk, a login is kept, or lost in the one window; nothing is damaged.

The calls of the real agent are recorded during a login, refreshes and a stop; each state that they could leave is made,
and the real agent started on it. `make test` tries a few; `make prove` sets PROVE=full and tries them all.
"""

import http.server
import itertools
import json
import os
import re
import threading
import urllib.parse

from faults.disk import CALLS, PLACE, SECTOR, TEXT, Disk, finished_calls, plain
from faults.strace import start_traced
from support.unattended import log_in, refresh, server_of
from support.wire import WireError

FULL = os.environ.get("PROVE") == "full"
STATES = 10_000 if FULL else 80
TRIES = 2
ANSWERING = ("write", "writev", "sendto", "sendmsg")
TRACED = ("-xx", "-s", "65536", "-e", "trace=" + ",".join({*CALLS, *ANSWERING, "recvfrom"}))


# How tokens begin that were given after the cut.
OWN = "after-"


class Endpoint:
    """A token endpoint where another was; a context manager. `shown`: the refresh tokens it was shown, but its own."""

    def __init__(self, issuer):
        self.address, self.shown = urllib.parse.urlsplit(issuer), []

    def __enter__(self):
        shown, numbers = self.shown, itertools.count(1)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                if not form["refresh_token"][0].startswith(OWN):
                    shown.append(form["refresh_token"][0])
                number = next(numbers)
                answer = json.dumps({"access_token": f"{OWN}a{number}", "refresh_token": f"{OWN}r{number}",
                                     "token_type": "Bearer", "expires_in": 3600}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((self.address.hostname, self.address.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def is_socket(arguments):
    """Whether a call's first argument is one: what goes through a pipe is between the agent and its HTTP process."""
    return re.match(r"\d+<(UNIX|TCP)", arguments) is not None


class Grants:
    """What the server gave and the agent told, from the same trace: which tokens a cut now may leave."""

    def __init__(self):
        # (refresh token, access token), the first one None: no login yet. More than one while an answer is not saved.
        self.possible = [(None, None)]
        # Of the answer not saved yet: whether a page of the log was written for it. Its head is synced before.
        self.has_page = False
        # Times that a caller was given a token.
        self.told = 0

    def take(self, call, arguments, result):
        if result < 0:
            return
        data = b"".join(plain(text) for text in TEXT.findall(arguments))
        tokens = {kind: found[1].decode() for kind in ("refresh_token", "access_token")
                  if (found := re.search(rb'"%s" ?: ?"([^"]+)"' % kind.encode(), data))}
        if call == "recvfrom" and len(tokens) == 2:
            self.possible.append((tokens["refresh_token"], tokens["access_token"]))
            self.has_page = False
        elif call in ANSWERING and "access_token" in tokens and is_socket(arguments):
            assert tokens["access_token"] == self.possible[-1][1]
            self.told += 1
            self.settle()
        elif call in ("pwrite64", "fdatasync") and plain(PLACE.match(arguments)[1]).endswith(b"/vault.db-wal"):
            if call == "fdatasync" and self.has_page:
                self.settle()
            self.has_page |= call == "pwrite64" and result > SECTOR

    def settle(self):
        self.possible = self.possible[-1:]


def record(home, server):
    """The traces of a login, three refreshes and a stop, and of one more start, refresh and stop."""
    traces = []
    for number in range(2):
        trace = start_traced(home, *TRACED)
        if number == 0:
            log_in(home, server)
        home.oauthctl("get-token", "work")
        for _ in range(1 if number else 3):
            refresh(home, check=True)
        home.agent.stop()
        traces.append(trace.rename(home.root / f"trace-{number}"))
    return traces


def states(home, traces):
    """[(files, possible grants, where)], each once."""
    folders = [home.data / "oauthctl", home.state / "oauthctl"]
    disk, grants, found = Disk(folders, {}), Grants(), {}
    for trace in traces:
        for number, (call, arguments, result) in enumerate(finished_calls(trace)):
            changed = disk.take(call, arguments, result)
            grants.take(call, arguments, result)
            if changed:
                for files in disk.leftovers(number, TRIES):
                    key = tuple(sorted(files.items())), tuple(grants.possible)
                    found.setdefault(key, (files, grants.possible, f"{trace.name}, call {number}: {call}"))
    assert grants.told >= 6, "each token was told after it was asked for"
    return list(found.values())


def lay_down(home, files):
    for folder in (home.data / "oauthctl", home.state / "oauthctl"):
        for old in folder.iterdir():
            old.unlink()
    for path, data in files.items():
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(data)


def judge(home, endpoint, files, possible, where):
    """Start the agent on `files`: what it gives and shows must be a grant that may be there. Returns that grant."""
    lay_down(home, files)
    endpoint.shown.clear()
    # A refresh that the cut ended is begun again as soon as the agent runs.
    home.agent.start()
    given = failure = None
    try:
        with home.agent.connect() as wire:
            given = wire.call("token.get", account="work")["access_token"]
            wire.call("token.get", account="work", force=True)
    except WireError as error:
        failure = error
        where = f"{where}: {error.failure}: {error}"
        assert error.failure == "login_required", where
    home.agent.kill()
    assert len(set(endpoint.shown)) <= 1, f"{where}: {endpoint.shown} were shown"
    shown = endpoint.shown[0] if endpoint.shown else None
    grant = next((grant for grant in possible if grant[0] == shown), None)
    assert grant, f"{where}: {shown} was shown, {possible} may be there"
    assert given == grant[1] or given.startswith(OWN), f"{where}: {given} was given"
    return grant


def test_every_state_that_a_power_cut_leaves(home, record_property):
    server = server_of(home, "strict")
    try:
        traces = record(home, server)
    finally:
        server.stop()
    found = states(home, traces)
    step = max(1, len(found) // STATES)
    in_window = old = 0
    with Endpoint(server.issuer) as endpoint:
        for files, possible, where in found[::step]:
            grant = judge(home, endpoint, files, possible, where)
            in_window += len(possible) > 1
            old += len(possible) > 1 and grant == possible[0]
    text = (f"{len(found[::step])} of {len(found)} states of a power cut: no vault damaged, no grant lost after it was "
            f"saved; {in_window} in the window, {old} of them with the grant before")
    print(text)
    record_property("crash", text)
    assert 0 < old < in_window or not FULL
