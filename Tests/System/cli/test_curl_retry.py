"""`oauthctl curl` and a 401: one refresh, one retry, and what curl itself says stays what it says."""

import os
import pty
import subprocess

import pytest

from cli.curl_account import curl, work
from login.provider import Provider, use_silent_browser
from network.listeners import Portal
from support.login import get_token

CALLERS = 20


# 401

def test_a_401_costs_one_refresh_and_one_retry_and_only_the_second_body_is_printed(work, dot):
    dot.revoke(get_token(work))
    mark = dot.mark()
    result = curl(work, dot.resource)
    assert (result.stdout, result.status) == ('{"hello": "alice"}', 0) and "oauthctl" not in result.stderr
    assert [entry["status"] for entry in dot.api_requests(mark)] == [401, 200]
    assert len(dot.refreshes(mark)) == 1


@pytest.mark.parametrize("flag", ["--fail", "--fail-with-body", "-f"])
def test_with_fail_the_first_try_leaves_nothing_on_standard_error(work, dot, flag):
    dot.revoke(get_token(work))
    result = curl(work, "-sS", flag, dot.resource)
    assert (result.status, result.stdout, result.stderr) == (0, '{"hello": "alice"}', "")
    failed = curl(work, "-sS", flag, dot.api("never"), check=False)
    assert failed.status == 22 and "401" in failed.stderr


@pytest.mark.parametrize("how", ["-d TEXT", "-d @FILE", "-d @-", "-T FILE", "-T -", "-F", "-F @-"])
def test_the_second_request_has_the_same_body(work, dot, how):
    text = "value=" + "x" * 70_000
    (work.root / "body").write_text(text)
    arguments, stdin = {
        "-d TEXT": (["-d", "value=1&more=2"], None),
        "-d @FILE": (["-d", "@body"], None),
        "-d @-": (["--data-binary", "@-"], text),
        "-T FILE": (["-T", "body"], None),
        "-T -": (["-T", "-"], text),
        "-F": (["-F", "file=@body", "-F", "note=hello"], None),
        "-F @-": (["-F", "file=@-"], text),
    }[how]
    dot.revoke(get_token(work))
    mark = dot.mark()
    result = curl(work, *arguments, dot.api("echo"), stdin=stdin)
    first, second = dot.api_requests(mark)
    assert (first["status"], second["status"]) == (401, 200) and first["token"] != second["token"]
    if how.startswith("-F"):
        # A form's boundary is drawn anew by every curl.
        assert "hello" in result.stdout if how == "-F" else text in result.stdout
    else:
        assert first["body"] == second["body"]
        assert result.stdout == ("value=1&more=2" if how == "-d TEXT" else text)


def test_input_that_is_a_file_starts_again_where_it_was(work, dot):
    (work.root / "body").write_text("skipped kept")
    dot.revoke(get_token(work))
    with open(work.root / "body") as file:
        os.lseek(file.fileno(), 8, os.SEEK_SET)
        process = work.start(
            work.programs / "oauthctl", "curl", "-sS", "--data-binary", "@-", dot.api("echo"), stdin=file)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (0, "kept", "")


@pytest.mark.parametrize("flags, status", [([], 0), (["--fail"], 22), (["--fail-with-body"], 22)])
def test_a_second_401_is_passed_on_with_curl_s_status(work, dot, flags, status):
    mark = dot.mark()
    result = curl(work, *flags, dot.api("never"), check=False)
    assert result.status == status
    assert result.stdout == ("" if flags == ["--fail"] else "a valid access token is needed\n")
    assert [entry["status"] for entry in dot.api_requests(mark)] == [401, 401] and len(dot.refreshes(mark)) == 1


def test_want_of_rights_is_no_reason_to_refresh(work, dot):
    mark = dot.mark()
    assert curl(work, dot.api("forbidden")).stdout == "more rights are needed\n"
    assert len(dot.api_requests(mark)) == 1 and dot.refreshes(mark) == []


def test_a_401_of_another_host_behind_a_redirect_says_nothing_about_the_token(work, dot):
    """curl sent it no token, so that the token was not rejected: the answer is passed on as it is."""
    token, mark = get_token(work), dot.mark()
    with Portal("401 Unauthorized", "not here\n") as foreign:
        result = curl(work, "-sSL", f"{dot.api('redirect')}?to=http://localhost:{foreign.port}/blob")
        several = curl(work, "-sSL", *[f"{dot.api('redirect')}?to=http://localhost:{foreign.port}/blob"] * 2)
        assert [head for head in foreign.requests if token.encode() in head] == [] and len(foreign.requests) == 3
    assert (result.stdout, several.stdout) == ("not here\n", "not here\n" * 2)
    assert result.stderr == several.stderr == "" and dot.refreshes(mark) == [] and get_token(work) == token


def test_twenty_curls_with_a_dead_token_cost_one_refresh(work, dot):
    dot.revoke(get_token(work))
    mark = dot.mark()
    started = [work.start(work.programs / "oauthctl", "curl", "-sS", dot.resource) for _ in range(CALLERS)]
    ended = [(*process.communicate(timeout=120), process.returncode) for process in started]
    assert ended == [('{"hello": "alice"}', "", 0)] * CALLERS
    assert len(dot.refreshes(mark)) == 1


def test_headers_and_files_are_the_second_answer_s(work, dot):
    dot.revoke(get_token(work))
    curl(work, "-D", "headers", "-o", "out", dot.resource)
    assert (work.root / "out").read_text() == '{"hello": "alice"}'
    headers = (work.root / "headers").read_text()
    assert headers.startswith("HTTP/1.1 200") and "401" not in headers


def test_nothing_is_sent_where_the_headers_have_no_file(work, dot):
    mark = dot.mark()
    for file in "none/headers", ".":
        result = curl(work, "-D", file, dot.resource, check=False)
        assert result.status == 125 and f"cannot write {file}, which is to have the headers" in result.stderr
    assert dot.api_requests(mark) == []


def test_several_urls_are_sent_once_and_the_401_is_told(work, dot):
    dot.revoke(get_token(work))
    mark = dot.mark()
    result = curl(work, dot.resource, dot.resource)
    assert [entry["status"] for entry in dot.api_requests(mark)] == [401, 401] and dot.refreshes(mark) == []
    assert "401" in result.stderr and "several URLs" in result.stderr


def test_a_login_that_is_dead_shows_the_401_and_says_why(work, dot):
    """The server holds the grant for revoked: there is no new token to try with."""
    token = get_token(work)
    dot.revoke(token)
    dot.end_grants()
    result = curl(work, dot.resource, check=False)
    assert "a valid access token is needed" in result.stdout
    assert "login needed" in result.stderr and "oauthctl login work" in result.stderr


def test_a_401_whose_page_is_lost_is_no_success_where_no_new_token_comes(work, dot):
    dot.revoke(get_token(work))
    dot.end_grants()
    lost = work.run("sh", "-c", f"exec {work.programs}/oauthctl curl -sS {dot.resource} >/dev/full", check=False)
    assert lost.status == 23 and "login needed" in lost.stderr, lost


def test_the_next_agent_knows_that_a_dead_login_s_token_was_rejected(work, dot):
    """It gave the token to whoever asked, until somebody had met the 401 again."""
    dot.revoke(get_token(work))
    dot.end_grants()
    curl(work, dot.resource, check=False)
    for _ in range(2):
        refused = work.oauthctl("get-token", "work", check=False)
        assert (refused.status, refused.stdout) == (4, "") and "login needed" in refused.stderr, refused
        work.agent.stop()
        work.agent.start()


@pytest.mark.parametrize("how", [
    "--data-binary @/dev/stdin", "-T /dev/fd/0", "-T PIPE", "-F file=@/dev/stdin", "--url-query id@PIPE"])
def test_what_a_pipe_gives_once_is_not_sent_a_second_time_as_nothing(work, dot, how):
    """The second request had no body, and the server took it."""
    pipe = None
    if "PIPE" in how:
        pipe = work.root / "pipe"
        os.mkfifo(pipe)
        writer = work.start("sh", "-c", f"printf whole >'{pipe}'")
    dot.revoke(get_token(work))
    mark = dot.mark()
    option, _, value = how.partition(" ")
    result = curl(
        work, option, value.replace("PIPE", str(pipe)), dot.api("echo"), stdin=None if pipe else "whole", check=False)
    if pipe:
        assert writer.wait(30) == 0
    assert [entry["status"] for entry in dot.api_requests(mark)] == [401]
    assert "not tried again because of" in result.stderr and "can be read or written once" in result.stderr, result
    assert "then repeat the call" in result.stderr


def test_what_is_typed_once_is_not_asked_for_a_second_time(work, dot):
    """The second request had what was typed after the first: nothing."""
    dot.revoke(get_token(work))
    mark = dot.mark()
    ours, theirs = pty.openpty()
    os.write(ours, b"whole\n\x04")
    process = work.start(
        work.programs / "oauthctl", "curl", "-sS", "-d", "@/dev/stdin", dot.api("echo"), stdin=theirs)
    _, told = process.communicate(timeout=30)
    os.close(ours)
    os.close(theirs)
    assert [entry["status"] for entry in dot.api_requests(mark)] == [401], told
    assert "/dev/stdin, which is read once" in told, told


@pytest.mark.parametrize("files", ["{body}", "{body,other}", "{.}"])
def test_several_files_are_sent_once(work, dot, files):
    for name in ("body", "other"):
        (work.root / name).write_text(name)
    dot.revoke(get_token(work))
    mark = dot.mark()
    result = curl(work, "-T", files, dot.api("echo"), stdin="whole", check=False)
    assert {entry["status"] for entry in dot.api_requests(mark)} == {401}
    assert "not tried again because of several files" in result.stderr, result


def test_what_is_written_into_a_pipe_by_name_is_one_answer(work, dot):
    pipe = work.root / "pipe"
    os.mkfifo(pipe)
    reader = work.start("cat", pipe)
    dot.revoke(get_token(work))
    result = curl(work, "-o", str(pipe), dot.resource, check=False)
    assert "not tried again because of" in result.stderr, result
    assert reader.communicate(timeout=30)[0] == "a valid access token is needed\n"


@pytest.mark.parametrize("how", [
    "-T FILE -o FILE", "-d @FILE -o FILE", "-T FILE --remote-name-all --output-dir FOLDER", "-d @FILE -c FILE",
    "-d @FILE --etag-save FILE"])
def test_a_file_that_is_read_and_written_gets_no_second_request(work, dot, how):
    """The page of the 401 was in it, and was sent."""
    file = work.root / "echo"
    file.write_text("mine")
    dot.revoke(get_token(work))
    mark = dot.mark()
    how = how.replace("FILE", str(file)).replace("FOLDER", str(work.root))
    result = curl(work, *how.split(), dot.api("echo"), check=False)
    assert [entry["status"] for entry in dot.api_requests(mark)] == [401], result
    assert "echo, which is read and written" in result.stderr, result


@pytest.mark.parametrize("output", ["-o echo", "-O"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_file_that_is_fetched_where_there_is_a_newer_one_is_not_fetched_by_the_page_of_the_401(
        work, dot, is_there, output):
    file = work.root / "echo"
    if is_there:
        file.write_text("mine")
    dot.revoke(get_token(work))
    mark = dot.mark()
    result = curl(work, "-z", "echo", *output.split(), dot.api("echo"), check=False)
    assert [entry["status"] for entry in dot.api_requests(mark)] == [401], result
    assert "not tried again because of --time-cond" in result.stderr, result


@pytest.mark.parametrize("condition", [["--etag-compare", "etag"], ["-H", 'If-None-Match: "1"']])
def test_the_page_of_a_401_does_not_stay_where_nothing_has_changed(work, dot, condition):
    (work.root / "etag").write_text('"1"')
    dot.revoke(get_token(work))
    mark = dot.mark()
    result = curl(work, *condition, "-o", "echo", dot.api("echo"), check=False)
    assert [entry["status"] for entry in dot.api_requests(mark)] == [401], result
    assert "not tried again because of" in result.stderr, result


def test_a_cookie_jar_that_is_read_and_written_is_no_obstacle(work, dot):
    jar = work.root / "jar"
    dot.revoke(get_token(work))
    mark = dot.mark()
    curl(work, "-b", str(jar), "-c", str(jar), dot.resource)
    assert [entry["status"] for entry in dot.api_requests(mark)] == [401, 200]


def test_a_value_that_looks_like_standard_input_reads_none(work, dot):
    process = work.start(
        work.programs / "oauthctl", "curl", "-sS", "-F", "at=52.1,-1.25", "-b", "mail=me@-", dot.api("echo"),
        stdin=subprocess.PIPE)
    # It is not read to its end.
    assert process.wait(30) == 0
    process.stdin.close()


class Shop(Provider):
    """Takes an order from anybody, and shows it to who has the newest token."""

    status = "303 See Other"

    def answer(self, method, url, fields, body):
        if url.path != "/order":
            return super().answer(method, url, fields, body)
        self.seen.append(("order", method))
        return self.status, {"Location": self.url}, None


@pytest.mark.parametrize("status", ["303 See Other", "302 Found", "307 Temporary Redirect"])
def test_an_order_that_was_taken_is_not_sent_a_second_time_for_the_page_it_led_to(home, agent, status):
    """The page behind the redirect wanted a newer token, and the order was there twice."""
    use_silent_browser(home)
    with Shop() as shop:
        shop.status = status
        home.oauthctl("login", "shop", shop.url)
        # The server has ended the token.
        shop.tokens += 1
        result = home.oauthctl("curl", "-sSL", "-d", "order=1", f"http://127.0.0.1:{shop.port}/order", check=False)
        is_taken = not status.startswith("307")
        assert shop.kinds().count("order") == (1 if is_taken else 2), result
        assert ("not tried again because it had been taken" in result.stderr) == is_taken, result
        assert ("hello" in result.stdout) != is_taken
