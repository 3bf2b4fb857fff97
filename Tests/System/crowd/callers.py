"""Many requests to the agent at once, over few connections."""

import collections
import itertools
import json
import selectors
import socket
import threading
import time

# The agent stops reading a connection with 64 unanswered requests.
WINDOW = 48

# `result` or `error` (its `data`, with `message`), and how long it took.
Answer = collections.namedtuple("Answer", "result error seconds at")


class Line:
    """One connection: sends from `left` as room comes, collects answers by number."""

    def __init__(self, path, left, window):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.left, self.window, self.sent, self.buffer = left, window, {}, b""

    def send(self):
        while len(self.sent) < self.window and (item := next(self.left, None)) is not None:
            number, (method, parameters) = item
            message = {"jsonrpc": "2.0", "id": number + 1, "method": method, "params": parameters}
            self.sent[number] = time.monotonic()
            self.socket.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        return bool(self.sent)

    def receive(self, answers):
        part = self.socket.recv(1 << 16)
        if not part:
            raise ConnectionError("the agent closed a connection that it owed answers")
        *lines, self.buffer = (self.buffer + part).split(b"\n")
        now = time.monotonic()
        for line in lines:
            answer = json.loads(line)
            number = answer["id"] - 1
            error = answer.get("error")
            answers[number] = Answer(
                answer.get("result"), error and {**error["data"], "message": error["message"]},
                now - self.sent.pop(number), now)


def ask_all(path, requests, connections=1, window=WINDOW, seconds=300):
    """The answer to each (method, parameters), in their order; what is not answered in time is a failure.

    A connection that ends leaves None for what it still owed.
    """
    requests = list(requests)
    answers = [None] * len(requests)
    left = enumerate(requests)
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        lines = [Line(path, left, window) for _ in range(connections)]
        try:
            for line in lines:
                if line.send():
                    selector.register(line.socket, selectors.EVENT_READ, line)
            while selector.get_map():
                ready = selector.select(end - time.monotonic())
                assert ready, f"{sum(len(line.sent) for line in lines)} requests without an answer in {seconds} s"
                for key, _ in ready:
                    try:
                        key.data.receive(answers)
                        if not key.data.send():
                            selector.unregister(key.fileobj)
                    except (ConnectionError, BrokenPipeError):
                        selector.unregister(key.fileobj)
        finally:
            for line in lines:
                line.socket.close()
    return answers


class Pending:
    """`ask_all` on a thread of its own; `answers()` waits for it."""

    def __init__(self, path, requests, **options):
        self.result, self.error = None, None
        self.thread = threading.Thread(target=self.run, args=(path, list(requests)), kwargs=options)
        self.thread.start()

    def run(self, *arguments, **options):
        try:
            self.result = ask_all(*arguments, **options)
        except Exception as error:
            self.error = error

    def answers(self):
        self.thread.join()
        if self.error:
            raise self.error
        return self.result


class Callers:
    """Programs that ask for tokens again and again while inside: each account in turn, one every `pause` seconds.

    Counts answers by their failure (None: a token). An agent that is gone is come back to.
    """

    def __init__(self, path, names, pause, **parameters):
        self.path, self.names, self.pause, self.parameters = path, itertools.cycle(names), pause, parameters
        self.counts, self.seconds, self.at = collections.Counter(), [], []
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()

    def run(self):
        while not self.is_over.wait(self.pause):
            name = next(self.names)
            try:
                (answer,) = ask_all(self.path, [("token.get", {"account": name, **self.parameters})], seconds=120)
            except OSError:
                answer = None
            if answer is None:
                self.counts["gone"] += 1
            else:
                self.counts[answer.error and answer.error["failure"]] += 1
                self.seconds.append(answer.seconds)
                self.at.append((name, answer.at - answer.seconds, answer.at))
