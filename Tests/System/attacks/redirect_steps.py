"""What a browser sees at a redirect listener, and at the links that lead there."""

import socket
import urllib.error
import urllib.parse
import urllib.request


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


def location(url):
    """Where `url` sends a browser."""
    try:
        urllib.request.build_opener(NoRedirect).open(url, timeout=20)
    except urllib.error.HTTPError as answer:
        assert answer.code in (302, 303), answer.code
        return answer.headers["Location"]
    raise AssertionError(f"{url} leads nowhere")


def page(url):
    """Status and text of what `url` answers."""
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read().decode()


def said(url):
    """The first bytes that the listener of `url` answers a request for it with; none when the connection ends."""
    parts = urllib.parse.urlsplit(url)
    try:
        with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
            connection.sendall(
                f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
            return connection.recv(100)
    except (ConnectionResetError, BrokenPipeError):
        return b""
