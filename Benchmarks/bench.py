#!/usr/bin/env python3
"""Measures the release programs against floors in the same run, and prints a table of ratios.

    Benchmarks/bench.py DIR_OF_PROGRAMS [--rounds N]

The floors are three small C programs beside this file, built here with cc. Nothing is asserted: machines differ and are
shared, so only ratios to a floor that ran beside it mean something.
"""
import argparse, json, os, random, shutil, signal, socket, statistics, subprocess, sys, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def build_floors(folder):
    programs = {}
    for name in ("floor_client", "floor_server", "load"):
        programs[name] = folder / name
        subprocess.run(["cc", "-O2", "-o", programs[name], HERE / f"{name}.c"], check=True)
    return programs


class World:
    """A private home with an agent that holds one long-lived token."""

    def __init__(self, programs, folder, accounts=0):
        self.home, self.programs, self.children = folder, programs, []
        (folder / "run").mkdir(mode=0o700)
        self.environment = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run"), "PATH": "/usr/bin:/bin"}
        server = self.start("oauth-dev-server", "--port", "0", "--access-token-life", "86400", "--token-length", "1200",
                            "--rotation", "none", "--auto-consent", stdout=subprocess.PIPE)
        self.issuer = json.loads(server.stdout.readline())["issuer"]
        if accounts:
            where = folder / ".config/oauthctl/accounts.d"
            where.mkdir(parents=True, mode=0o700)
            for number in range(accounts):
                (where / f"a{number:05}.toml").write_text(
                    f'issuer = "{self.issuer}"\nclient_id = "dev-machine"\ngrant = "client_credentials"\n')
        self.socket = folder / "run/oauthctl/agent.sock"
        self.agent = self.start("oauthd", "--log-level", "error")
        while not self.socket.exists():
            time.sleep(0.01)
        self.client("login", "work", self.issuer, "--client-id", "dev-machine", "--grant", "client_credentials",
                    "--client-secret-stdin", stdin="dev-machine-secret\n")

    def start(self, name, *arguments, **options):
        child = subprocess.Popen([self.programs / name, *arguments], env=self.environment, **options)
        self.children.append(child)
        return child

    def client(self, *arguments, stdin=""):
        return subprocess.run([self.programs / "oauthctl", *arguments], env=self.environment, input=stdin, text=True,
                              check=True, capture_output=True).stdout

    def call(self, line):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            connection.sendall(line.encode() + b"\n")
            return connection.makefile("rb").readline()

    def memory(self):
        fields = {}
        for line in Path(f"/proc/{self.agent.pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, value = line.split(":")
            fields[name] = int(value.split()[0])
        status = Path(f"/proc/{self.agent.pid}/status").read_text()
        anonymous = int(status.split("RssAnon:")[1].split()[0])
        return f"RSS {fields['Rss'] / 1024:.1f} MB, PSS {fields['Pss'] / 1024:.1f} MB, private dirty " \
               f"{fields['Private_Dirty'] / 1024:.2f} MB, RssAnon {anonymous / 1024:.2f} MB"

    def stop(self):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
        for child in self.children:
            child.wait(10)


def run(command, environment):
    began = time.perf_counter()
    pid = os.posix_spawn(str(command[0]), [str(part) for part in command], environment,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{command} ended with {status}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_minflt


def compare_clients(world, floors, line, rounds):
    git = world.home / "git-credential-oauthctl"
    git.symlink_to(world.programs / "oauthctl")
    variants = {"C client": [floors["floor_client"], world.socket, line],
                "oauthctl get-token": [world.programs / "oauthctl", "get-token", "work"]}
    samples = {name: [] for name in variants}
    for _ in range(rounds):
        order = list(variants)
        random.shuffle(order)
        for name in order:
            samples[name].append(run(variants[name], world.environment))
    print(f"\n## Starting a client ({rounds} rounds, random order)\n")
    print("| program | wall p50 ms | wall min ms | CPU mean ms | page faults | wall ratio p50 / min | CPU ratio |")
    print("|---|---|---|---|---|---|---|")
    floor = samples["C client"]
    for name, found in samples.items():
        wall, cpu = [s[0] * 1e3 for s in found], statistics.mean(s[1] for s in found) * 1e3
        p50 = statistics.median(a[0] / b[0] for a, b in zip(found, floor))
        least = min(wall) / (min(s[0] for s in floor) * 1e3)
        ratio = cpu / (statistics.mean(s[1] for s in floor) * 1e3)
        print(f"| {name} | {statistics.median(wall):.2f} | {min(wall):.2f} | {cpu:.2f} | "
              f"{statistics.median(s[2] for s in found):.0f} | {p50:.2f} / {least:.2f} | {ratio:.2f} |")


def compare_servers(world, floors, line, milliseconds):
    reply = world.home / "reply"
    reply.write_bytes(world.call(line))
    path = world.home / "floor.sock"
    child = subprocess.Popen([floors["floor_server"], path, reply])
    world.children.append(child)
    while not path.exists():
        time.sleep(0.01)
    print(f"\n## Answering ({milliseconds} ms each, {len(reply.read_bytes())} bytes an answer)\n")
    print("| connections | kind | C epoll req/s (p50 / p99 us) | oauthd req/s (p50 / p99 us) | ratio |")
    print("|---|---|---|---|---|")
    for kind in ("keep", "once"):
        for count in (1, 8, 64, 512):
            figures = []
            for where in (path, world.socket):
                out = subprocess.run([floors["load"], where, line, str(count), str(milliseconds), kind], check=True,
                                     capture_output=True, text=True).stdout.split()
                figures.append([float(part) for part in out])
            (a, a50, a99), (b, b50, b99) = figures
            floor, agent = f"{a:.0f} ({a50:.0f} / {a99:.0f})", f"{b:.0f} ({b50:.0f} / {b99:.0f})"
            print(f"| {count} | {kind} | {floor} | {agent} | {b / a:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--milliseconds", type=int, default=1500)
    parser.add_argument("--accounts", type=int, default=1000)
    options = parser.parse_args()
    programs = options.programs.resolve()
    folder = Path(tempfile.mkdtemp(prefix="ob-", dir="/tmp"))
    line = '{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"work"}}'
    worlds = []
    try:
        floors = build_floors(folder)
        worlds.append(World(programs, Path(tempfile.mkdtemp(dir=folder))))
        world = worlds[-1]
        print("# Benchmarks\n\n" + " ".join(os.uname()[i] for i in (0, 2, 4)) + f", {os.cpu_count()} cores")
        print(f"\n## Memory of the agent\n\nOne account, logged in: {world.memory()}")
        compare_servers(world, floors, line, options.milliseconds)
        print(f"\nMemory after this load: {world.memory()}")
        compare_clients(world, floors, line, options.rounds)
        if options.accounts:
            worlds.append(World(programs, Path(tempfile.mkdtemp(dir=folder)), accounts=options.accounts))
            worlds[-1].call('{"jsonrpc":"2.0","id":1,"method":"agent.status","params":{}}')
            print(f"\nMemory with {options.accounts} accounts defined: {worlds[-1].memory()}")
    finally:
        for world in worlds:
            world.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
