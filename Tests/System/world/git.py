"""git over smart HTTP: a token check in front of `git http-backend`, run as a CGI program."""

import os
import subprocess

from world.bearer import presented_token, refusal

PREFIX = "/git/"
IDENTITY = {
    "GIT_AUTHOR_NAME": "Test World", "GIT_AUTHOR_EMAIL": "world@example.org",
    "GIT_COMMITTER_NAME": "Test World", "GIT_COMMITTER_EMAIL": "world@example.org",
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
}


def make_repository(root, name="demo.git"):
    """A bare repository with one commit on `main`, open for pushes."""
    bare, work = root / name, root / f".{name}-work"
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), **IDENTITY}

    def git(*arguments):
        subprocess.run(["git", *map(str, arguments)], check=True, env=environment, capture_output=True)

    git("init", "-q", "--bare", "-b", "main", bare)
    git("-C", bare, "config", "http.receivepack", "true")
    git("init", "-q", "-b", "main", work)
    (work / "README").write_text("hello from the test world\n")
    git("-C", work, "add", "README")
    git("-C", work, "commit", "-qm", "first")
    git("-C", work, "push", "-q", bare, "main")


class GitRepository:
    """Serves the repositories below `root` under /git/ to holders of an active token; the rest goes to `inner`."""

    def __init__(self, root, is_active, inner):
        self.root, self.is_active, self.inner = root, is_active, inner

    def __call__(self, environ, start_response):
        path = environ["PATH_INFO"]
        if not path.startswith(PREFIX):
            return self.inner(environ, start_response)
        # Read whole before the answer: a push of more than 1 MiB comes in chunks, without a length.
        body = environ["wsgi.input"].read()
        token = presented_token(environ)
        # Nobody has rights to this one.
        if token is None or not self.is_active(token) or path.startswith(PREFIX + "forbidden.git/"):
            return refusal(start_response, presented=token is not None)
        return self.run_backend(environ, start_response, path[len(PREFIX) - 1:], body)

    def run_backend(self, environ, start_response, path, body):
        cgi = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root), "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
            "REMOTE_USER": "alice", "REMOTE_ADDR": "127.0.0.1",
            "REQUEST_METHOD": environ["REQUEST_METHOD"], "PATH_INFO": path,
            "QUERY_STRING": environ.get("QUERY_STRING", ""),
            "CONTENT_TYPE": environ.get("CONTENT_TYPE", ""), "CONTENT_LENGTH": str(len(body)),
            **IDENTITY,
        }
        for header, variable in (("HTTP_CONTENT_ENCODING",) * 2, ("HTTP_GIT_PROTOCOL", "GIT_PROTOCOL")):
            if header in environ:
                cgi[variable] = environ[header]
        result = subprocess.run(["git", "http-backend"], input=body, env=cgi, capture_output=True)
        head, _, content = result.stdout.partition(b"\r\n\r\n")
        status, headers = "200 OK", []
        for line in head.decode("latin-1").split("\r\n"):
            name, _, value = line.partition(": ")
            if name.lower() == "status":
                status = value
            elif name and name.lower() != "content-length":
                headers.append((name, value))
        start_response(status, [*headers, ("Content-Length", str(len(content)))])
        return [content]
