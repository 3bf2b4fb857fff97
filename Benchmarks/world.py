"""A private home with an agent, the floors beside it, and how both are run and read."""
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUEST = '{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"work"}}'
SECRET = "dev-machine-secret"


def build_floors(folder):
    """The C programs of `floors`, built into `folder`."""
    programs = {}
    for source in (HERE / "floors").glob("*.c"):
        programs[source.stem] = folder / source.stem
        subprocess.run([shutil.which("cc") or "clang", "-O2", "-o", programs[source.stem], source], check=True)
    return programs


def hurry(pid=0):
    """Puts a process before all others, so that a busy machine disturbs less; needs the right to. 0: this one."""
    tasks = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()] if pid else [0]
    try:
        for task in tasks:
            os.sched_setscheduler(task, os.SCHED_FIFO, os.sched_param(10))
        return True
    except (PermissionError, ProcessLookupError):
        return False


def ask(path, line):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(line.encode() + b"\n")
        return connection.makefile("rb").readline()


class World:
    """An agent that holds one long-lived token for `work`, and definitions of `accounts` others."""

    def __init__(self, programs, folder, accounts=0):
        folder.mkdir(mode=0o700, parents=True)
        self.home, self.programs, self.children = folder, programs, []
        (folder / "run").mkdir(mode=0o700)
        self.environment = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run"), "PATH": "/usr/bin:/bin"}
        server = self.start("oauth-dev-server", "--port", "0", "--access-token-life", "86400", "--token-length", "1200",
                            "--rotation", "none", "--auto-consent", stdout=subprocess.PIPE)
        self.issuer = json.loads(server.stdout.readline())["issuer"]
        self.socket = folder / "run/oauthctl/agent.sock"
        if accounts:
            self.define(accounts)
        self.start_agent()
        self.client("login", "work", self.issuer, "--client-id", "dev-machine", "--grant", "client_credentials",
                    "--client-secret-stdin", stdin=SECRET + "\n")

    def define(self, accounts):
        where = self.home / ".config/oauthctl/accounts.d"
        where.mkdir(parents=True, mode=0o700)
        for number in range(accounts):
            (where / f"a{number:05}.toml").write_text(
                f'issuer = "{self.issuer}"\nclient_id = "dev-machine"\ngrant = "client_credentials"\n')

    def log_in(self, accounts):
        """Gives the first accounts their secret and a token."""
        for number in range(accounts):
            name = f"a{number:05}"
            self.call("secret.set", account=name, kind="client_secret", value=SECRET)
            login = self.call("login.start", request_id=name, account=name)
            self.call("login.wait", login_id=login["login_id"])

    def start(self, name, *arguments, **options):
        child = subprocess.Popen([self.programs / name, *arguments], env=self.environment, **options)
        self.children.append(child)
        return child

    def start_agent(self):
        self.agent = self.start("oauthd", "--log-level", "error")
        while True:
            try:
                return ask(self.socket, '{"jsonrpc":"2.0","id":1,"method":"agent.hello","params":{}}')
            except OSError:
                time.sleep(0.01)

    def restart_agent(self):
        self.agent.send_signal(signal.SIGTERM)
        self.agent.wait(30)
        self.children.remove(self.agent)
        self.start_agent()

    def client(self, *arguments, stdin=""):
        return subprocess.run([self.programs / "oauthctl", *arguments], env=self.environment, input=stdin, text=True,
                              check=True, capture_output=True).stdout

    def call(self, method, **parameters):
        line = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        answer = json.loads(ask(self.socket, json.dumps(line)))
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def processor_seconds(self):
        """User and system time of the agent and of the processes it started and waited for."""
        fields = Path(f"/proc/{self.agent.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """MB of the agent: private (dirty pages of its own), proportional, resident."""
        fields = {}
        for line in Path(f"/proc/{self.agent.pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, value = line.split(":")
            fields[name] = int(value.split()[0]) / 1024
        return fields["Private_Dirty"], fields["Pss"], fields["Rss"]

    def stop(self):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
        for child in self.children:
            child.wait(30)
