"""What a person does wrong in the first hour is told with its cause, and with a step that works."""

import json
import shlex

import pytest

from cli.logged_in import server, work
from login.provider import Provider, use_silent_browser
from support.accounts import account_file, define
from support.others import home_of_nobody
from support.terminal import run_at_terminal


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


def command(result):
    return shlex.split(result.stderr.rsplit("  run: ", 1)[1].splitlines()[0], comments=True)


# Logging in

def test_a_second_server_on_a_host_is_offered_an_account_beside_the_first(home, agent, provider):
    use_silent_browser(home)
    home.oauthctl("login", provider.url)
    first = account_file(home, "127.0.0.1").read_text()
    refused = home.oauthctl("login", provider.issuer, check=False)
    assert refused.status == 64 and "--replace" in refused.stderr, refused
    assert command(refused)[:3] == ["oauthctl", "login", "127.0.0.1-2"], refused
    home.oauthctl(*command(refused)[1:])
    assert account_file(home, "127.0.0.1").read_text() == first
    home.oauthctl("get-token", "127.0.0.1", "--force")
    home.oauthctl("get-token", "127.0.0.1-2", "--force")


def test_an_option_for_a_new_account_names_the_file_of_one_that_exists(work):
    refused = work.oauthctl("login", "work", "--scope", "write", check=False)
    assert refused.status == 64 and "work exists; --scope is for a new account" in refused.stderr
    assert "run: oauthctl login work --add-scope write   # " in refused.stderr and "ISSUER" not in refused.stderr
    assert 'write  scope = ["write"]  into ~/' in refused.stderr, refused
    refused = work.oauthctl("login", "work", "--dpop", check=False)
    assert "write  dpop = true  into ~/" in refused.stderr, refused
    refused = work.oauthctl("login", "other", "--scope", "write", check=False)
    assert "run: oauthctl login other ISSUER --client-id ID" in refused.stderr


def test_a_final_slash_of_the_issuer_is_told_as_the_server_spells_it(home, agent, provider):
    refused = home.oauthctl("login", "work", provider.issuer + "/", "--client-id", "mine", check=False)
    assert refused.status == 3 and f"  write the issuer as {provider.issuer}\n" in refused.stderr, refused


def test_a_url_without_its_scheme_is_told_with_the_one_that_an_account_is_for(work, server):
    bare = server.issuer.removeprefix("http://")
    for words in (["curl", bare + "/x"], ["curl", "work", bare], ["get-token", "--url", f"https://{bare}"]):
        refused = work.oauthctl(*words, check=False)
        assert refused.status != 0 and f"begin the URL with http://{bare}, which work is for" in refused.stderr, refused


@pytest.mark.parametrize("options", [[], ["--client-id", "dev"]])
def test_an_address_in_the_place_of_the_name_is_told_with_a_command_that_works(work, server, options):
    bare = server.issuer.removeprefix("http://")
    refused = work.oauthctl("login", bare, *options, check=False)
    assert refused.status == 64, refused
    assert command(refused) == ["oauthctl", "login", "work2", server.issuer, *options], refused
    # The rest of such a line is added by whoever reads it.
    work.oauthctl(*command(refused)[1:], *([] if options else ["--client-id", "dev"]))


def test_a_secret_is_asked_for_by_nobody_who_has_no_account_for_it(work):
    status, shown = run_at_terminal(
        work, work.programs / "oauthctl", "secret", "set", "wrok", "client_secret", answers={})
    assert status == 3 and "did you mean work?" in shown and "client secret of" not in shown, shown


def test_a_place_that_belongs_to_the_system_is_made_nobody_s(scratch, programs, server):
    """`sudo chown` of it would give the system away."""
    with home_of_nobody(scratch, programs) as home:
        home.environment["XDG_CONFIG_HOME"] = "/etc/oauthctl-test"
        process = home.begin(
            programs / "oauthctl", "login", "work", server.issuer, "--client-id", "dev", "--no-browser")
        told = "".join(process.communicate(timeout=60))
    assert process.returncode == 3 and "cannot create /etc/oauthctl-test" in told, told
    assert "chown" not in told and "name a place in a folder of your own" in told, told


def test_two_swapped_letters_are_one_mistake(work):
    refused = work.oauthctl("login", "wrok", check=False)
    assert refused.status == 3 and "run: oauthctl login work   # " in refused.stderr, refused


def test_the_name_of_an_account_that_is_there_leads_to_its_login_first(work, server):
    for arguments in (["--provider", "gitlab"], [server.issuer, "--client-id", "dev", "--scope", "write"]):
        refused = work.oauthctl("login", "work", *arguments, check=False)
        hint = refused.stderr.splitlines()[-1]
        assert refused.status in (3, 64) and "oauthctl login work" in hint, refused
        assert hint.index("oauthctl login work") < hint.index("--replace"), refused


def test_no_vault_is_made_for_a_login_that_nobody_can_be_asked_for(home, agent, server):
    for options in (
            ["--client-id", "dev-web", "--client-authentication", "client_secret_basic"],
            ["--client-id", "dev-legacy", "--grant", "password", "--username", "alice"]):
        refused = home.oauthctl("login", "web", server.issuer, *options, check=False)
        assert refused.status == 64 and "-stdin, and the " in refused.stderr, refused
        assert "recovery code" not in refused.stderr, refused
    assert json.loads(home.oauthctl("vault", "status", "--json").stdout)["state"] == "absent"


def test_a_client_that_is_refused_is_told_what_may_be_wrong_with_it(home, agent, server):
    cause = "the client id or secret is wrong, or the server takes the secret in another way"
    with_secret = ["--client-id", "dev-web", "--client-secret-stdin", "--client-authentication"]
    refused = home.oauthctl(
        "login", "web", server.issuer, *with_secret, "client_secret_basic", stdin="wrong\n", check=False)
    assert refused.status == 9 and cause in refused.stderr, refused
    assert "--client-authentication client_secret_post" in refused.stderr, refused
    home.oauthctl("login", "work", server.issuer, "--client-id", "dev", "--scope", "read")
    server.script(answers=[{
        "endpoint": "token", "action": "answer", "status": 401, "headers": {"Content-Type": "application/json"},
        "body": json.dumps({"error": "invalid_client"})}])
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert refused.status == 9 and cause in refused.stderr, refused
    assert "oauthctl secret set work client_secret" in refused.stderr, refused
    assert "secret set work client_secret && oauthctl login work" in refused.stderr, refused


def test_a_refresh_token_takes_the_place_of_a_login_on_demand_alone(home, agent, server):
    """One may come while somebody types it."""
    for is_logged_in in (False, True):
        if is_logged_in:
            home.oauthctl("login", "work")
        else:
            define(home, "work", f'issuer = "{server.issuer}"', 'client_id = "dev"', 'scope = ["read"]')
        refused = home.oauthctl("secret", "set", "work", "refresh_token", stdin="another\n", check=False)
        assert refused.status == 64 and "account import work" in refused.stderr, refused
        assert "refresh_token --replace" in refused.stderr
    assert home.oauthctl("get-token", "work", "--force").status == 0


def test_a_server_that_does_not_answer_is_told_in_one_way(home, agent):
    away = "http://127.0.0.1:9"
    words = "check its address, and whether the server runs; then try again"
    for arguments in (["one", away, "--client-id", "c"], ["two", away]):
        assert words in home.oauthctl("login", *arguments, check=False).stderr
    define(home, "three", f'issuer = "{away}"', 'client_id = "c"')
    assert words in home.oauthctl("login", "three", check=False).stderr


def test_nothing_typed_for_a_secret_is_told_as_that(home, agent, server):
    status, said = run_at_terminal(
        home, home.programs / "oauthctl", "login", "web", server.issuer, "--client-id", "dev-web",
        "--client-authentication", "client_secret_basic", answers={"Client secret of web": "\n"})
    assert status == 64 and "nothing was typed" in said and "32768" not in said, said


@pytest.mark.parametrize(("command", "question"), [
    (("secret", "set", "web", "client_secret"), "client secret of web, for "),
    (("login", "web", "--client-secret-stdin"), "Client secret of web, for "),
    (("login", "old", "--password-stdin"), "Password for old, for "),
    (("get-token", "web", "--rejected-stdin"), "Token that was rejected: ")])
def test_a_secret_for_standard_input_is_asked_for_at_a_terminal_and_not_shown(home, agent, server, command, question):
    define(
        home, "web", f'issuer = "{server.issuer}"', 'client_id = "dev-machine"', 'grant = "client_credentials"')
    define(
        home, "old", f'issuer = "{server.issuer}"', 'client_id = "dev-legacy"', 'grant = "password"',
        'username = "alice"')
    _, said = run_at_terminal(
        home, home.programs / "oauthctl", *command, answers={question: "s3cret-of-mine\n"})
    assert question in said and "s3cret-of-mine" not in said, said


def test_what_is_no_login_of_a_person_is_refused_with_what_helps(home, agent):
    for text, words in [
            ('{"type":"service_account"}', "--grant jwt_bearer, then: oauthctl key import"),
            ('{"installed":{"client_id":"c"}}', "that is a client"),
            ('{"refresh_token":123}', "its refresh_token is empty or no text"), ("{}", "give one with refresh_token")]:
        refused = home.oauthctl("account", "import", "work", stdin=text, check=False)
        assert refused.status == 64 and words in refused.stderr, refused
    refused = home.oauthctl("secret", "set", "client_secret", "work", check=False)
    assert refused.status == 64 and "behind the account's name" in refused.stderr, refused


def test_without_a_terminal_the_question_is_not_told_as_a_fault(work):
    refused = work.oauthctl("setup", "git", check=False)
    assert refused.status == 64 and "this asks before it changes anything, and there is no terminal\n" in refused.stderr
    assert "?:" not in refused.stderr and "--yes" in refused.stderr


# Asking for tokens

def test_the_host_of_an_api_leads_to_the_accounts_that_are_there(work):
    refused = work.oauthctl("get-token", "--url", "https://api.other.example/x", check=False)
    assert refused.status == 3 and "`hosts` in the file of one of: work" in refused.stderr
    assert command(refused) == ["oauthctl", "login", "https://api.other.example"]


def test_another_host_is_added_only_where_the_token_is_meant_for_it(work):
    refused = work.oauthctl("get-token", "work", "--url", "https://api.other.example/x", check=False)
    assert refused.status == 8 and "only if work's tokens are meant for that host: have  hosts = " in refused.stderr


# Files

def test_a_key_that_nobody_knows_does_not_list_all_that_there_are(work):
    account_file(work).write_text(account_file(work).read_text() + 'colour = "x"\n')
    said = work.oauthctl("reload", check=False).stderr
    assert "there is no such key (docs/configuration.md lists them)" in said and "allowed_scope" not in said


def test_of_two_defaults_neither_is_said_to_be_unusable(work):
    text = account_file(work).read_text() + "default = true\n"
    for name in ("work", "other"):
        account_file(work, name).write_text(text)
    said = work.oauthctl("agent", "restart").stderr
    assert "2 configuration files have problems" in said and "cannot use" not in said, said
    work.oauthctl("get-token", "work", "--force")


# Looking

def test_stop_names_the_socket_that_the_environment_names(work, tmp_path):
    tmp_path.chmod(0o700)
    nobody = {"OAUTHCTL_SOCKET": str(tmp_path / "a.sock")}
    said = work.oauthctl("agent", "stop", environment=nobody).stderr
    assert f"No agent listens at {tmp_path}/a.sock, which OAUTHCTL_SOCKET names." in said


def test_doctor_says_that_a_locked_vault_kept_it_from_the_accounts(work):
    work.oauthctl("vault", "lock")
    assert work.oauthctl("doctor").lines[-1] == "Nothing is wrong, but the vault is locked: accounts were not checked."
    work.oauthctl("vault", "unlock")
    assert "not checked" not in work.oauthctl("doctor").stdout


def test_doctor_blames_no_scope_for_a_login_that_had_a_refresh_token(work, server):
    server.script(revoke_grants=True)
    assert work.oauthctl("get-token", "work", "--force", check=False).status == 4
    said = work.oauthctl("doctor", check=False).stdout
    assert "wrong  work" in said and "offline_access" not in said, said


def test_status_and_provider_list_show_no_empty_columns_and_pages(home, agent):
    assert home.oauthctl("status").lines[:2] == [
        "no account yet", "  run: oauthctl login NAME ISSUER --client-id ID   "
        "# or, where the server registers clients: oauthctl login URL"]
    lines = home.oauthctl("provider", "list").lines
    assert "FILE" not in lines[0] and lines[0].split() == ["PROVIDER", "TITLE"]


def test_a_misspelled_command_is_proposed_as_it_was_meant(home):
    refused = home.oauthctl("loginn", "work", check=False)
    assert refused.status == 64 and command(refused) == ["oauthctl", "login", "work"]


def test_words_that_are_not_understood_are_told_as_everything_is(home):
    assert "oauthctl: unknown option '--jsn'" in home.oauthctl("status", "--jsn", check=False).stderr
    assert "oauthctl: missing expected argument" in home.oauthctl("logout", check=False).stderr
    words = "oauthctl: the kind of the secret is missing: client_secret, password or refresh_token\n"
    for name in ("set", "forget"):
        assert words in home.oauthctl("secret", name, "work", check=False).stderr


@pytest.mark.parametrize("words", [["login"], ["account", "import"], ["curl"], ["get-token"]])
def test_help_breaks_no_example_and_leaves_nothing_empty(home, words):
    lines = home.oauthctl(*words, "--help").lines
    examples = [number for number, line in enumerate(lines) if line.startswith("Example:")]
    after = lines[examples[-1] + 1:]
    for line in after[:after.index("") if "" in after else None]:
        assert line.startswith("  ") or line.startswith("Later:"), lines
    assert "  <arguments>" not in lines and "header or headers" not in " ".join(lines)


def test_presets_say_what_their_redirect_address_may_be(home, agent):
    for provider in ("github", "spotify", "codeberg"):
        shown = home.oauthctl("provider", "show", provider).stdout
        assert "is taken" not in shown and "may have any port" in shown
