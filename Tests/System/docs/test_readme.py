"""README, run: every command of its shell blocks against the development server, on a terminal, in a private home, and
what it prints compared with what README shows.

README speaks of gitlab.example.com; NAMES says what stands for it here. In the output shown, `…` stands for any text on
one line, and VARIABLE lists the few things that differ from run to run. A command shown without output is only expected
to succeed.
"""

import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import fcntl

import pytest

from conftest import ROOT
from support.dev_server import DevServer
from world.browser import Browser

README = (ROOT / "README.md").read_text()
LIMIT_SECONDS = 60

# What README writes -> what is typed here. Longer ones first.
NAMES = {
    "https://gitlab.example.com/team/app.git": "{issuer}/git/app.git",
    "https://gitlab.example.com/api/v4/user": "{issuer}/api/hello",
    "https://gitlab.example.com": "{issuer}",
    "3fa9…": "dev",
}
# What is printed here -> how README writes it, applied in this order.
VARIABLE = [
    (r"(?<=pid )\d+", "4711"),
    (r"~/(data|state)/oauthctl", lambda found: f"~/.local/{'share' if found[1] == 'data' else 'state'}/oauthctl"),
    # Whoever types takes a second from the login to this.
    (r"(?<=  ok     )2 h       (?=  )", "1 h 59 min"),
    (r"127\.0\.0\.1:\d+(?=/callback)", "<loopback>:8914"),
    (r"-L (\d+):127\.0\.0\.1:\1 \S+", "-L 8914:<loopback>:8914 thishost"),
    (r"{issuer}/git/app\.git", "https://gitlab.example.com/team/app.git"),
    (r"{issuer}/authorize", "https://gitlab.example.com/oauth/authorize"),
    (r"{issuer}", "https://gitlab.example.com"),
    (r"{host}|(?<![\d.<])127\.0\.0\.1(?!:\d)", "gitlab.example.com"),
    (r"<loopback>", "127.0.0.1"),
    # An installation has this link beside its programs.
    (r"'{programs}/oauthctl git-credential'", "/usr/local/bin/git-credential-oauthctl"),
    (r"{programs}/oauthctl", "/usr/local/bin/oauthctl"),
    (r"(?m)^  [0-9A-HJKMNP-TV-Z]{{5}}(-[0-9A-HJKMNP-TV-Z]{{5}}){{5}}$", "  1W6B8-5M1HJ-FD7GK-WT8PP-WJBMJ-S00SS"),
]
# Commands for the person's own machine: not run here, but each is looked at.
SETUP = {
    "make demo": lambda: has_target("demo"),
    "make test": lambda: has_target("test"),
    "make install": lambda: has_target("install"),
}


def has_target(name):
    return subprocess.run(["make", "-n", "-C", ROOT, name], capture_output=True).returncode == 0


def blocks(language):
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", README)


def steps():
    """(command, the output shown) of every console block, in README's order."""
    found = []
    for block in blocks("console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found and (line or found[-1][1]):
                found[-1][1].append(line)
    return [(command, "\n".join(output).rstrip()) for command, output in found]


class Stage:
    """The home, the server and the terminal of one run through README."""

    def __init__(self, home, server):
        self.home, self.server = home, server
        self.names = {
            "issuer": server.issuer, "host": server.issuer.removeprefix("http://"), "programs": str(home.programs)}

    def typed(self, command):
        for name, here in NAMES.items():
            command = command.replace(name, here.format(**self.names))
        return command

    def shown(self, output):
        for pattern, name in VARIABLE:
            escaped = {key: re.escape(value) for key, value in self.names.items()}
            output = re.sub(pattern.format(**escaped) if "{" in pattern else pattern, name, output)
        return output

    def run(self, command, environment):
        """Run it on a terminal of its own, answering what is asked; returns (status, what the terminal showed)."""
        terminal, line = pty.openpty()
        fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        # A session's first terminal to be opened becomes the one that /dev/tty is.
        script = 'exec <"$0" >"$0" 2>&1; exec sh -c "$1"'
        process = self.home.start(
            "sh", "-c", script, os.ttyname(line), self.typed(command), environment=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        output, answered, end = b"", 0, time.monotonic() + LIMIT_SECONDS
        try:
            while time.monotonic() < end:
                if select.select([terminal], [], [], 0.05)[0]:
                    output += os.read(terminal, 1 << 16)
                elif process.poll() is not None:
                    # It may have written its last words since the look before.
                    if not select.select([terminal], [], [], 0)[0]:
                        break
                elif len(output) > answered and (answer := self.answer(output[answered:].decode())):
                    answered = len(output)
                    os.write(terminal, answer.encode() + b"\n")
            else:
                raise AssertionError(f"{command}: no end; so far:\n{output.decode()}")
        finally:
            process.kill()
            process.wait()
            os.close(terminal)
            os.close(line)
        return process.returncode, output.decode().replace("\r\n", "\n").rstrip()

    def answer(self, question):
        """What the person types at a prompt."""
        if question.endswith("[y/N] "):
            return "y"
        if question.endswith(("passphrase: ", "at least): ", "The same again: ")):
            return "correct horse battery"
        if question.endswith("paste it here: "):
            url = re.search(re.escape(self.server.issuer) + r"/authorize\S+", question).group()
            return Browser("alice", "demo").open(url, follow_redirect=False)
        return None

    def before(self, command):
        """What README says has happened before a command, by the remark behind it; returns its environment."""
        if command.endswith("# over ssh"):
            self.home.environment.pop("BROWSER", None)
            return {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}
        self.home.use_browser("alice", "demo")
        if command.endswith("# the login died"):
            self.server.script(revoke_grants=True)
            self.home.oauthctl("curl", "-sf", f"{self.server.issuer}/api/hello", check=False)
        return {}


def matches(shown, output):
    """Whether the output is what README shows, `…` standing for any text within a line."""
    pattern = ".*".join(re.escape(part) for part in shown.split("…"))
    return re.fullmatch(pattern, output) is not None


@pytest.fixture
def stage(home):
    repositories = home.root / "repositories"
    home.run("git", "init", "-q", "--bare", repositories / "app.git")
    # README's paths are those of a home without XDG variables.
    del home.environment["XDG_CONFIG_HOME"]
    home.environment["GIT_AUTHOR_NAME"] = home.environment["GIT_COMMITTER_NAME"] = "Tester"
    server = DevServer(home, "--discovery", "openid", "--access-token-life", "7200", git=repositories)
    yield Stage(home, server)
    server.stop()


def test_every_console_command_does_what_readme_shows(stage):
    found = steps()
    assert len(found) >= 10, "README's blocks are not read"
    for command, expected in found:
        status, output = stage.run(command, stage.before(command))
        told = f"$ {command}\n{output}\n(status {status})"
        assert (status != 0) == expected.startswith("oauthctl: "), told
        assert not expected or matches(expected, stage.shown(output)), f"{told}\nREADME shows:\n{expected}"


def test_every_other_command_is_there(stage):
    lines = [line for block in blocks("sh") for line in block.splitlines() if line]
    assert lines
    for line in lines:
        assert line in SETUP, f"nobody looks at this command of README: {line}"
        assert SETUP[line](), line


def test_no_block_is_left_out():
    assert set(re.findall(r"(?m)^```(\w*)$", README)) <= {"console", "sh", ""}


def test_what_is_linked_is_there():
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_every_promise_names_its_tests_and_the_line_they_fail_without():
    """docs/reliability.md: | R1 promise | `file::test`, … | figure | `file`: `code` |"""
    text = (ROOT / "docs/reliability.md").read_text()
    section = text.split("## The promises", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"(?m)^\| (R\d+) [^|]+\| ([^|]+) \|[^|]*\| (.+) \|$", section)
    assert {promise for promise, _, _ in rows} == set(re.findall(r"(?m)^\| (R\d+) \|", README))
    for promise, tests, lines in rows:
        for name in re.findall(r"`([^`]+)`", tests):
            path, _, test = name.partition("::")
            file = ROOT / "Tests/System" / path
            assert file.exists() and f"def {test}" in file.read_text(), f"{promise}: {name}"
        found = re.findall(r"`([^`]+)`: `([^`]+)`", lines)
        assert found, promise
        for path, code in found:
            file = ROOT / ("systemd" if path.endswith(".service") else "Sources") / path
            assert code in file.read_text(), f"{promise}: {path} has no {code}"
