"""oidc-agent, where it is installed (Debian: oidc-agent-cli): the same token for the same caller."""
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path

PROGRAMS = ("oidc-agent", "oidc-gen", "oidc-token")


class Peer:
    """An oidc-agent that has loaded one account, `work`, of the world's authorization server."""

    def __init__(self, world):
        self.environment = {"HOME": str(world.home), "PATH": "/usr/bin:/bin"}
        began = time.perf_counter()
        told = subprocess.run(["oidc-agent"], env=self.environment, text=True, capture_output=True, check=True).stdout
        self.start_seconds = time.perf_counter() - began
        for part in told.replace("\n", ";").split(";"):
            name, equals, value = part.strip().partition("=")
            if equals:
                self.environment[name] = value
        form = {"grant_type": "password", "username": "alice", "password": "x", "client_id": "dev-legacy",
                "scope": "openid offline_access read"}
        with urllib.request.urlopen(f"{world.issuer}/token", urllib.parse.urlencode(form).encode()) as answer:
            refresh_token = json.load(answer)["refresh_token"]
        password = world.home / "peer-password"
        password.write_text("password\n")
        subprocess.run(["oidc-gen", "work", "-m", f"--iss={world.issuer}", "--client-id=dev-legacy", "--client-secret=",
                        "--scope=openid offline_access read", f"--rt={refresh_token}", f"--pw-file={password}",
                        "--confirm-yes", "--prompt=none", "--redirect-uri=http://localhost:4242"],
                       env=self.environment, text=True, capture_output=True, check=True, timeout=60)
        subprocess.run(self.command, env=self.environment, check=True, capture_output=True, timeout=60)

    command = ["oidc-token", "work"]

    def memory(self):
        """MB, private and resident, of the agent and of the process it works with."""
        pid = self.environment["OIDCD_PID"]
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        totals = {"Private_Dirty": 0.0, "Rss": 0.0}
        for one in [pid, *children]:
            for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()[1:]:
                name, value = line.split(":")
                if name in totals:
                    totals[name] += int(value.split()[0]) / 1024
        return totals["Private_Dirty"], totals["Rss"]

    def stop(self):
        os.kill(int(self.environment["OIDCD_PID"]), signal.SIGTERM)


def find(world):
    return Peer(world) if all(map(shutil.which, PROGRAMS)) else None
