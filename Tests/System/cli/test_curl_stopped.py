"""`oauthctl curl` that is stopped, or runs out of time, while the page of a 401 comes: nothing follows."""

import os
import signal
import time

import pytest

from login.provider import Provider, use_silent_browser
from network.listeners import Listener
from support.login import wait_until

STOPS = {
    "Control-C": signal.SIGINT, "Control-backslash": signal.SIGQUIT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}


class Dripping(Listener):
    """Refuses the first request with a page that never ends, and does what the next one wants."""

    def __init__(self):
        self.requests, self.has_refused = [], False
        super().__init__()

    def serve(self, connection):
        self.requests.append(connection.recv(65536))
        if len(self.requests) > 1:
            return connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\ndone\n")
        connection.sendall(
            b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer error="invalid_token"\r\n'
            b"Content-Length: 1000\r\n\r\nnot ")
        self.has_refused = True
        connection.recv(1)


def default_signals():
    for number in STOPS.values():
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("how", [*STOPS, "--max-time"])
def test_nothing_is_sent_after_curl_was_stopped_in_the_page_of_a_401(home, agent, how):
    use_silent_browser(home)
    with Provider() as server, Dripping() as api:
        place = f"http://127.0.0.1:{api.port}"
        server.define(home, 'scope = "read"', 'keep = "on-demand"', f'hosts = ["{place}"]')
        home.oauthctl("login", "work")
        limit = ("--max-time", "2") if how == "--max-time" else ()
        running = home.start(
            home.programs / "oauthctl", "curl", "work", "-sS", "-X", "DELETE", *limit, f"{place}/thing",
            start_new_session=True, preexec_fn=default_signals)
        wait_until(lambda: api.has_refused, 20, "the first answer")
        # curl has it, and hands it on.
        time.sleep(0.5)
        if how.startswith("Control"):
            # A key reaches everybody in front of the terminal.
            os.killpg(running.pid, STOPS[how])
        elif how in STOPS:
            running.send_signal(STOPS[how])
        running.communicate(timeout=20)
        wanted = 28 if how == "--max-time" else 128 + STOPS[how]
        assert (running.returncode, len(api.requests)) == (wanted, 1)
        assert "refresh_token" not in server.kinds()
