"""Answering over the socket: as many requests as a caller can send, one in flight on each connection."""
import os
import socket
import statistics
import subprocess
import time

from starts import build_nio_floor
from world import REQUEST, ask, hurry

ROUNDS = 15


def load(program, path, count, milliseconds, kind):
    """Requests a second, p50 and p99 in microseconds."""
    out = subprocess.run([program, path, REQUEST, str(count), str(milliseconds), kind], check=True, text=True,
                         capture_output=True, preexec_fn=hurry).stdout.split()
    return [float(part) for part in out]


def start_nio(program, path, reply, world):
    """The bare NIO server takes its listening socket as descriptor 3."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1024)
        held = listener.fileno()
        floor = subprocess.Popen([program, reply.decode().strip()], pass_fds=[3], preexec_fn=lambda: os.dup2(held, 3))
    world.children.append(floor)
    return floor


def compare(make_world, floors, options):
    world = make_world()
    reply = world.home / "reply"
    reply.write_bytes(ask(world.socket, REQUEST))
    paths = {"C epoll": world.home / "floor.sock"}
    servers = [subprocess.Popen([floors["floor_server"], paths["C epoll"], reply]), world.agent]
    world.children.append(servers[0])
    nio = build_nio_floor(world.home, options.programs.resolve())
    if nio:
        paths["bare NIO server"] = world.home / "nio.sock"
        servers.append(start_nio(nio, paths["bare NIO server"], reply.read_bytes(), world))
    paths["oauthd"] = world.socket
    for path in paths.values():
        while not answers(path):
            time.sleep(0.01)
    for server in servers:
        hurry(server.pid)
    size = os.stat(reply).st_size
    print(f"\n## Answering ({options.milliseconds} ms each, median of {ROUNDS} rounds, {size} bytes)\n")
    print("| connections | kind | " + " | ".join(f"{name}: answers/s (p50 / p99 us), ratio" for name in paths) + " |")
    print("|---" * (2 + len(paths)) + "|")
    for kind, words in (("keep", "kept open"), ("once", "one a request")):
        for count in (1, 8, 64, 512):
            rounds = [[load(floors["load"], path, count, options.milliseconds, kind) for path in paths.values()]
                      for _ in range(ROUNDS)]
            columns = []
            for side in range(len(paths)):
                rate, p50, p99 = (statistics.median(r[side][i] for r in rounds) for i in range(3))
                ratio = statistics.median(r[side][0] / r[0][0] for r in rounds)
                columns.append(f"{rate:.0f} ({p50:.0f} / {p99:.0f}), {ratio:.2f}")
            print(f"| {count} | {words} | " + " | ".join(columns) + " |")


def answers(path):
    try:
        return ask(path, REQUEST)
    except OSError:
        return False
