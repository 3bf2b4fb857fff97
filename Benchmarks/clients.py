"""Starting a client for one ready token."""
import ctypes
import os
import random
import statistics
import subprocess
import time
from pathlib import Path

import peer
from world import REQUEST, SECRET, hurry


def run(command, environment, input_file):
    """Wall seconds, user and system seconds, page faults."""
    began = time.perf_counter()
    pid = os.posix_spawnp(str(command[0]), [str(part) for part in command], environment,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 0, str(input_file), os.O_RDONLY, 0),
                                       (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{command} ended with {status}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_minflt


def seem_git(url):
    """Puts the arguments of git's own program over those of this process: the helper reads there where git began."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    words = f"git-remote-https\0{url}/".encode()
    if len(words) < end - start:
        ctypes.memmove(start, words.ljust(end - start - 1, b"x") + b"\0", end - start)


def git_questions(world):
    """What git asks for: most often a server that the system's authorities vouch for. For others the helper asks git of
    its settings."""
    (world.home / "git-credential-oauthctl").symlink_to(world.programs / "oauthctl")
    (world.home / ".gitconfig").write_text(
        "[user]\n\tname = Somebody\n\temail = somebody@example.org\n[pull]\n\trebase = true\n"
        "[credential]\n\thelper = oauthctl\n[alias]\n\tst = status\n")
    questions = {"git-credential-oauthctl get": "https://git.example",
                 "the same, of plain http on this machine": world.issuer}
    log_in(world, "git.example", "")
    authority = next(Path("/etc/ssl/certs").glob("*.pem"), None)
    if authority:
        questions["the same, of a login with a ca_file"] = "https://git.corp.example"
        log_in(world, "git.corp.example", f'ca_file = "{authority}"\n')
    return questions


def log_in(world, host, more):
    """An account that is named like the host which gets its token."""
    lines = [f'issuer = "{world.issuer}"', 'client_id = "dev-machine"', 'grant = "client_credentials"',
             f'hosts = ["{host}"]', more]
    (world.home / ".config/oauthctl/accounts.d" / f"{host}.toml").write_text("\n".join(lines))
    world.client("login", host, "--client-secret-stdin", stdin=SECRET + "\n")


def compare(make_world, floors, options):
    world = make_world()
    variants = {"C client": [floors["floor_client"], world.socket, REQUEST],
                "oauthctl get-token": [world.programs / "oauthctl", "get-token", "work"]}
    inputs = {}
    questions = git_questions(world)
    for name, url in questions.items():
        helper = [world.home / "git-credential-oauthctl", "get"]
        asked = world.home / f"asked{len(inputs)}"
        asked.write_text("protocol={}\nhost={}\n\n".format(*url.split("://")))
        found = subprocess.run(helper, stdin=asked.open(), env=world.environment, text=True, capture_output=True)
        if "password=" in found.stdout:
            variants[name], inputs[name] = helper, asked
        else:
            print(f"\n{name} gave nothing: {found.stderr.strip()}")
    if inputs:
        listing = ["/usr/bin/git", "config", "--null", "--get-regexp", "^user"]
        variants["git config, for comparison"] = listing
    other = peer.find(world)
    environment = {**world.environment, **(other.environment if other else {})}
    if other:
        variants["oidc-token"] = other.command
    samples = {name: [] for name in variants}
    hurry(world.agent.pid)
    hurry()
    for _ in range(options.rounds):
        for name in random.sample(list(variants), len(variants)):
            if name in questions:
                seem_git(questions[name])
            samples[name].append(run(variants[name], environment, inputs.get(name, os.devnull)))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    print(f"\n## One call ({options.rounds} rounds, random order)\n")
    print("| program | wall p50 ms | CPU mean ms | page faults | wall ratio | CPU ratio |\n|---|---|---|---|---|---|")
    floor = samples["C client"]
    for name, found in samples.items():
        wall, processor = [s[0] * 1e3 for s in found], statistics.mean(s[1] for s in found) * 1e3
        ratio = statistics.median(a[0] / b[0] for a, b in zip(found, floor))
        faults = statistics.median(s[2] for s in found)
        print(f"| {name} | {statistics.median(wall):.2f} | {processor:.2f} | {faults:.0f} | {ratio:.2f} | "
              f"{processor / (statistics.mean(s[1] for s in floor) * 1e3):.2f} |")
    if other:
        private, resident = other.memory()
        print(f"\noidc-agent: started in {other.start_seconds * 1e3:.1f} ms; with one account "
              f"{private:.2f} MB private, {resident:.1f} MB resident, two processes")
        other.stop()
