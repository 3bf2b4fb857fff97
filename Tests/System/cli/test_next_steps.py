"""What the programs say is true, is said once, and names what helps."""

import json
import subprocess

from cli.logged_in import server, work
from support.accounts import account_file, define
from support.dev_server import DevServer
from support.terminal import run_at_terminal


# Accounts

def test_a_changed_file_is_told_with_the_way_back_first(work):
    file = account_file(work)
    before = file.read_text()
    file.write_text(before.replace("/127.0.0.1", "/127.0.0.2", 1))
    work.oauthctl("reload")
    way = f"put {work.shown(file)} back as it was if you did not mean it; else: oauthctl account accept work"
    for command in (["status"], ["get-token", "work", "--force"], ["doctor"]):
        result = work.oauthctl(*command, check=False)
        assert way in result.stdout + result.stderr, result
    file.write_text(before)
    work.oauthctl("reload")
    work.oauthctl("get-token", "work")


def test_another_client_is_logged_in_anew(work):
    """By another client than it was given to the server takes no refresh token."""
    file = account_file(work)
    before = file.read_text()
    file.write_text(before.replace('client_id = "dev"', 'client_id = "other"'))
    work.oauthctl("reload")
    told = work.oauthctl("get-token", "work", "--force", check=False)
    assert told.stderr.endswith("back as it was if you did not mean it; else: oauthctl login work\n"), told
    file.write_text(before)
    work.oauthctl("reload")


def test_a_scope_for_an_account_that_is_there_is_added_to_it(work, server):
    refused = work.oauthctl("login", "work", server.issuer, "--scope", "write", check=False)
    assert refused.status == 64 and "  run: oauthctl login work --add-scope write" in refused.stderr, refused


def test_a_file_that_cannot_be_read_is_not_replaced_unseen(work, server):
    file = account_file(work, "closed")
    file.mkdir()
    refused = work.oauthctl(
        "login", "closed", server.issuer, "--client-id", "dev", "--scope", "read", "--replace", check=False)
    assert refused.status == 3 and "is no file; nothing is written" in refused.stderr, refused
    shown = work.shown(file)
    assert f"  run: mv {shown} {shown}.old" in refused.stderr, refused
    assert file.is_dir()
    file.rmdir()


def test_a_secret_that_was_not_kept_is_not_said_to_be_forgotten(work):
    assert "No client secret of work was kept." in work.oauthctl("secret", "forget", "work", "client_secret").stderr
    work.oauthctl("secret", "set", "work", "client_secret", stdin="hush\n")
    assert "Forgot the client secret of work." in work.oauthctl("secret", "forget", "work", "client_secret").stderr


def test_a_password_that_nobody_keeps_is_nothing_wrong(home, agent):
    server = DevServer(home)
    try:
        server.script(answers=[{
            "endpoint": "token", "action": "answer", "status": 200, "headers": {"Content-Type": "application/json"},
            "body": json.dumps({"access_token": "a" * 20, "token_type": "Bearer", "expires_in": 3600})}])
        home.oauthctl(
            "login", "work", server.issuer, "--client-id", "dev-legacy", "--grant", "password", "--username", "alice",
            "--password-stdin", stdin="demo\n")
        assert json.loads(home.oauthctl("doctor", "--json").stdout)["healthy"]
    finally:
        server.stop()


def test_account_show_says_of_a_dead_login_what_status_says(work, server):
    assert "renewed" in work.oauthctl("account", "show", "work").stdout
    server.script(revoke_grants=True)
    assert work.oauthctl("get-token", "work", "--force", check=False).status == 4
    shown = dict(line.split(maxsplit=1) for line in work.oauthctl("account", "show", "work").lines)
    [line] = [line for line in work.oauthctl("status").lines if line.startswith("work ")]
    assert shown["state"] == "login needed" and "login needed" in line
    assert shown["renewed"] == "by a new login"
    assert json.loads(work.oauthctl("account", "show", "work", "--json").stdout)["summary"]["renewable"] is False


def test_a_dead_login_shows_no_life_of_a_token_that_nobody_is_given(work, server):
    token = work.oauthctl("get-token", "work").stdout
    server.script(revoke_grants=True)
    assert work.oauthctl("get-token", "work", "--rejected-stdin", stdin=token, check=False).status == 4
    [line] = [line for line in work.oauthctl("status").lines if line.startswith("work ")]
    assert line.split()[1:4] == ["login", "needed", "-"]


def test_too_many_forced_refreshes_are_told_as_that(work):
    for _ in range(3):
        work.oauthctl("get-token", "work", "--force")
    told = work.oauthctl("get-token", "work", "--force", "--timeout", "1", check=False)
    assert told.status == 6 and "too many forced refreshes in a short time" in told.stderr
    assert "rejected tokens" not in told.stderr and "try again in" in told.stderr


# Hosts and defaults

def test_setup_git_without_a_terminal_names_the_same_command_with_yes(work, server):
    work.oauthctl("setup", "git", "--host", server.issuer, "--yes")
    told = work.oauthctl("setup", "git", "--remove", "--host", server.issuer, check=False)
    assert told.stderr.endswith(f"run: oauthctl setup git --yes --remove --host {server.issuer}\n")


def test_setup_proxy_without_a_terminal_names_the_same_command_with_yes(home, agent):
    """A step without --remove would have set the proxy instead."""
    settings = home.config / "oauthctl" / "config.toml"
    shell = {"HTTPS_PROXY": "http://127.0.0.1:9"}
    told = home.oauthctl("setup", "proxy", environment=shell, check=False)
    assert told.stderr.endswith("run: oauthctl setup proxy --yes\n"), told
    home.oauthctl("setup", "proxy", "--yes", environment=shell)
    told = home.oauthctl("setup", "proxy", "--remove", environment=shell, check=False)
    assert told.stderr.endswith("run: oauthctl setup proxy --remove --yes\n"), told
    assert "proxy" in settings.read_text()


def test_setup_git_says_which_hosts_no_token_may_go_to(work, server):
    told = work.oauthctl("setup", "git", "--host", "https://nowhere.example", "--yes")
    assert "no account's token may go to https://nowhere.example" in told.stderr
    told = work.oauthctl("setup", "git", "--account", "work", "--host", "https://nowhere.example:443/team", "--yes")
    assert "the token of work may not go to https://nowhere.example" in told.stderr
    for host in (server.issuer, server.issuer + "/team"):
        assert "may" not in work.oauthctl("setup", "git", "--host", host, "--yes").stderr


def test_two_defaults_of_one_host_are_told_by_reload_status_and_doctor(home, server):
    lines = [f'issuer = "{server.issuer}"', 'client_id = "dev"', "default = true"]
    assert define(home, "alpha", *lines).status == 0
    told = define(home, "beta", *lines)
    assert told.status == 3
    doctor = home.oauthctl("doctor", check=False).stdout
    for name, other in (("alpha", "beta"), ("beta", "alpha")):
        words = f"{home.shown(account_file(home, name))}:3: default: {other} is the default for {server.issuer} as well"
        assert words in told.stderr and words in doctor
        assert f"{name}: {words}" in home.oauthctl("status").stdout
    # With paths an account is in nobody's way that has none.
    assert define(home, "beta", *lines, 'paths = ["team"]').status == 0
    assert home.oauthctl("reload").status == 0


def test_a_broken_file_is_told_in_one_sentence_with_one_step_by_every_command(work):
    work.agent.stop()
    file = account_file(work)
    file.write_text(file.read_text() + 'scopes = "x"\n')
    number = len(file.read_text().splitlines())
    sentence = f"{work.shown(file)}:{number}: scopes: there is no such key; did you mean scope?"
    work.agent.start()
    for command in (
            ["status"], ["doctor"], ["get-token", "work"], ["account", "show", "work"], ["login", "work"], ["reload"]):
        result = work.oauthctl(*command, check=False)
        said = result.stdout + result.stderr
        assert said.count(sentence) == 1 and said.count("put that right: the agent reads it again by itself") == 1, said


def test_git_is_told_in_one_line_which_file_is_broken_where_and_what_to_do(work, server):
    work.oauthctl("login", "other", server.issuer, "--client-id", "dev", "--scope", "read")
    work.agent.stop()
    file = account_file(work, "other")
    file.write_text(file.read_text() + 'scopes = "x"\n')
    number = len(file.read_text().splitlines())
    work.agent.start()
    host = server.issuer.removeprefix("http://")
    told = work.oauthctl("git-credential", "get", stdin=f"protocol=http\nhost={host}\n\n")
    [line] = told.stderr.splitlines()
    assert f"{work.shown(file)}:{number}: scopes: " in line and "did you mean scope?" in line
    assert line.count(file.name) == 1
    assert "put that right: the agent reads it again by itself; meanwhile work is taken" in line


# Said once

def test_a_misspelled_key_is_told_once(work, server):
    assert work.oauthctl("status").stdout.count("issuer") == 0
    text = account_file(work).read_text()
    told = define(work, "work", *text.replace("issuer =", "isuer =").splitlines())
    for said in (told.stderr, work.oauthctl("status").stdout, work.oauthctl("doctor", check=False).stdout):
        assert said.count("did you mean issuer") == 1 and "it is missing" not in said, said


def test_doctor_without_an_account_says_how_to_get_one_and_nothing_of_git(home):
    for _ in range(2):
        told = home.oauthctl("doctor").stdout
        assert "oauthctl login" in told and "setup git" not in told
        if not home.agent.is_running:
            home.agent.start()


# JSON

def commands_with_json(programs):
    """The words of every command that can print JSON, with what asks for it."""
    tree = json.loads(subprocess.run(
        [programs / "oauthctl", "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout)

    def walk(command, words):
        names = {name["name"] for argument in command.get("arguments", []) for name in argument.get("names") or []}
        needed = [
            {"name": "work"}.get(argument["valueName"], "work") for argument in command.get("arguments", [])
            if argument["kind"] == "positional" and not argument["isOptional"]]
        if "json" in names:
            yield words, needed, ["--json"]
        elif "format" in names:
            yield words, needed, ["--format", "json"]
        for child in command.get("subcommands", []):
            if child["commandName"] != "help":
                yield from walk(child, [*words, child["commandName"]])

    return list(walk(tree["command"], []))


def test_every_command_with_json_prints_its_failures_as_json(home):
    found = commands_with_json(home.programs)
    assert {tuple(words) for words, _, _ in found} >= {
        ("status",), ("doctor",), ("get-token",), ("account", "list"), ("account", "show"), ("account", "accept"),
        ("vault", "status"), ("vault", "lock"), ("vault", "slots"), ("vault", "check")}
    elsewhere = {"OAUTHCTL_SOCKET": str(home.root / "nobody.sock")}
    for words, needed, json_option in found:
        cases = [([*needed, "--no-such-option"], {}, 64)]
        # Where none runs these have done what they are for.
        if words not in (["doctor"], ["agent", "stop"]):
            cases.append((needed, elsewhere, 7))
        for arguments, environment, status in cases:
            failed = home.oauthctl(*words, *arguments, *json_option, environment=environment, check=False)
            plain = home.oauthctl(*words, *arguments, environment=environment, check=False)
            error = json.loads(failed.stdout)["error"]
            assert error["exit"] == failed.status == plain.status == status, (words, failed, plain)
            assert error["message"] and set(error) <= {"exit", "failure", "message", "hint", "hint_kind"}
            assert failed.stderr == plain.stderr and plain.stdout == ""


def test_control_c_at_a_question_changes_nothing_and_ends_its_line(work):
    # Whoever runs the tests may ignore the signal, and hand that on.
    command = ("env", "--default-signal=INT", work.programs / "oauthctl", "account", "forget", "work")
    code, said = run_at_terminal(work, *command, answers={"[y/N]": "\x03"})
    assert code == 130 and said.endswith("\n") and "Forgot" not in said
    assert "work" in work.oauthctl("account", "list").stdout
