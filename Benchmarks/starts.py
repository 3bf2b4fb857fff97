"""From a start by socket activation to the first answer."""
import os
import random
import socket
import statistics
import subprocess
import time

from world import HERE, REQUEST, hurry

STARTS = 40


def compare(make_world, floors, options):
    world = make_world()
    nio = build_nio_floor(world.home, options.programs.resolve())
    world.agent.terminate()
    world.agent.wait(30)
    world.children.remove(world.agent)
    variants = {"C epoll": [floors["floor_server"], "3", HERE / "bench.py"]}
    if nio:
        variants["bare NIO server"] = [nio]
    hello = '{"jsonrpc":"2.0","id":1,"method":"agent.hello","params":{}}'
    variants["oauthd, agent.hello"] = variants["oauthd, a token"] = [world.programs / "oauthd"]
    lines = {name: hello if "hello" in name else REQUEST for name in variants}
    samples = {name: [] for name in variants}
    hurry()
    for _ in range(STARTS):
        for name in random.sample(list(variants), len(variants)):
            samples[name].append(first_answer(variants[name], lines[name], world))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    print(f"\n## Start to first answer ({STARTS} rounds, random order)\n")
    print("| server | p50 ms | ratio to the bare NIO server |\n|---|---|---|")
    floor = samples.get("bare NIO server")
    for name, found in samples.items():
        ratio = f"{statistics.median(a / b for a, b in zip(found, floor)):.2f}" if floor else "not built"
        print(f"| {name} | {statistics.median(found) * 1e3:.2f} | {ratio} |")


def first_answer(command, line, world):
    """Seconds from the start of `command`, with a listening socket as descriptor 3, to its first answer."""
    path = world.home / "start.sock"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(16)
        environment = {**world.environment, "LISTEN_FDS": "1"}

        def hand_over():
            os.dup2(listener.fileno(), 3)
            os.environ["LISTEN_PID"] = str(os.getpid())

        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(path))
            caller.sendall(line.encode() + b"\n")
            began = time.perf_counter()
            # The shell knows the process id that the listener is meant for, and becomes the server.
            child = subprocess.Popen(["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *map(str, command)],
                                     env=environment, pass_fds=[3], preexec_fn=hand_over,
                                     stderr=subprocess.DEVNULL)
            answer = caller.recv(1 << 16)
            spent = time.perf_counter() - began
    child.terminate()
    child.wait(30)
    if not answer:
        raise SystemExit(f"{command} gave no answer")
    return spent


def build_nio_floor(folder, programs):
    """The bare NIO server, linked with the very NIO the programs were built with; None where that is not at hand."""
    modules = programs / "Modules"
    checkouts = HERE.parent / ".build/checkouts"
    if not modules.exists() or not checkouts.exists():
        return None
    maps = [*programs.glob("C*.build/module.modulemap"),
            *checkouts.glob("swift-nio/Sources/*/include/module.modulemap"),
            *checkouts.glob("swift-atomics/Sources/*/include/module.modulemap")]
    parts = ("NIOCore", "NIOPosix", "NIOConcurrencyHelpers", "_NIODataStructures", "_NIOBase64", "Atomics",
             "DequeModule", "InternalCollectionsUtilities", "Logging", "CNIO*", "_AtomicsShims")
    objects = [path for part in parts for path in programs.glob(f"{part}.build/**/*.o")]
    flags = [flag for path in maps for flag in ("-Xcc", f"-fmodule-map-file={path}", "-Xcc", f"-I{path.parent}")]
    out = folder / "floor_nio"
    built = subprocess.run(
        ["swiftc", "-O", "-parse-as-library", "-static-stdlib", "-I", modules, *flags, HERE / "floors/floor_nio.swift",
         *objects, "-o", out, "-Xlinker", "--gc-sections", "-Xlinker", "-s"], text=True, capture_output=True)
    if built.returncode:
        print(f"\nthe bare NIO server was not built:\n{built.stderr[-2000:]}")
    return out if built.returncode == 0 else None
