"""What stands where a server should be, or in between: portals, relays, proxies, silent peers.

Each is a context manager that listens on loopback and serves every connection on a thread of its own, in the network
namespace of the thread that made it.
"""

import base64
import contextlib
import select
import socket
import ssl
import threading

from support import ports

CONNECT_SECONDS = 10
IDLE_SECONDS = 60


class Listener:
    """Accepts on `address`:`port` (0: any) and calls `serve(connection)`; `tls` is an ssl.SSLContext."""

    def __init__(self, port=0, address="127.0.0.1", tls=None):
        self.socket = ports.listening(address, port)
        self.port = self.socket.getsockname()[1]
        self.tls = tls
        self.connections = 0
        self.open = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A blocked accept keeps a closed socket listening; shutdown wakes it.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.settimeout(IDLE_SECONDS)
            threading.Thread(target=self.handle, args=(connection,), daemon=True).start()

    def handle(self, connection):
        self.open.add(connection)
        try:
            with connection, contextlib.suppress(OSError):
                if self.tls:
                    with self.tls.wrap_socket(connection, server_side=True) as secure:
                        self.serve(secure)
                else:
                    self.serve(connection)
        finally:
            self.open.discard(connection)

    def serve(self, connection):
        raise NotImplementedError


class Silent(Listener):
    """Accepts, reads, and never says a word."""

    def serve(self, connection):
        while connection.recv(65536):
            pass


class Full:
    """A port where nobody accepts and the queue is full: whoever comes hears nothing at all."""

    def __init__(self, port=0, address="127.0.0.1"):
        self.socket = ports.listening(address, port, backlog=0)
        self.port = self.socket.getsockname()[1]
        self.queue = []
        while not self.queue or self.is_taken():
            self.queue.append(socket.socket(self.socket.family))
            self.queue[-1].setblocking(False)
            self.queue[-1].connect_ex((address, self.port))

    def is_taken(self):
        """Loopback is quick: what is not connected after this long was dropped."""
        return bool(select.select([], [self.queue[-1]], [], 0.2)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in [self.socket, *self.queue]:
            one.close()


class Stuck(Listener):
    """Begins every answer and never ends it."""

    def serve(self, connection):
        if read_head(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
            while connection.recv(65536):
                pass


class Portal(Listener):
    """Answers every request alike. `requests` are the heads it read."""

    def __init__(self, status="200 OK", body="<html><h1>Welcome to our Wi-Fi</h1></html>", fields=(), **options):
        self.say(status, body, fields)
        self.requests = []
        super().__init__(**options)

    def say(self, status, body, fields=()):
        """What it answers from now on."""
        body = body.encode()
        fields = ["Content-Type: text/html", f"Content-Length: {len(body)}", "Connection: close", *fields]
        self.answer = "\r\n".join([f"HTTP/1.1 {status}", *fields, "", ""]).encode("latin-1") + body

    def serve(self, connection):
        if not (head := read_head(connection)):
            return
        self.requests.append(head)
        end(connection, self.answer)


class Relay(Listener):
    """Passes connections on to `target` (address, port); `change` sees and may replace what the server sends.

    With `target_tls`, the file of an authority, the way to the target is TLS again.
    """

    def __init__(self, target, change=None, target_tls=None, **options):
        self.target, self.change = target, change
        self.target_tls = ssl.create_default_context(cafile=str(target_tls)) if target_tls else None
        super().__init__(**options)

    def serve(self, connection):
        with socket.create_connection(self.target, CONNECT_SECONDS) as server:
            server.settimeout(IDLE_SECONDS)
            if self.target_tls:
                server = self.target_tls.wrap_socket(server, server_hostname="localhost")
            with server:
                splice(connection, server, self.change)


class ConnectProxy(Listener):
    """An HTTP proxy that knows CONNECT. `targets` are the places asked for, `heads` the requests.

    `refuse` is a status line instead of a tunnel; `password` ("user:password") makes it ask for one.
    """

    def __init__(self, refuse=None, password=None, **options):
        self.refuse, self.password = refuse, password
        self.targets, self.heads = [], []
        super().__init__(**options)

    def serve(self, connection):
        head = read_head(connection).decode("latin-1")
        method, target, _ = head.split(" ", 2)
        self.heads.append(head)
        self.targets.append(target)
        known = self.password and base64.b64encode(self.password.encode()).decode() in head
        if self.password and not known:
            return self.answer(connection, "407 Proxy Authentication Required", 'Proxy-Authenticate: Basic realm="p"')
        if self.refuse or method != "CONNECT":
            return self.answer(connection, self.refuse or "405 Method Not Allowed")
        host, _, port = target.rpartition(":")
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS) as server:
            server.settimeout(IDLE_SECONDS)
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            splice(connection, server)

    def answer(self, connection, status, *fields):
        lines = [f"HTTP/1.1 {status}", *fields, "Content-Length: 0", "Connection: close", "", ""]
        connection.sendall("\r\n".join(lines).encode())


class SilentNameServer:
    """A name server that hears every question (`questions`) and answers none."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        self.questions = 0
        threading.Thread(target=self.hear, daemon=True).start()

    def hear(self):
        with contextlib.suppress(OSError):
            while self.socket.recv(4096):
                self.questions += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def end(connection, answer):
    """Send the last of it. What the client has sent beyond is read: else the kernel throws the answer away, too."""
    connection.sendall(answer)
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


def read_head(connection):
    """A request up to the empty line, 64 KiB at most."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < 65536:
        if not (some := connection.recv(65536)):
            break
        head += some
    return head


def splice(one, other, change=None):
    """Copy both ways until both have ended."""
    back = threading.Thread(target=copy, args=(other, one, change), daemon=True)
    back.start()
    copy(one, other)
    back.join()


def copy(source, destination, change=None):
    with contextlib.suppress(OSError):
        while some := source.recv(65536):
            destination.sendall(change(some) if change else some)
    with contextlib.suppress(OSError):
        destination.shutdown(socket.SHUT_WR)


def server_tls(files, **settings):
    """The server side of TLS with these files."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    for key, value in settings.items():
        setattr(context, key, value)
    return context
