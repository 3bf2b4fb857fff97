"""`oauthctl curl`: the installed curl with the account's token, which nobody else sees."""

import os
import subprocess

import pytest

from cli.curl_account import curl, work
from support.accounts import edit
from support.login import get_token, log_in, wait_until
from support.watch import Watch, files_with
from world.guard import mark_of


# The account and its hosts

@pytest.mark.parametrize("account", [[], ["work"]], ids=["by host", "by name"])
def test_the_token_reaches_the_api(work, dot, account):
    result = curl(work, *account, dot.resource)
    assert result.stdout == '{"hello": "alice"}' and "oauthctl" not in result.stderr


def test_the_host_decides_between_accounts(work, dot, world):
    other = world(access_ttl=298)
    log_in(work, other, "other")
    for server in (dot, other):
        mark = server.mark()
        assert curl(work, server.resource).stdout == '{"hello": "alice"}'
        assert len(server.api_requests(mark)) == 1


def test_a_host_of_no_account_is_refused(work, elsewhere):
    result = curl(work, elsewhere.url, check=False)
    assert (result.status, result.stdout, elsewhere.seen) == (125, "", []) and "no account" in result.stderr


def test_another_host_than_the_account_s_is_refused(work, elsewhere):
    result = curl(work, "work", elsewhere.url, check=False)
    assert (result.status, result.stdout, elsewhere.seen) == (125, "", [])
    assert "may not go to" in result.stderr


def test_any_host_sends_the_token_where_it_is_told(work, elsewhere):
    token = get_token(work)
    assert curl(work, "--any-host", "work", elsewhere.url).stdout == "elsewhere\n"
    assert [seen["Authorization"] for seen in elsewhere.seen] == [f"Bearer {token}"]


def test_a_redirect_to_another_host_loses_the_token(work, dot, elsewhere):
    mark = dot.mark()
    result = curl(work, "--location", f"{dot.api('redirect')}?to={elsewhere.url}")
    assert result.stdout == "elsewhere\n"
    [seen] = elsewhere.seen
    assert "Authorization" not in seen and get_token(work) not in str(seen)
    assert [entry["authorization"] for entry in dot.api_requests(mark)] == ["bearer"]


def test_a_redirect_on_the_same_host_keeps_the_token(work, dot):
    assert curl(work, "-L", f"{dot.api('redirect')}?to={dot.resource}").stdout == '{"hello": "alice"}'


@pytest.mark.parametrize("arguments", [
    ["http://example.com/"],
    ["--any-host", "work", "http://example.com/"],
    ["ftp://localhost/"],
    ["file:///etc/passwd"],
    ["{url}", "-H", "Authorization: Basic eA=="],
    ["{url}", "-H", "authorization;"],
    ["{url}", "-u", "me:secret"],
    ["{url}", "-ume:secret"],
    ["{url}", "--oauth2-bearer", "x"],
    ["{url}", "--next", "{url}"],
    ["{url}", "-:", "{url}"],
    ["-L", "--location-trusted", "{url}"],
    ["-K", "file", "{url}"],
    ["{url}", "--libcurl", "out.c"],
    ["--proto", "=http", "{url}"],
    ["--proto", "-ftp", "{url}"],
    ["{url}", "--unix-socket", "socket"],
    ["{url}", "--connect-to", "::127.0.0.1:9"],
    ["{url}", "--url", "http://127.0.0.2:9/"],
    ["http://me:secret@localhost/"],
    ["https://localhost%2f@evil.example/"],
    ["--no-such-option", "{url}"],
    ["{url}", "-x", "http://127.0.0.1:9"],
    ["{url}", "http://127.0.0.2:9/"],
    ["work"],
])
def test_what_could_give_the_token_away_is_refused(work, dot, arguments):
    mark = dot.mark()
    result = curl(work, *[word.format(url=dot.resource) for word in arguments], check=False)
    assert (result.status, result.stdout) == (125, ""), result
    assert result.stderr.startswith("oauthctl: ") and dot.api_requests(mark) == []


def test_a_proxy_of_the_environment_gets_no_plain_http(work, dot, elsewhere):
    proxies = {"http_proxy": elsewhere.url, "ALL_PROXY": elsewhere.url}
    assert curl(work, dot.resource, environment=proxies).stdout == '{"hello": "alice"}'
    assert elsewhere.seen == []


# curl's own

@pytest.mark.parametrize("arguments, status", [
    # Nobody listens there, and it is none of the account's hosts.
    (["--any-host", "work", "http://localhost:1/"], 7),
    (["{slow}", "--max-time", "0.3"], 28),
    (["--fail", "{missing}"], 22),
    (["-o", "no/such/folder", "{hello}"], 23),
])
def test_the_status_is_curl_s(work, dot, arguments, status):
    places = {"slow": dot.api("slow") + "?seconds=1", "missing": dot.api("nothing-here"), "hello": dot.resource}
    mark = dot.mark()
    result = curl(work, *[word.format(**places) for word in arguments], "-sS", check=False)
    assert result.status == status
    if status != 7:
        wait_until(lambda: dot.api_requests(mark), 20, "the request is logged, which may be after curl gave up")


def test_no_curl_is_127(work, dot):
    programs = work.root / "empty"
    programs.mkdir()
    result = curl(work, dot.resource, environment={"PATH": str(programs)}, check=False)
    assert (result.status, result.stdout) == (127, "") and "curl" in result.stderr


def test_failures_before_curl_are_125(home, agent, dot):
    result = curl(home, "nobody", dot.resource, check=False)
    assert (result.status, result.stdout) == (125, "") and "nobody" in result.stderr


def test_curl_ends_when_its_reader_goes_away(work, dot):
    process = subprocess.run(
        ["sh", "-c", f"'{work.programs}/oauthctl' curl -sS '{dot.resource}' | true"], env=work.environment,
        cwd=work.root, capture_output=True, timeout=30)
    assert process.returncode == 0


def test_the_user_s_curlrc_is_not_read(work, dot):
    """It could say `trace`, or a proxy."""
    trace = work.root / "trace"
    (work.root / ".curlrc").write_text(f'verbose\ntrace-ascii = "{trace}"\nproxy = "http://127.0.0.1:9"\n')
    result = curl(work, dot.resource)
    assert result.stdout == '{"hello": "alice"}' and "Authorization" not in result.stderr
    assert not trace.exists()
    # The file does what it is feared for, where it is read.
    plain = work.run("curl", "-sS", dot.resource, check=False)
    assert plain.status != 0 and trace.exists()


# Secrecy

def test_the_token_is_nowhere_to_be_seen_while_curl_runs(work, dot):
    """Not in a command line, an environment, or a file with a name; after a 401 neither token is."""
    first = get_token(work)
    dot.revoke(first)
    mark = dot.mark()
    with Watch(work.root) as watch:
        process = work.start(work.programs / "oauthctl", "curl", "-sS", dot.api("slow") + "?seconds=2")
        wait_until(lambda: dot.refreshes(mark), 20, "the retry")
        second = get_token(work)
        arguments = wait_until(lambda: child_arguments(process.pid), 20, "curl's second run")
        configuration = os.readlink(f"/proc/{child(process.pid)}/fd/{arguments[3].rpartition('/')[2]}")
        assert process.communicate(timeout=60) == ("late\n", "")
    assert watch.places_of(first, second) == set() and {"oauthctl", "curl"} <= watch.seen and second != first
    assert arguments[:3] == ["curl", "--disable", "--config"] and configuration.startswith("pipe:")
    assert files_with(work, first, second) == set()
    assert [entry["token"] for entry in dot.api_requests(mark)] == [mark_of(first), mark_of(second)]


def test_the_watch_would_see_a_token_that_is_passed_as_an_argument(work, dot):
    token = get_token(work)
    with Watch() as watch:
        work.run("curl", "-sS", "-H", f"Authorization: Bearer {token}", dot.api("slow") + "?seconds=0.5")
    assert watch.places_of(token) == {"command line of curl"}


def child(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return next(iter(file.read().split()), None)


def child_arguments(pid):
    """The words of the one child's command line; None while there is none."""
    try:
        with open(f"/proc/{child(pid)}/cmdline") as file:
            words = file.read().split("\0")[:-1]
    except FileNotFoundError:
        return None
    return words if words and os.path.basename(words[0]) == "curl" else None


def test_the_account_s_authority_is_trusted_for_its_own_server(home, agent, world, elsewhere):
    """A private authority is named once, in the account: not at each call, and for no other host."""
    server = world(tls=True)
    log_in(home, server)
    assert curl(home, "-sS", server.resource).stdout == '{"hello": "alice"}'
    assert curl(home, "work", "-sS", server.resource, server.resource).stdout == '{"hello": "alice"}' * 2
    # Whoever says whom to trust is heard.
    assert curl(home, "-sS", "--cacert", "/dev/null", server.resource, check=False).status != 0
    # What the login is bound to counts, whatever the file names by now.
    (home.root / "other.pem").write_text("")
    edit(home, "work", ca_file=f'"{home.root / "other.pem"}"')
    assert curl(home, "-sS", server.resource).stdout == '{"hello": "alice"}'
