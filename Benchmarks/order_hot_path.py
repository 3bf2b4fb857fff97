#!/usr/bin/env python3
"""Writes Packaging/hot-path.order, for the linker: what `oauthctl get-token` and the git helper touch, in that order.

    Benchmarks/order_hot_path.py DIR_OF_PROGRAMS

What a token needs then lies on few pages, and a start faults in few (docs/performance.md). The linker passes over names
that a later build does not have, and warns of them, so the list need not follow every change. Needs valgrind, and the
objects of the last build.
"""
import bisect
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from clients import git_questions, seem_git
from world import World

# The program is not position-independent: its own memory lies below this address.
PROGRAM_END = 0x2000000
ORDER = Path(__file__).resolve().parent.parent / "Packaging/hot-path.order"


def link_with_symbols(build, out):
    """The link of the last build once more, its symbols kept."""
    for line in (build.parent.parent / "release.yaml").read_text().splitlines():
        if '"-static-executable"' in line and "oauthctl.product" in line:
            command = json.loads(line.partition("args:")[2])
    command[command.index("-o") + 1] = str(out)
    # Valgrind cannot read the newest debugging information.
    command[command.index("-s")] = "--strip-debug"
    subprocess.run(command, check=True, capture_output=True)


def symbols(program):
    listed = subprocess.run(["nm", "-n", "-S", program], text=True, capture_output=True, check=True).stdout
    fields = [line.split() for line in listed.splitlines()]
    return [(int(f[0], 16), max(int(f[1], 16), 1), f[3]) for f in fields if len(f) == 4]


def touched(command, environment, log, asked=None):
    """Addresses of the program's own memory, in the order of their use."""
    subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no", f"--log-file={log}", *command],
                   input=asked, text=True, stdout=subprocess.DEVNULL, env=environment, check=True)
    for line in log.open():
        found = re.match(r"^(?:I | [LSM]) *([0-9a-f]+),", line)
        if found and int(found[1], 16) < PROGRAM_END:
            yield int(found[1], 16)


def git_request(world):
    """What git 2.46 and newer write after a server's 401."""
    url = next(iter(git_questions(world).values()))
    seem_git(url)
    return ("capability[]=authtype\ncapability[]=state\n"
            "protocol={}\nhost={}\nwwwauth[]=Basic realm=\"git\"\n\n".format(*url.split("://")))


def main():
    build = Path(sys.argv[1]).resolve()
    folder = Path(tempfile.mkdtemp(prefix="ob-", dir="/tmp"))
    program = folder / "oauthctl"
    link_with_symbols(build, program)
    world = World(build, folder / "world")
    try:
        known = symbols(program)
        starts = [start for start, _, _ in known]
        names = {}
        for words, asked in [(["get-token", "work"], None), (["git-credential", "get"], git_request(world))]:
            for address in touched([program, *words], world.environment, folder / "log", asked):
                start, size, name = known[bisect.bisect(starts, address) - 1]
                if start <= address < start + size:
                    names[name] = None
        ORDER.write_text("".join(f"{name}\n" for name in names))
        print(f"{len(names)} names")
    finally:
        world.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
