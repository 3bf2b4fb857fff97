"""A home whose agent has thousands of accounts at servers of the crowd, and everything a test does to it."""

import collections
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from vault import reader as vault_reader
from crowd.callers import Pending, ask_all
from crowd.watcher import Watcher
from support import load, processes
from support.login import wait_until
from support.vault import key_file, vault_file

# Logins at once.
LOGINS = 48
TESTS = Path(__file__).resolve().parent.parent
# What the vault has of an account: the refresh token, the intent and the verdict as they are written, or None.
Kept = collections.namedtuple("Kept", "token intent verdict")


class Servers:
    """The process with the servers."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-m", "crowd.server"], cwd=TESTS, env={"PATH": os.environ["PATH"]},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes.keep(self.process.pid)

    def tell(self, do, **parameters):
        self.process.stdin.write(json.dumps({"do": do, **parameters}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the servers of the crowd have ended"
        return json.loads(answer)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


class Server:
    """One server: an issuer, rules, and what has come to it."""

    def __init__(self, servers, name):
        self.servers, self.name = servers, name
        self.issuer = f"http://127.0.0.1:{servers.tell('listen', name=name)}"

    def behave(self, **rules):
        """From now on it follows exactly these rules (see crowd.server.Rules)."""
        self.servers.tell("rules", server=self.name, **rules)

    def counts(self):
        return self.servers.tell("counts", server=self.name)

    def release(self):
        self.servers.tell("release", server=self.name)

    def accepts(self, tokens):
        """{account: whether it would give a token for this refresh token now}."""
        return self.servers.tell("accepts", server=self.name, tokens=tokens)

    def revoked(self):
        return self.servers.tell("revoked", server=self.name)


class Fleet:
    """Accounts by name, each with its server; what was done to the agent, with the moments, for the oracle."""

    def __init__(self, home):
        self.home, self.servers = home, Servers()
        self.server_of = {}
        self.forced, self.logged_in = collections.defaultdict(list), collections.defaultdict(list)
        self.kills, self.locks, self.stops, self.sleeps = [], [], [], []
        self.watcher = None
        # A wall clock of the agent's own, for agents that are started while there is one (crowd.wall).
        self.wall = None
        # A named socket is used or fails: nobody starts a second agent.
        home.environment["OAUTHCTL_SOCKET"] = str(home.socket)
        home.socket.parent.mkdir(mode=0o700, exist_ok=True)

    def stop(self):
        if self.home.agent.is_running:
            self.home.agent.kill()
        if self.watcher:
            self.watcher.stop()
        self.servers.stop()

    # Accounts

    def server(self, name, **rules):
        made = Server(self.servers, name)
        made.behave(**rules)
        return made

    def define(self, server, count, prefix="a", **keys):
        """Account files, for an agent that is started afterwards; returns the names."""
        names = [f"{prefix}{number:05}" for number in range(count)]
        for name in names:
            self.server_of[name] = server
            self.write(name, **keys)
        return names

    def write(self, name, **keys):
        """The account's file anew, with these keys beside those that every account here has. `keep` is `always`: an
        agent that was started again does not know who has asked before.
        """
        folder = self.home.config / "oauthctl" / "accounts.d"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        issuer = self.server_of[name].issuer
        keys = {
            "issuer": issuer, "token_endpoint": issuer + "/token", "client_id": name, "username": name,
            "grant": "password", "client_authentication": "none", "keep": "always", **keys}
        (folder / f"{name}.toml").write_text("".join(f"{key} = {toml(value)}\n" for key, value in keys.items()))

    def log_in(self, names, **secrets):
        """Each with a password that is used once: the quickest login that there is. Some at a time, since the agent
        remembers no more of those that have ended.
        """
        for name in names:
            self.logged_in[name].append(time.monotonic())
        secrets = {"password": "crowd", **secrets}
        for some in (names[at:at + LOGINS] for at in range(0, len(names), LOGINS)):
            self.ask([
                ("secret.set", {"account": name, "kind": kind, "value": value, "secrets_id": name})
                for kind, value in secrets.items() for name in some])
            started = self.ask([
                ("login.start", {"account": name, "request_id": name, "secrets_id": name}) for name in some])
            self.ask([("login.wait", {"login_id": one["login_id"], "timeout_ms": 60_000}) for one in started])

    def ask(self, requests):
        """The results; a failure ends the test."""
        answers = ask_all(self.home.socket, requests)
        failures = [answer.error for answer in answers if answer.error]
        assert not failures, failures[:3]
        return [answer.result for answer in answers]

    # The agent

    def start(self, watched=None, asleep=0):
        """Start the agent; returns when the vault is open. `watched`: an account with a ready token, to be asked for
        all the time. `asleep`: the machine has been suspended for so many seconds since the agent ran last.
        """
        if watched and not self.watcher:
            self.watcher = Watcher(self.home, watched)
        if asleep:
            self.sleeps.append((time.monotonic(), asleep))
        # A clock of its own, that counts suspend as the kernel's does: a namespace, which no other process is in.
        passed = sum(seconds for _, seconds in self.sleeps)
        environment = {}
        for own in (self.watcher, self.wall):
            environment |= own.environment if own else {}
        self.home.agent.start(
            "--log-level", "notice", environment=environment or None,
            before=("unshare", "--time", "--boottime", str(passed)) if passed else ())
        self.call("vault.status")
        return self

    def kill(self):
        self.kills.append(time.monotonic())
        self.home.agent.kill()
        if self.watcher:
            self.watcher.forget()

    def terminate(self, seconds=70):
        """SIGTERM and the end; the seconds it took."""
        began = time.monotonic()
        self.stops.append(began)
        self.home.agent.process.terminate()
        self.home.agent.process.wait(seconds)
        if self.watcher:
            self.watcher.forget()
        return time.monotonic() - began

    def call(self, method, **parameters):
        with self.home.agent.connect() as wire:
            return wire.call(method, **parameters)

    def lock(self):
        """`vault lock`: the seconds it took, and when it was answered."""
        began = time.monotonic()
        with self.home.agent.connect() as wire:
            wire.socket.settimeout(120)
            wire.call("vault.lock")
        answered = time.monotonic()
        self.locks.append([answered, None])
        return answered - began

    def unlock(self):
        self.locks[-1][1] = time.monotonic()
        self.call("vault.unlock")

    # Asking

    def force_requests(self, names, **parameters):
        now = time.monotonic()
        for name in names:
            self.forced[name].append(now)
        return [("token.get", {"account": name, "force": True, **parameters}) for name in names]

    def force(self, names, connections=1, **parameters):
        """The answers to one forced refresh of each."""
        return ask_all(self.home.socket, self.force_requests(names, **parameters), connections)

    def begin_force(self, names, connections=1, **parameters):
        return Pending(self.home.socket, self.force_requests(names, **parameters), connections=connections)

    def tokens(self, names, **parameters):
        return ask_all(self.home.socket, [("token.get", {"account": name, **parameters}) for name in names])

    def revive(self, names, seconds=60):
        """Ask for a new token of each until all have one, or are over by the server's own word, or the time is over;
        returns {name: last failure}.
        """
        end, left = time.monotonic() + seconds, {name: None for name in names}
        while left:
            answers = self.force(list(left), timeout_ms=20_000)
            left = {name: answer.error for name, answer in zip(left, answers) if answer.error}
            if time.monotonic() > end or all(map(is_over, left.values())):
                break
            if left:
                waits = [error.get("retry_after_ms", 500) for error in left.values()]
                time.sleep(min(max(0.1, min(waits) / 1000), 5, max(0.0, end - time.monotonic())))
        return left

    def states(self):
        """{account: (state, reason)} as `account.list` tells them."""
        found, after = {}, None
        while True:
            page = self.call("account.list", limit=500, **({"after": after} if after else {}))
            found |= {one["account"]: (one["state"], one.get("reason")) for one in page["accounts"]}
            after = page.get("next")
            if not after:
                return found

    # What is on disk

    def kept(self):
        """{account: Kept}, read from the vault itself by a reader of its own."""
        path = vault_file(self.home)
        if self.home.agent.is_running:
            path = Path(self.call("vault.backup")["path"])
        vault = vault_reader.read_file(path, vault_reader.KEY_FILE, key_file(self.home).read_text())
        found = {}
        for payload in vault.records.values():
            record = json.loads(payload)
            grant = record.get("grant") or {}
            found[record["name"]] = Kept(grant.get("refresh_token"), record.get("intent"), grant.get("verdict"))
        return found

    # Figures

    def processor_seconds(self):
        return load.cpu_milliseconds(self.home.agent) / 1000

    def processor_share(self, seconds):
        """Percent of one processor that the agent itself takes during the next seconds."""
        before, began = self.processor_seconds(), time.monotonic()
        time.sleep(seconds)
        return 100 * (self.processor_seconds() - before) / (time.monotonic() - began)

    def memory_kib(self):
        """(anonymous, proportional)."""
        fields = {}
        for line in Path(f"/proc/{self.home.agent.process.pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, value = line.split(":")
            fields[name] = int(value.split()[0])
        return fields["Anonymous"], fields["Pss"]

    def descriptors(self):
        return len(load.descriptors(self.home.agent))

    def helpers(self):
        return len(processes.children(self.home.agent.process.pid))

    def log(self):
        return self.servers.tell("log")

    def wait(self, condition, seconds, what):
        return wait_until(condition, seconds, what)


def is_over(error):
    return error["failure"] == "login_required" and "unconfirmed" not in error["message"]


def toml(value):
    """A value as TOML has it; JSON's strings, numbers and arrays of strings are TOML's."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(member)}" for key, member in value.items()) + " }"
    return json.dumps(value)
