"""R8: no secret is at rest in the agent's memory, after `lock` not even a key; nobody else looks into it, nor into that
of a helper, which knows no more than its own request.

With `-s` the first test prints the tables of docs/threat-model.md.
"""

import base64
import collections
import concurrent.futures
import os
import re
import stat
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from support.accounts import account_file
from support.memory import locked_regions, search
from support.planted import PlantedServer, text
from support.processes import children
from support.vault import key_file, vault_file
from support.watch import files_with
from support.wire import Wire
from vault.reader import KEY_FILE, key_in_file, read_file

SIZES = (40, 200, 900, 1500, 8000)
CALLERS, REQUESTS_EACH, OPERATIONS = 8, 75, 1000
CHANGES, CHANGED_HOSTS = 500, 60
ACCOUNTS = [*(f"{kind}-{size}" for kind in ("code", "once") for size in SIZES), "kept", "machine"]


class Day:
    """An agent at work, and every secret that it ever had to do with."""

    # Client secret in the header, in the body, and none.
    waiting = ("code-900", "code-8000", "kept")

    def __init__(self, home):
        self.home = home
        self.planted = collections.defaultdict(set)
        self.lock = threading.Lock()
        self.operations = 0
        self.server = PlantedServer(self.plant)
        self.states = {}
        self.helpers = collections.Counter()

    def plant(self, kind, secret):
        with self.lock:
            self.planted[kind].add(secret.encode())
        return secret

    def call(self, wire, method, **parameters):
        with self.lock:
            self.operations += 1
        return wire.call(method, **parameters)

    # Logins

    def begin(self, wire):
        """A vault with a passphrase; accounts with tokens of each size and every kind of login."""
        code = self.plant("recovery code", self.call(wire, "vault.create")["recovery_code"])
        self.plant("recovery code", code.replace("-", ""))
        self.call(wire, "vault.set_slot", kind="passphrase", passphrase=self.plant("passphrase", text(40)),
                  strength="interactive")
        line = key_file(self.home).read_text()
        self.planted["key file"].update([key_in_file(line), line.split()[1].encode()])
        self.planted["vault key"].update(read_file(vault_file(self.home), KEY_FILE, line).keys)
        for number, size in enumerate(SIZES):
            method = ("client_secret_basic", "client_secret_post")[number % 2]
            self.define(f"code-{size}", size, client_authentication=method)
            self.define(f"once-{size}", size, grant="password", username="alice")
        self.define("kept", 1500, grant="password", username="alice")
        self.define("machine", 900, grant="client_credentials", client_authentication="client_secret_basic")
        self.call(wire, "config.reload")
        for account in ACCOUNTS:
            self.set_secret(wire, account)
            self.log_in(wire, account)

    def define(self, account, size, **keys):
        keys = {"issuer": self.server.issuer(size), "client_id": "planted", "scope": ["read"], **keys}
        file = account_file(self.home, account)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text("".join(f"{key} = {value!r}\n" for key, value in keys.items()))

    def set_secret(self, wire, account):
        if account.startswith(("once", "kept")):
            self.call(wire, "secret.set", account=account, kind="password", value=self.plant("password", text(48)),
                      **({"keep": True} if account == "kept" else {"secrets_id": "once"}))
        else:
            secret = self.plant("client secret", text(64))
            # As client_secret_basic sends it.
            self.plant("client secret", base64.b64encode(b"planted:" + secret.encode()).decode())
            self.call(wire, "secret.set", account=account, kind="client_secret", value=secret)

    def log_in(self, wire, account):
        given = {"secrets_id": "once"} if account.startswith("once") else {}
        begun = self.call(wire, "login.start", account=account, request_id=text(16), **given)
        if begun["kind"] == "browser":
            with pytest.raises(urllib.error.HTTPError) as redirect:
                urllib.request.build_opener(NoRedirect).open(begun["authorization_url"], timeout=20)
            urllib.request.urlopen(redirect.value.headers["Location"], timeout=20).close()
        assert self.call(wire, "login.wait", login_id=begun["login_id"])["state"] == "complete"

    # Work

    def get(self, wire, account, **parameters):
        token = self.call(wire, "token.get", account=account, **parameters)["access_token"]
        assert token.encode() in self.planted["access token"]
        return token

    def ask(self):
        """One caller among others; every fourth time off the ready path."""
        with self.home.agent.connect() as wire:
            for number in range(REQUESTS_EACH):
                account = ACCOUNTS[number % len(ACCOUNTS)]
                self.get(wire, account, **({"timeout_ms": 30_000} if number % 4 == 0 else {}))

    def work(self, wire):
        """Callers, and beside them rejected tokens, refreshes, new secrets, logins and `oauthctl`."""
        with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
            callers = [pool.submit(self.ask) for _ in range(CALLERS)]
            # Twice: the third refresh that the agent lets callers force is for later.
            for account in 2 * ACCOUNTS:
                token = self.get(wire, account)
                assert self.get(wire, account, rejected={"token": token}) != token
                self.call(wire, "token.reject", account=account, rejected={"token": token})
            for account in ACCOUNTS:
                self.set_secret(wire, account)
                self.log_in(wire, account)
                printed = self.home.oauthctl("get-token", account).lines
                assert printed[0].encode() in self.planted["access token"]
            for caller in callers:
                caller.result()
        while self.operations < OPERATIONS:
            self.call(wire, "account.show", account=ACCOUNTS[self.operations % len(ACCOUNTS)])

    def hold_refreshes(self, wire, accounts):
        """Start a refresh of each, the server saying nothing yet; returns the callers that wait."""
        self.server.gate.clear()
        while self.server.requests.acquire(blocking=False):
            pass
        callers = []
        for account in accounts:
            callers.append(Wire(self.home.socket))
            callers[-1].request("token.get", account=account, rejected={"token": self.get(wire, account)})
            assert self.server.requests.acquire(timeout=30), "the server was asked"
        return callers

    def answer(self, callers):
        self.server.gate.set()
        for caller in callers:
            assert b'"access_token"' in caller.read_line()
            caller.close()

    # Looking

    def look(self, state, is_open=True):
        """Keep what is in memory that may not be: anything but the keys of an open vault, each once and out of swap."""
        keys = sorted((len(key), 1) for key in self.planted["vault key"]) if is_open else []
        pid = self.home.agent.process.pid
        # What was in use a moment ago may just be on its way out.
        for _ in range(5):
            found, locked = search(pid, self.planted, self.home.temporary), locked_regions(pid)
            stray = [it for it in found if it.kind != "vault key"]
            held = collections.Counter(it.secret for it in found if it.kind == "vault key")
            wrong = stray or sorted((len(key), count) for key, count in held.items()) != keys
            # One place for the data key, one for all that are derived from it, and one for the key under which all else
            # lies in memory, with keystreams of it.
            wrong = wrong or len(locked) != (3 if is_open else 1) or any(
                not any(start <= it.address < end for start, end in locked) for it in found)
            if not wrong:
                break
        self.states[state] = (found, wrong)

    def look_at_helpers(self):
        """Each knows the secrets of its own request, and has no place to leave them."""
        helpers = children(of=self.home.agent.process.pid, named="oauthd-fetch")
        assert len(helpers) == len(self.server.held)
        for helper in helpers:
            found = search(helper, self.planted, self.home.temporary)
            assert found, "the search finds what a helper sends"
            assert any(all(it.secret in asked for it in found) for asked in self.server.held)
            # Lazy binding saves registers on the stack; a freed block that is not wiped keeps a piece.
            assert "[stack]" not in {it.region for it in found}
            assert [it for it in found if it.length < len(it.secret)] == []
            self.helpers.update((it.kind, it.length == len(it.secret)) for it in found)
            with open(f"/proc/{helper}/cmdline", "rb") as line, open(f"/proc/{helper}/environ", "rb") as environment:
                assert line.read() == os.fsencode(self.home.programs / "oauthd-fetch") + b"\0"
                assert environment.read() == b""
            descriptors = f"/proc/{helper}/fd"
            for name in os.listdir(descriptors):
                assert not stat.S_ISREG(os.stat(f"{descriptors}/{name}").st_mode)
        secrets = [secret.decode() for kind, members in self.planted.items() if "key" not in kind for secret in members]
        assert files_with(self.home, *secrets) == set()

    def table(self):
        """Whole copies and pieces in each state, in Markdown."""
        yield f"| | {' | '.join(self.states)} |"
        yield "|---|" + "---|" * len(self.states)
        for kind, secrets in self.planted.items():
            cells = []
            for found, _ in self.states.values():
                sizes = [(it.length, len(it.secret)) for it in found if it.kind == kind]
                whole = sum(length == size for length, size in sizes)
                cells.append(f"{whole} + {len(sizes) - whole}" if sizes else "0")
            yield f"| {len(secrets)} × {kind} | {' | '.join(cells)} |"
        for kind in sorted({kind for kind, _ in self.helpers}):
            yield (f"in {len(self.waiting)} helpers that wait: {kind}: "
                   f"{self.helpers[kind, True]} + {self.helpers[kind, False]}")

    def complaint(self):
        return {
            state: [(it.kind, f"{it.length} of {len(it.secret)} bytes", it.region) for it in found]
            for state, (found, wrong) in self.states.items() if wrong}


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def test_no_secret_is_at_rest_in_memory_and_after_a_lock_no_key_either(home):
    if os.geteuid() != 0:
        pytest.skip("only root can read the agent's memory")
    day = Day(home)
    home.agent.start()
    try:
        with home.agent.connect() as wire:
            day.begin(wire)
            day.look("after the logins")
            day.work(wire)
            day.look(f"after {OPERATIONS} operations")
            callers = day.hold_refreshes(wire, day.waiting)
            day.look("in a refresh")
            day.look_at_helpers()
            day.answer(callers)
            wire.call("vault.lock")
            day.look("locked", is_open=False)
            wire.call("vault.unlock", passphrase=next(iter(day.planted["passphrase"])).decode())
            for account in ACCOUNTS:
                day.get(wire, account)
            day.look("unlocked again")
    finally:
        day.server.stop()
    print("", *day.table(), sep="\n")
    assert day.complaint() == {}


def test_all_threads_of_the_agent_share_one_heap(home):
    """glibc reserves 64 MiB for each further one, and the agent, with few threads, has no other use for so much."""
    if os.geteuid() != 0:
        pytest.skip("only root can read the agent's memory")
    with home.agent.start().connect() as wire:
        wire.call("vault.create")
        wire.call("agent.status")
    process = Path(f"/proc/{home.agent.process.pid}")
    assert len(list((process / "task").iterdir())) > 2
    maps = re.findall(r"(?m)^([0-9a-f]+)-([0-9a-f]+) ---p 0+ 00:00 0 *$", (process / "maps").read_text())
    assert [line for line in maps if int(line[1], 16) - int(line[0], 16) > 32 << 20] == []


def test_files_that_change_all_day_leave_little_of_them_in_memory(home, agent):
    file = account_file(home, "work")
    file.parent.mkdir(parents=True)

    def used_kib():
        return int(re.search(r"(?m)^RssAnon:\s+(\d+) kB$", Path(f"/proc/{agent.process.pid}/status").read_text())[1])

    def change(count):
        for number in range(count):
            names = "".join(f'"x{number}-{each}.example", ' for each in range(CHANGED_HOSTS))
            file.write_text(f'issuer = "https://as.example"\nclient_id = "c"\nhosts = [{names}]\n')
            wire.call("config.reload")

    with Wire(home.socket) as wire:
        change(100)
        before = used_kib()
        change(CHANGES)
        left_bytes = (used_kib() - before) * 1024 / CHANGES
    # The library that reads them keeps copies of the texts, of 1.4 KB here; all it made of them was 9.6 KB.
    print(f"{left_bytes:.0f} bytes of each")
    assert left_bytes < 5_000
