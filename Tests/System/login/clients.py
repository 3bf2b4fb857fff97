"""Clients of the other grants, and how they log in."""

import re

from world.browser import Browser

TV = ["--client-id", "tv-app", "--scope", "read", "--device"]
MACHINE = ["--client-id", "machine", "--scope", "read", "--grant", "client-credentials", "--client-secret-stdin"]
LEGACY = ["--client-id", "legacy", "--scope", "read", "--grant", "password", "--username", "alice"]


def start_device_login(home, server):
    """django-oauth-toolkit's metadata leave out where a device asks: it has to be named."""
    endpoint = server.issuer + "/device-authorization/"
    return home.start(
        home.programs / "oauthctl", "login", "tv", server.issuer, *TV, "--device-authorization-endpoint", endpoint)


def device_login(home, server, answer):
    """Log in on a device without a browser, with a person elsewhere; (status, stdout, stderr)."""
    command = start_device_login(home, server)
    shown = []
    for line in command.stderr:
        shown.append(line)
        if "Waiting" in line:
            break
    text = "".join(shown)
    code = re.search(r"enter the code:\n\s+(\S+)", text).group(1)
    address = re.search(r"any device:\n\s+(\S+)", text).group(1)
    assert address == server.issuer + "/device/" and f"{address}?user_code={code}" in text
    Browser(answer=answer, user_code=code).walk(address, lambda url: "device-grant-status" in url)
    stdout, rest = command.communicate(timeout=60)
    return command.returncode, stdout, text + rest
