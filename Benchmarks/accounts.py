"""Memory of the agent, what a refresh costs, and how both grow with accounts."""
import shutil
import subprocess
import time

# Each account may be refreshed three times by force before it has to wait: twice for the clock, once for strace.
REFRESHED = 10
# Six seconds after a request the agent gives back what is free; threads that have nothing to do end five seconds later.
SETTLING_SECONDS = 12


def measure(make_world, floors, options):
    print("\n## Memory and refreshes by accounts\n")
    print("| accounts | logged in | state | private MB | proportional MB | resident MB | CPU ms a refresh "
          "| fsyncs a refresh |")
    print("|---|---|---|---|---|---|---|---|")
    for count in [REFRESHED, *options.accounts]:
        world = make_world(count - 1)
        logged_in = min(count, options.logged_in)
        world.log_in(logged_in - 1)
        world.restart_agent()
        world.call("token.get", account="work")
        row(world, count, logged_in, "started, one answer")
        began = world.processor_seconds()
        refresh(world)
        refresh(world)
        processor = (world.processor_seconds() - began) * 1e3 / (2 * REFRESHED)
        flushed = flushes(world)
        row(world, count, logged_in, f"after {3 * REFRESHED} refreshes", f"{processor:.1f}", flushed)
        world.stop()
        world.children = []


def row(world, count, logged_in, state, processor="", flushed=""):
    time.sleep(SETTLING_SECONDS)
    private, proportional, resident = world.memory()
    print(f"| {count} | {logged_in} | {state} | {private:.2f} | {proportional:.1f} | {resident:.1f} | {processor} "
          f"| {flushed} |", flush=True)


def refresh(world):
    for name in ["work", *(f"a{number:05}" for number in range(REFRESHED - 1))]:
        world.call("token.get", account=name, force=True)


def flushes(world):
    """fsync and fdatasync calls of one refresh, counted by strace where there is one."""
    if not shutil.which("strace"):
        return "no strace"
    log = world.home / "flushes"
    watcher = subprocess.Popen(["strace", "-qq", "-f", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o", log,
                                "-p", str(world.agent.pid)])
    while f"TracerPid:\t{watcher.pid}" not in open(f"/proc/{world.agent.pid}/status").read():
        if watcher.poll() is not None:
            return "not allowed"
        time.sleep(0.02)
    refresh(world)
    watcher.terminate()
    watcher.wait()
    return f"{sum('sync(' in line for line in open(log)) / REFRESHED:.1f}"
