"""Programs at a terminal of their own: what asks a person for something shows itself only there."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time


def enter_terminal():
    """In the new process: standard input is its terminal, and Control-C reaches it, whoever runs the tests."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def run_at_terminal(home, *command, answers=None, until=None, seconds=60, environment=None,
                    columns=0, seen=None):
    """Run a program with a controlling terminal; (status, everything the terminal shows).

    Types the `answers`, each once what it belongs to was written; one that is a function is called for it then.
    Ends the program, with status None, as soon as it has written `until`; one that does neither in time fails the test.
    `columns` is what the terminal tells of its width, 0 that it tells nothing. `seen` is told all that was written.
    """
    answers = dict(answers or {})
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
    process = home.start(
        *command, environment=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=enter_terminal)
    os.close(theirs)
    written, end = b"", time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    written += os.read(ours, 65536)
                except OSError:
                    # All copies of the other end are closed.
                    break
                if seen is not None:
                    seen(written.decode(errors="replace"))
            for question in [question for question in answers if question.encode() in written]:
                answer = answers.pop(question)
                os.write(ours, (answer() if callable(answer) else answer).encode())
            if until is not None and until.encode() in written:
                return None, written.decode()
        try:
            return process.wait(max(0.1, end - time.monotonic())), written.decode()
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{command}: no end within {seconds} s; it wrote: {written.decode()}") from None
    finally:
        process.kill()
        process.wait()
        os.close(ours)
