"""A server that notes who comes by."""

import http.server
import threading


class Listener:
    """A loopback server that answers everything alike; a context manager.

    `before_answer` is called when a request has come whole."""

    def __init__(self, before_answer=None, status=200):
        self.seen, self.before_answer, self.status = [], before_answer, status

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def handler(listener):
    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            listener.seen.append(dict(self.headers))
            if listener.before_answer:
                listener.before_answer()
            self.send_response(listener.status)
            self.send_header("Content-Length", "10")
            self.end_headers()
            self.wfile.write(b"elsewhere\n")

        do_GET = do_POST = answer

        def log_message(self, *_):
            pass

    return Handler
