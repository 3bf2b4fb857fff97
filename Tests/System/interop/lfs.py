"""A Git LFS server: what git-lfs asks of one (docs/api/batch.md there), for whoever has an active token."""

import base64
import contextlib
import http.server
import json
import threading


class LFSServer:
    """Keeps objects in memory; `is_active(token)` says who may come. `requests` are (method, path, token or None)."""

    def __init__(self, is_active):
        self.is_active, self.objects, self.requests = is_active, {}, []
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.base = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()

    def batch(self, asked):
        """Where each object is fetched or put; without credentials of their own, so that they are asked for again."""
        place = {"href": self.base + "/objects/"}
        answers = []
        for one in asked["objects"]:
            there, action = one["oid"] in self.objects, asked["operation"]
            actions = {} if action == "upload" and there else {action: {"href": place["href"] + one["oid"]}}
            answers.append({"oid": one["oid"], "size": one["size"], "actions": actions})
        return {"transfer": "basic", "objects": answers}

    def handler(server):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def token(self):
                scheme, _, value = self.headers.get("Authorization", "").partition(" ")
                with contextlib.suppress(ValueError):
                    if scheme == "Basic":
                        return base64.b64decode(value, validate=True).decode().partition(":")[2]
                return value if scheme == "Bearer" else None

            def answer(self, status, body=b"", kind="application/vnd.git-lfs+json"):
                self.send_response(status)
                if status == 401:
                    self.send_header("LFS-Authenticate", 'Basic realm="lfs"')
                    self.send_header("WWW-Authenticate", 'Basic realm="lfs"')
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def handle_all(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                token = self.token()
                server.requests.append((self.command, self.path, token))
                if token is None or not server.is_active(token):
                    return self.answer(401, b"{}")
                name = self.path.rpartition("/")[2]
                if self.path.endswith("/objects/batch"):
                    return self.answer(200, json.dumps(server.batch(json.loads(body))).encode())
                if self.command == "PUT":
                    server.objects[name] = body
                    return self.answer(200)
                if self.command == "GET" and name in server.objects:
                    return self.answer(200, server.objects[name], "application/octet-stream")
                return self.answer(404, b"{}")

            do_GET = do_PUT = do_POST = handle_all

        return Handler
