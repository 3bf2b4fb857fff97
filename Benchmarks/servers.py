"""Answering over the socket: as many requests as a caller can send, one in flight on each connection."""
import os
import statistics
import subprocess
import time

from world import REQUEST, ask, hurry

ROUNDS = 5


def load(program, path, count, milliseconds, kind):
    """Requests a second, p50 and p99 in microseconds."""
    out = subprocess.run([program, path, REQUEST, str(count), str(milliseconds), kind], check=True, text=True,
                         capture_output=True, preexec_fn=hurry).stdout.split()
    return [float(part) for part in out]


def compare(make_world, floors, options):
    world = make_world()
    reply = world.home / "reply"
    reply.write_bytes(ask(world.socket, REQUEST))
    path = world.home / "floor.sock"
    floor = subprocess.Popen([floors["floor_server"], path, reply])
    world.children.append(floor)
    while not path.exists():
        time.sleep(0.01)
    hurry(floor.pid)
    hurry(world.agent.pid)
    size = os.stat(reply).st_size
    print(f"\n## Answering ({options.milliseconds} ms each, median of {ROUNDS} rounds, {size} bytes)\n")
    print("| connections | kind | C epoll, answers/s (p50 / p99 us) | oauthd, answers/s (p50 / p99 us) | ratio |")
    print("|---|---|---|---|---|")
    for kind, words in (("keep", "kept open"), ("once", "one a request")):
        for count in (1, 8, 64, 512):
            rounds = [[load(floors["load"], where, count, options.milliseconds, kind)
                       for where in (path, world.socket)] for _ in range(ROUNDS)]
            ratio = statistics.median(agent[0] / floor[0] for floor, agent in rounds)
            columns = []
            for side in (0, 1):
                rate, p50, p99 = (statistics.median(r[side][i] for r in rounds) for i in range(3))
                columns.append(f"{rate:.0f} ({p50:.0f} / {p99:.0f})")
            print(f"| {count} | {words} | {columns[0]} | {columns[1]} | {ratio:.2f} |")
