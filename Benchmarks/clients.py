"""Starting a client for one ready token."""
import os
import random
import statistics
import subprocess
import time

import peer
from world import REQUEST, hurry


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


def compare(make_world, floors, options):
    world = make_world()
    helper = world.home / "git-credential-oauthctl"
    helper.symlink_to(world.programs / "oauthctl")
    asked = world.home / "asked"
    asked.write_text("protocol=http\nhost={}\n\n".format(world.issuer.removeprefix("http://")))
    variants = {"C client": [floors["floor_client"], world.socket, REQUEST],
                "oauthctl get-token": [world.programs / "oauthctl", "get-token", "work"]}
    found = subprocess.run([helper, "get"], stdin=asked.open(), env=world.environment, text=True, capture_output=True)
    if "password=" in found.stdout:
        variants["git-credential-oauthctl get"] = [helper, "get"]
    else:
        print(f"\ngit-credential-oauthctl gave nothing: {found.stderr.strip()}")
    other = peer.find(world)
    environment = {**world.environment, **(other.environment if other else {})}
    if other:
        variants["oidc-token"] = other.command
    samples = {name: [] for name in variants}
    hurry(world.agent.pid)
    hurry()
    for _ in range(options.rounds):
        for name in random.sample(list(variants), len(variants)):
            samples[name].append(run(variants[name], environment, asked))
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
