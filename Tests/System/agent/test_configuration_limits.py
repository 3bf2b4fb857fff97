"""No configuration file holds the agent up, makes it grow, or keeps it from answering, whatever is in it."""

import json
import os
import time

import pytest

from support.accounts import account_file
from support.login import get_token, log_in

FILE_BYTES = 64 << 10
GOOD = 'issuer = "https://as.example"\nclient_id = "me"\n'
ONES = "1," * 30_000
# A text of at most 64 KiB, and a word of what is said of it.
SHAPES = {
    "a key of 32000 parts": (".".join("a" * 32_000) + "=1", "more than 8 parts"),
    "a quoted key of 16000 parts": (".".join(['"a"'] * 16_000) + "=1", "more than 8 parts"),
    "a header of 32000 parts": ("[" + ".".join("a" * 32_000) + "]", "more than 8 parts"),
    "an inline key of 32000 parts": ("x={" + ".".join("a" * 32_000) + "=1}", "more than 8 parts"),
    "150 keys of 100 parts": ("".join(".".join([f"k{i}"] * 100) + "=1\n" for i in range(150)), "more than 8 parts"),
    "arrays 30000 deep": ("x=" + "[" * 30_000 + "]" * 30_000, "deeper than 8"),
    "arrays that do not end": ("x=" + "[" * 65_000, "deeper than 8"),
    "tables 16000 deep": ("x=" + "{a=" * 16_000 + "1" + "}" * 16_000, "deeper than 8"),
    "behind a quote in a key": ('"\\""=' + "[" * 30_000, "deeper than 8"),
    "4000 keys": ("".join(f"k{i}=1\n" for i in range(4_000)), "more than 256 keys"),
    "4000 tables": ("".join(f"[t{i:x}]\n" for i in range(4_000)), "more than 256 keys"),
    "30000 numbers": (f"x=[{ONES}]", "more than 4096 values"),
    "65000 lines": ("\n" * 65_000, "more than 4096 lines"),
    "200 keys": (GOOD + "".join(f"k{i}=1\n" for i in range(200)), "and 190 more problems in this file"),
    "a key of 64 KiB": ("a" * 65_000 + "=1", "there is no such key"),
    "an unseen key": ('"' + "\\u202e" * 10_000 + '"=1', "there is no such key"),
    "a number of 64 KiB": ("x=" + "9" * 65_000, "not TOML"),
    "a power of 64 KiB": ("x=1e" + "9" * 65_000, "not TOML"),
    "a date of 64 KiB": ("x=1979-05-27T07:32:00." + "9" * 65_000, "not TOML"),
    "duplicate keys": ("a=1\n" * 200, "not TOML"),
    "carriage returns alone": ("a=1\r" * 16_000, "carriage return"),
    "no UTF-8": (b"a=1\n\xff\xfe" * 9_000, "not UTF-8"),
    "NUL": ("\0" * 65_000, "NUL"),
    "a string that does not end": ('x="""' + "b\n" * 3_000, "not TOML"),
    "quotes": ('"' * 65_000, "not TOML"),
    "dots": ("." * 65_000, "not TOML"),
}
# What the parser behind the agent's own reader would end the process on, by an assertion.
FATAL = ["[[[", "[[ [a]]", "[.", "a=[}", 'scope = ["read", }', "a=1979-05-27 0,", "a=1979-05-27T:",
         "a=1979-" + "_" * 116 + "05-27 1"]


def peak_mib(agent):
    """The most memory that it had."""
    with open(f"/proc/{agent.process.pid}/status") as status:
        return next(int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM"))


def write(home, name, text):
    file = account_file(home, name)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert file.stat().st_size <= FILE_BYTES


def processor_seconds(agent):
    with open(f"/proc/{agent.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_file_costs_next_to_nothing_and_is_told(home, agent, shape):
    text, words = SHAPES[shape]
    write(home, "good", GOOD)
    before, used = peak_mib(agent), processor_seconds(agent)
    write(home, "work", text)
    with agent.connect() as wire:
        answer = wire.call("config.reload")
        assert answer["accounts"] == 1
        told = [problem["reason"] for problem in answer["problems"]]
        assert any(words in reason for reason in told) and len(told) <= 13, told
        assert len(json.dumps(wire.call("agent.status"))) < 32 << 10
    # Before there were limits the first of them took 37 s and 1100 MiB.
    assert peak_mib(agent) - before < 32 and processor_seconds(agent) - used < 5


def test_no_text_ends_the_agent_neither_in_a_file_nor_in_a_callers_line(home, agent):
    """Each is told with its file and line, the agent goes on, and so it does when it starts with all of them there."""
    first = agent.process.pid
    for number, text in enumerate(FATAL):
        text = f"{GOOD}{text}\n"
        with agent.connect() as wire:
            answer = wire.call("account.check", account="work", definition=text, discover=False)
            assert [(one["line"], one["reason"][:8]) for one in answer["problems"]] == [(3, "not TOML")], text
        write(home, f"bad{number}", text)
    write(home, "good", GOOD)
    expected = {str(account_file(home, f"bad{number}")): 3 for number in range(len(FATAL))}
    for _ in range(2):
        with agent.connect() as wire:
            answer = wire.call("config.reload")
        assert answer["accounts"] == 1
        assert {one["file"]: one["line"] for one in answer["problems"]} == expected
        assert agent.process.pid != first or agent.process.poll() is None
        agent.restart()


def test_many_bad_files_are_cut_in_every_answer(home, agent):
    """300 files of 4000 bad keys each, and 2000 of 20: what is said of them fits, and says how much is left out."""
    for number in range(300):
        write(home, f"big{number}", "".join(f"k{i}=1\n" for i in range(4_000)))
    for number in range(2_000):
        write(home, f"small{number}", "".join(f"k{i}=1\n" for i in range(20)))
    write(home, "good", GOOD)
    with agent.connect() as wire:
        answer = wire.call("config.reload")
        status = wire.call("agent.status")
        assert wire.call("account.check", account="small7", discover=False)["problems"][-1]["reason"].startswith("and ")
    assert answer["accounts"] == 1 and status["counts"] == {"accounts": 1}
    for told in (answer, status):
        assert len(told["problems"]) == 100 and told["problems_left_out"] > 2_200
    assert peak_mib(agent) < 100
    page, reload = home.oauthctl("status").lines, home.oauthctl("reload", check=False)
    left = status["problems_left_out"] + 90
    assert page[-1] == f"and {left} more problems in configuration files" and len(page) < 20
    assert reload.status == 3 and f"and {left} more problems" in reload.stderr and len(reload.stderr.splitlines()) == 12
    doctor = home.oauthctl("doctor", check=False)
    assert f"and {left} more problems" in doctor.stdout + doctor.stderr


def test_what_is_no_file_is_told_and_opened_by_nobody(home, agent):
    write(home, "good", GOOD)
    folder = account_file(home).parent
    os.mkfifo(folder / "pipe.toml")
    (folder / "folder.toml").mkdir()
    for name, target in {
            "zero": "/dev/zero", "terminal": "/dev/tty", "circle": "circle.toml", "nothing": "/nonexistent",
            "a": "b.toml", "b": "a.toml", "kernel": "/proc/kmsg"}.items():
        (folder / f"{name}.toml").symlink_to(target)
    write(home, "unreadable", GOOD)
    (folder / "unreadable.toml").chmod(0)
    with agent.connect() as wire:
        answer = wire.call("config.reload")
    bad = {os.path.basename(problem["file"]) for problem in answer["problems"]}
    expected = {path.name for path in folder.iterdir()} - {"good.toml"}
    if os.geteuid() == 0:
        expected.remove("unreadable.toml")
    assert bad == expected
    assert answer["accounts"] == (2 if os.geteuid() == 0 else 1)


def test_one_authority_is_read_once_and_all_of_them_have_a_limit(home, agent):
    authority = home.root / "ca.pem"
    authority.write_bytes(b"x" * (4 << 20))
    for number in range(500):
        write(home, f"same{number}", GOOD + f'ca_file = "{authority}"\n')
    used = processor_seconds(agent)
    with agent.connect() as wire:
        assert wire.call("config.reload")["accounts"] == 500
        # One by one they take 20 s.
        assert processor_seconds(agent) - used < 5
        for number in range(20):
            other = home.root / f"ca{number}.pem"
            other.write_bytes(b"x" * (4 << 20))
            write(home, f"zother{number}", GOOD + f'ca_file = "{other}"\n')
        answer = wire.call("config.reload")
    assert 500 <= answer["accounts"] < 520
    assert all("67108864 bytes" in problem["reason"] for problem in answer["problems"]) and answer["problems"]


def test_a_folder_with_too_much_keeps_the_accounts_that_were_there(home, agent, dot):
    """The last good definitions hold when a folder has become too large to be read whole."""
    log_in(home, dot)
    token = get_token(home)
    for number in range(520):
        write(home, f"a{number}", GOOD + "#" * (FILE_BYTES - len(GOOD)))
    with agent.connect() as wire:
        problems = wire.call("config.reload")["problems"]
    assert [problem["file"] for problem in problems] == [str(account_file(home).parent)]
    assert "the rest is not read" in problems[0]["reason"]
    assert get_token(home) == token


def test_callers_are_answered_while_files_are_read(home, agent, dot):
    log_in(home, dot)
    for number in range(1_000):
        write(home, f"bad{number}", "".join(f"k{i}=1\n" for i in range(250)))
    with agent.connect() as reloading, agent.connect() as wire:
        began = time.monotonic()
        reloading.request("config.reload")
        slowest, asked = 0, 0
        reloading.socket.setblocking(False)
        while True:
            start = time.monotonic()
            wire.call("token.get", url=dot.resource)
            slowest, asked = max(slowest, time.monotonic() - start), asked + 1
            try:
                if reloading.socket.recv(1, 2):
                    break
            except BlockingIOError:
                pass
        took = time.monotonic() - began
    assert asked > 20 and slowest < max(5, took / 2), (asked, slowest, took)
