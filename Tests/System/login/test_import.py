"""`oauthctl account import`: a login that another program has made, by its JSON on standard input."""

import base64
import json
import signal
import subprocess
import threading

import pytest

from login.provider import CLIENT_SECRET, Provider
from support.accounts import account_file, define, edit
from support.terminal import run_at_terminal

REFRESH, ACCESS = "imported-refresh-71c2", "imported-access-9d0e"


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider


def credential(provider, **more):
    return json.dumps({"refresh_token": REFRESH, "client_id": "theirs", "issuer": provider.issuer, **more})


def unsigned(claims):
    """A JWT whose signature is of nobody."""
    parts = (json.dumps(part).encode() for part in ({"alg": "RS256"}, claims))
    return ".".join([*(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts), "c2ln"])


def take(home, text, *arguments, check=True):
    return home.oauthctl("account", "import", "work", *arguments, stdin=text, check=check)


def test_an_imported_login_is_used_at_once_and_renewed(home, agent, provider):
    forged = {"iss": provider.issuer, "sub": "1", "aud": "theirs", "exp": 4_000_000_000, "iat": 1, "name": "Mallory"}
    told = take(home, credential(
        provider, issuer=None, issuer_url=provider.issuer, daeSetByUser=0, scope="read", id_token=unsigned(forged)))
    assert "Imported work." in told.stderr and "renewed by itself" in told.stderr
    sent = provider.form("refresh_token")
    assert sent["refresh_token"] == REFRESH and sent["client_id"] == "theirs" and "scope" not in sent
    assert home.oauthctl("get-token", "work").stdout == "access-1\n"
    # Nobody has looked at its signature, and it did not come from the token endpoint: it says nothing.
    assert "Mallory" not in home.oauthctl("account", "show", "work").stdout
    assert home.oauthctl("get-token", "work", "--type", "id", check=False).stdout == ""
    home.oauthctl("get-token", "work", "--force")
    assert provider.form("refresh_token")["refresh_token"] == "refresh-1"
    agent.restart()
    assert home.oauthctl("get-token", "work").stdout == "access-2\n"


def test_no_secret_of_an_import_is_shown_or_lies_open(home, agent, provider):
    provider.refuses = True
    text = credential(provider, client_secret=CLIENT_SECRET, access_token=ACCESS, expires_at=4e9)
    told = take(home, text, check=False)
    assert told.status == 4
    files = b"".join(path.read_bytes() for path in home.files())
    for secret in (REFRESH, CLIENT_SECRET, ACCESS):
        assert secret not in told.stdout + told.stderr and secret.encode() not in files


def test_a_wrong_refresh_token_is_told_with_what_to_do(home, agent, provider):
    provider.refuses = True
    told = take(home, credential(provider), check=False)
    assert told.status == 4 and "invalid_grant" in told.stderr and "run: oauthctl login work" in told.stderr
    undone = "work stays set up. To undo that: oauthctl account forget work"
    assert undone in told.stderr and account_file(home).exists()
    # That its login does not work is said, and that it is replaced is asked all the same: only an answer may be lost.
    asked = take(home, credential(provider), check=False)
    assert asked.status == 64 and "work has a login at 127.0.0.1" in asked.stderr, asked
    assert "does not work now" in asked.stderr
    # Of an account that was there before nothing is to be undone.
    again = take(home, credential(provider), "--replace", check=False)
    assert again.status == 4 and "invalid_grant" in again.stderr and undone not in again.stderr, again


def test_a_server_that_is_away_costs_no_imported_login(home, agent, provider):
    provider.refuses = "503 Service Unavailable"
    told = take(home, credential(provider), check=False)
    assert told.status == 6 and "is sealed" in told.stderr
    provider.refuses = False
    home.oauthctl("get-token", "work", "--timeout", "60")
    assert provider.form("refresh_token")["refresh_token"] == REFRESH


def test_a_client_secret_comes_along(home, agent, provider):
    take(home, credential(provider, client_secret=CLIENT_SECRET))
    assert provider.form("refresh_token")["client_secret"] == CLIENT_SECRET


@pytest.mark.parametrize(("lacks", "said", "step"), [
    ({"client_id": None}, "--client-id is missing", "--client-id ID"),
    ({"issuer": None}, "the server (ISSUER, or --token-endpoint) is missing", "import work ISSUER"),
    ({"issuer": None, "client_id": None}, "are missing", "ISSUER --client-id ID"),
], ids=["client", "server", "both"])
def test_what_is_missing_is_told(home, agent, provider, lacks, said, step):
    told = take(home, credential(provider, **lacks), check=False)
    assert told.status == 64 and said in told.stderr and step in told.stderr
    assert provider.seen == [] and not account_file(home).exists()
    # What was typed is in the command that helps.
    typed = [*([] if "issuer" in lacks else [provider.issuer]), "--scope", "read"]
    told = take(home, credential(provider, **lacks), *typed, check=False)
    assert f"account import work {' '.join(typed)} {step.removeprefix('import work ')}" in told.stderr, told
    flags = [provider.issuer] if "issuer" in lacks else []
    take(home, credential(provider, **lacks), *flags, *(["--client-id", "mine"] if "client_id" in lacks else []))
    assert provider.form("refresh_token")["client_id"] == ("mine" if "client_id" in lacks else "theirs")


def test_a_token_endpoint_is_enough_for_a_server_without_metadata(home, agent, provider):
    provider.hides_metadata = True
    take(home, credential(provider, issuer=None, token_uri=provider.issuer + "/token"))
    assert provider.form("refresh_token")["refresh_token"] == REFRESH
    assert f'token_endpoint = "{provider.issuer}/token"' in account_file(home).read_text()


def test_a_login_that_is_there_is_replaced_by_a_yes_alone(home, agent, provider):
    take(home, credential(provider))
    again = credential(provider, refresh_token="second")
    refused = home.run(
        "setsid", home.programs / "oauthctl", "account", "import", "work", stdin=again, check=False)
    assert refused.status == 64 and "--replace" in refused.stderr
    assert home.oauthctl("get-token", "work").stdout == "access-1\n"
    file = home.root / "second.json"
    file.write_text(again)
    command = "sh", "-c", f"'{home.programs}/oauthctl' account import work < '{file}'"
    status, shown = run_at_terminal(home, *command, answers={"[y/N]": "n\n"})
    assert status == 1 and "logged in at" in shown and len(provider.seen) == 1
    take(home, again, "--replace")
    assert provider.form("refresh_token")["refresh_token"] == "second"


@pytest.mark.parametrize("other", ["client_id", "issuer"])
def test_a_login_of_another_client_or_server_than_the_account_s_is_refused(home, agent, provider, other):
    take(home, credential(provider))
    with Provider() as elsewhere:
        foreign = {"client_id": "other"} if other == "client_id" else {"issuer": elsewhere.issuer}
        refused = take(home, credential(provider, refresh_token="foreign", **foreign), "--replace", check=False)
        assert refused.status == 3 and "another" in refused.stderr
        assert elsewhere.seen == [] and len(provider.seen) == 1


@pytest.mark.parametrize("issuer", [True, False], ids=["issuer", "no issuer"])
def test_a_refresh_token_goes_to_no_other_token_endpoint_than_its_own(home, agent, provider, issuer):
    with Provider() as elsewhere:
        define(
            home, "work", f'issuer = "{provider.issuer}"', 'client_id = "theirs"',
            f'token_endpoint = "{elsewhere.issuer}/token"')
        named = {"token_endpoint": provider.issuer + "/token"} | ({} if issuer else {"issuer": None})
        refused = take(home, credential(provider, **named), "--accept-changes", check=False)
        assert refused.status == 3 and "another token endpoint" in refused.stderr
        assert named["token_endpoint"] in refused.stderr and f"{elsewhere.issuer}/token" in refused.stderr
        assert elsewhere.seen == [] and provider.seen == []
        # Nor where the account is made by it, unless a person says so.
        account_file(home).unlink()
        home.oauthctl("reload")
        moved = credential(provider, token_endpoint=elsewhere.issuer + "/token")
        assert take(home, moved, check=False).status == 3 and not account_file(home).exists()
        assert elsewhere.seen == [] and provider.seen == []
        take(home, moved, provider.issuer)
        assert provider.form("refresh_token")["refresh_token"] == REFRESH


def test_a_file_that_changed_sends_no_imported_token_elsewhere(home, agent, provider):
    """The file now names another token endpoint than the login was bound to."""
    take(home, credential(provider))
    with Provider() as elsewhere:
        edit(home, "work", token_endpoint=f'"{elsewhere.issuer}/token"')
        again = credential(provider, refresh_token="second")
        refused = home.run(
            "setsid", home.programs / "oauthctl", "account", "import", "work", "--replace", stdin=again, check=False)
        assert refused.status == 64 and "token_endpoint" in refused.stderr and "--accept-changes" in refused.stderr
        assert elsewhere.seen == []
        take(home, again, "--replace", "--accept-changes")
        assert elsewhere.form("refresh_token")["refresh_token"] == "second"


@pytest.mark.parametrize("text", [
    "", "\x00\x01", "[" * 100_000, '{"refresh_token": 7}', json.dumps({"refresh_token": "a\nb", "client_id": "c"}),
    json.dumps({"refresh_token": "r" * 40_000, "client_id": "c"}), '{"a": "' + "x" * 300_000 + '"}',
], ids=["empty", "binary", "deep", "number", "line", "long", "huge"])
def test_what_is_no_login_is_refused_and_leaves_nothing(home, agent, provider, text):
    refused = take(home, text, provider.issuer, "--client-id", "c", check=False)
    assert refused.status in (1, 64) and "oauthctl: " in refused.stderr
    assert provider.seen == [] and not account_file(home).exists()


def test_an_interrupt_while_the_server_is_silent_leaves_no_account(home, agent, provider):
    """It comes after the account's file, and before anything is sealed: nobody else would take the file back."""
    asked, goes_on, answer = threading.Event(), threading.Event(), provider.answer

    def hold(method, url, *rest):
        if url.path.startswith("/.well-known/") and account_file(home).exists():
            asked.set()
            goes_on.wait(30)
        return answer(method, url, *rest)

    provider.answer = hold
    # Whoever runs the tests may ignore the signal, and hand that on.
    command = home.start(
        "env", "--default-signal=INT", home.programs / "oauthctl", "account", "import", "work", stdin=subprocess.PIPE)
    command.stdin.write(credential(provider))
    command.stdin.close()
    assert asked.wait(20)
    command.send_signal(signal.SIGINT)
    told = ""
    while "ends when the server has answered" not in told and (line := command.stderr.readline()):
        told += line
    goes_on.set()
    told += command.stderr.read()
    assert command.wait(30) == 130 and "is removed again" in told, told
    assert not account_file(home).exists()
    assert provider.kinds() == []
    take(home, credential(provider))


@pytest.mark.parametrize("mask", ["777", "277", "000"])
def test_what_it_makes_is_its_user_s_alone_under_any_umask(home, provider, mask):
    """A mask may take rights from the user himself: then the agent could not read the account that was made for it."""
    def under_mask(*words, stdin=None):
        return home.run(
            "sh", "-c", f'umask {mask}; exec "$0" "$@"', home.programs / "oauthctl", *words, stdin=stdin)

    under_mask("account", "import", "work", stdin=credential(provider))
    backup = home.root / "copy.db"
    under_mask("vault", "backup", backup)
    folders = home.config, home.data, home.state, home.runtime
    made = [backup, *(path for folder in folders for path in folder.rglob("*"))]
    assert account_file(home) in made and home.socket in made
    modes = {home.shown(path): oct(path.stat().st_mode & 0o777) for path in made}
    assert modes == {home.shown(path): "0o700" if path.is_dir() else "0o600" for path in made}
