#!/usr/bin/env python3
"""Measures the release programs against floors in the same run, and prints tables of ratios (docs/performance.md).

    Benchmarks/bench.py DIR_OF_PROGRAMS [--only PART] [--rounds N] [--milliseconds M] [--accounts K ...]

The floors are the least programs that do the same work: C, and for the start a bare NIO server. Nothing is asserted:
machines differ and are shared, so only a ratio to a floor that ran beside it means something. Where it may, it runs
what is measured with real-time priority, so that a busy machine disturbs less.
"""
import argparse
import os
import shutil
import tempfile
from pathlib import Path

import accounts
import clients
import servers
import starts
from world import World, build_floors, hurry

PROGRAMS = ("oauthctl", "oauthd", "oauthd-fetch", "oauthd-redirect", "oauth-dev-server")
PARTS = {"clients": clients.compare, "servers": servers.compare, "starts": starts.compare, "accounts": accounts.measure}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--rounds", type=int, default=300, help="starts of each client")
    parser.add_argument("--milliseconds", type=int, default=150, help="of each load")
    parser.add_argument("--accounts", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--logged-in", type=int, default=1_000, help="of these accounts, at most")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ob-", dir="/tmp"))
    programs = installed(options.programs, folder)
    worlds = []

    def world(accounts=0):
        worlds.append(World(programs, folder / f"w{len(worlds)}", accounts))
        return worlds[-1]

    try:
        print(f"{os.uname().sysname} {os.uname().release} {os.uname().machine}, {os.cpu_count()} cores, "
              f"real-time priority: {'yes' if hurry() else 'no'}")
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        floors = build_floors(folder)
        for part in options.only or PARTS:
            PARTS[part](world, floors, options)
    finally:
        for one in worlds:
            one.stop()
        shutil.rmtree(folder)


def installed(built, folder):
    """Copies of the programs, as an installation makes them: what the linker wrote lies in the page cache in pieces."""
    (folder / "programs").mkdir()
    for name in PROGRAMS:
        shutil.copy(built / name, folder / "programs")
    # A page that is not on disk yet counts as one that its process has written.
    os.sync()
    return folder / "programs"


if __name__ == "__main__":
    main()
