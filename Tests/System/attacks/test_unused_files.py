"""The file of an account that nobody has logged in by, made or changed by somebody else. Each test is the attack."""

import json
import os
import threading

import pytest

from login.provider import Provider, use_silent_browser
from network.identities import Authority
from support.accounts import account_file, define
from support.terminal import run_at_terminal
from support.wire import WireError

# Tries of a race that is lost most of the time where nothing keeps it.
TRIES = 6


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


@pytest.fixture
def servers():
    with Provider() as good, Provider() as evil:
        yield good, evil


def without_terminal(home, *arguments, **how):
    return home.run("setsid", home.programs / "oauthctl", *arguments, check=False, **how)


def plant(home, good, *lines):
    """A file with the right issuer and client, and these lines."""
    define(home, "work", f'issuer = "{good.issuer}"', 'client_id = "mine"', *lines)


@pytest.mark.parametrize("line", ['token_endpoint = "{0}/token"', 'hosts = ["{1}", "{0}"]'])
def test_a_file_that_is_there_is_shown_before_an_import_goes_by_it(home, agent, servers, line):
    good, evil = servers
    plant(home, good, line.format(evil.issuer, good.issuer))
    login = json.dumps({"client_id": "mine", "issuer": good.issuer, "refresh_token": "first"})
    refused = without_terminal(home, "account", "import", "work", stdin=login)
    assert refused.status == 64 and evil.issuer in refused.stderr and "--accept-changes" in refused.stderr, refused
    assert evil.seen == [] and good.seen == []
    home.oauthctl("account", "import", "work", "--accept-changes", stdin=login)


@pytest.mark.parametrize("line", ['token_endpoint = "{0}/token"', 'hosts = ["{1}", "{0}"]'])
def test_a_file_that_is_there_is_shown_before_a_login_by_url_goes_by_it(home, agent, servers, line):
    good, evil = servers
    plant(home, good, line.format(evil.issuer, good.issuer))
    refused = without_terminal(home, "login", "work", good.issuer)
    assert refused.status == 64 and evil.issuer in refused.stderr, refused
    assert "run: oauthctl login work" in refused.stderr
    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work", good.issuer, answers={"[y/N]": "n\n"})
    assert status != 0 and evil.issuer in shown
    assert evil.seen == [] and good.seen == []
    # Who says yes logs in, and is not asked again.
    if "hosts" in line:
        status, _ = run_at_terminal(
            home, home.programs / "oauthctl", "login", "work", good.issuer, answers={"[y/N]": "y\n"})
        assert status == 0
        assert without_terminal(home, "login", "work", good.issuer).status == 0


def test_a_file_that_is_written_to_be_read_otherwise_by_people_is_named_as_it_counts(home, agent, servers):
    """Rows that look like settings and are a comment, and keys that only a computer reads."""
    good, evil = servers
    key = "".join(f"\\u{ord(letter):04x}" for letter in "token_endpoint")
    url = "".join(f"\\u{ord(letter):04x}" for letter in f"{evil.issuer}/token")
    plant(home, good, f'# \u2028token_endpoint = "{good.issuer}/token"\u2028', f'"{key}" = "{url}"')
    login = json.dumps({"client_id": "mine", "issuer": good.issuer, "refresh_token": "first"})
    for command, stdin in ((("account", "import", "work"), login), (("login", "work", good.issuer), None)):
        refused = without_terminal(home, *command, stdin=stdin)
        assert refused.status == 64 and evil.issuer in refused.stderr, refused
        assert not [line for line in refused.stderr.splitlines() if line.strip().startswith("token_endpoint")]
    assert evil.seen == [] and good.seen == []


def test_whom_the_servers_of_a_first_login_are_believed_by_is_shown_and_is_what_counts(home, agent, servers):
    """`config.toml` names an authority, which the account's file says nothing of; then its content is another's."""
    good, evil = servers
    plant(home, good)
    for name in ("one", "two"):
        (home.root / f"{name}.pem").write_text(Authority(home.root / name).file.read_text())
    settings = home.config / "oauthctl" / "config.toml"
    named = home.root / "named.pem"

    def name_it(which):
        named.write_text((home.root / f"{which}.pem").read_text())
        settings.write_text(f'ca_file = "{named}"\n')
        settings.chmod(0o600)
        home.oauthctl("reload")

    name_it("one")
    login = json.dumps({"client_id": "mine", "issuer": good.issuer, "refresh_token": "first"})
    refused = without_terminal(home, "account", "import", "work", stdin=login)
    assert refused.status == 64 and "believed by the certificates of ~/named.pem" in refused.stderr, refused
    # The servers are plain ones here, so nothing depends on it.
    assert "believed by the certificates of ~/named.pem" in without_terminal(home, "login", "work").stderr
    assert "believed by" not in without_terminal(home, "login", "work").stderr, "it is bound now"
    home.oauthctl("account", "forget", "work", "--yes")
    plant(home, good)
    home.oauthctl("reload")
    good.seen.clear()

    def change():
        name_it("two")
        return "y\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work", good.issuer, answers={"[y/N]": change})
    assert status == 3 and "has changed since it was shown" in shown, shown
    assert evil.seen == [] and good.seen == []


def test_a_file_that_is_there_is_shown_before_a_login_by_preset_goes_by_it(home, agent, servers):
    good, evil = servers
    presets = account_file(home).parent.parent / "providers.d"
    presets.mkdir(mode=0o700, parents=True)
    (presets / "work.toml").write_text(f'title = "Work"\n[account]\nissuer = "{good.issuer}"\nclient_id = "mine"\n')
    plant(home, good, f'token_endpoint = "{evil.issuer}/token"')
    refused = without_terminal(home, "login", "work", "--provider", "work")
    assert refused.status == 64 and evil.issuer in refused.stderr, refused
    assert evil.seen == [] and good.seen == []


def test_what_is_put_there_under_the_question_is_not_gone_by(home, agent, servers):
    good, evil = servers
    plant(home, good)

    def change():
        plant(home, good, f'token_endpoint = "{evil.issuer}/token"')
        return "y\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "login", "work", good.issuer, answers={"[y/N]": change})
    assert status == 3 and "has changed since it was shown" in shown, shown
    assert evil.seen == []


def test_a_login_goes_by_what_its_command_has_written(home, agent, servers):
    """Somebody adds a line as soon as the file is there."""
    good, evil = servers
    file = account_file(home)

    def add_a_line(over):
        while not over.is_set():
            try:
                text = file.read_text()
            except OSError:
                continue
            if text.endswith("\n"):
                draft = file.with_suffix(".draft")
                draft.write_text(f'token_endpoint = "{evil.issuer}/token"\n' + text)
                draft.chmod(0o600)
                draft.rename(file)
                return

    for _ in range(TRIES):
        over = threading.Event()
        thread = threading.Thread(target=add_a_line, args=[over])
        thread.start()
        told = home.oauthctl("login", "work", good.issuer, "--client-id", "mine", check=False)
        over.set()
        thread.join()
        assert evil.seen == []
        assert told.status == 0 or "has changed since it was shown" in told.stderr, told
        home.oauthctl("account", "forget", "work", "--yes", check=False)
        file.unlink(missing_ok=True)
        home.oauthctl("reload")


def make_folder(file):
    file.unlink()
    file.mkdir()


def make_fifo(file):
    file.unlink()
    os.mkfifo(file)


def make_large(file):
    file.write_text("# " + "x" * (2 << 20))


HIDINGS = [make_folder, make_fifo, make_large]


@pytest.fixture(params=HIDINGS, ids=lambda hide: hide.__name__)
def hidden(home, agent, servers, request):
    """The agent has read a planted file, which cannot be shown any more. Returns the call that puts it back."""
    good, evil = servers
    home.oauthctl("vault", "create")
    planted = f'token_endpoint = "{evil.issuer}/token"'
    plant(home, good, planted)
    home.oauthctl("reload")
    file = account_file(home)
    request.param(file)

    def put_back():
        file.rmdir() if file.is_dir() else file.unlink()
        plant(home, good, planted)
        home.oauthctl("reload")

    return put_back


def test_a_file_that_cannot_be_shown_any_more_is_not_gone_by(home, hidden, servers):
    good, evil = servers
    login = json.dumps({"client_id": "mine", "issuer": good.issuer, "refresh_token": "first"})
    for command, stdin in (
        (("account", "import", "work"), login), (("account", "import", "work", "--accept-changes"), login),
        (("login", "work", good.issuer), None),
    ):
        refused = without_terminal(home, *command, stdin=stdin)
        assert refused.status == 3 and "work" in refused.stderr, refused
    assert evil.seen == [] and good.seen == []


def test_no_secret_is_taken_for_a_file_that_cannot_be_shown(home, agent, hidden, servers):
    good, evil = servers
    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "secret", "set", "work", "client_secret", answers={})
    assert status == 3 and "client secret of work:" not in shown, shown
    piped = without_terminal(home, "secret", "set", "work", "client_secret", stdin="typed\n")
    assert piped.status == 3, piped
    with agent.connect() as wire:
        for call in (
            lambda: wire.call("secret.set", account="work", kind="client_secret", value="typed"),
            lambda: wire.call("login.start", account="work", request_id="1"),
        ):
            with pytest.raises(WireError) as refused:
                call()
            assert refused.value.failure == "config_invalid"
    hidden()
    assert without_terminal(home, "secret", "set", "work", "client_secret", stdin="for-whom-it-is\n").status == 0
    assert evil.seen == [] and good.seen == []


def test_no_key_is_made_for_a_file_that_cannot_be_shown(home, agent, servers):
    good, evil = servers
    home.oauthctl("vault", "create")
    plant(home, good, f'token_endpoint = "{evil.issuer}/token"', 'client_authentication = "private_key_jwt"')
    home.oauthctl("reload")
    make_folder(account_file(home))
    made = without_terminal(home, "key", "create", "work")
    assert made.status == 3 and made.stdout == "", made


def test_a_change_that_cannot_be_read_any_more_is_not_accepted(home, agent, servers):
    """What was shown stands in no file: whoever looks at it before the yes sees nothing."""
    good, evil = servers
    plant(home, good)
    home.oauthctl("login", "work")
    plant(home, good, f'token_endpoint = "{evil.issuer}/token"')
    home.oauthctl("reload")
    make_folder(account_file(home))
    refused = without_terminal(home, "account", "accept", "work", "--yes")
    assert refused.status == 3 and "regular file" in refused.stderr, refused
    home.oauthctl("get-token", "work", "--force", check=False)
    assert evil.seen == []


def test_a_file_of_another_folder_than_this_shell_s_is_not_gone_by(home, agent, servers):
    good, evil = servers
    plant(home, good, f'token_endpoint = "{evil.issuer}/token"')
    home.oauthctl("reload")
    other = home.root / "other"
    other.mkdir(mode=0o700)
    refused = without_terminal(home, "login", "work", good.issuer, environment={"XDG_CONFIG_HOME": str(other)})
    assert refused.status == 3 and "the agent reads" in refused.stderr, refused
    assert evil.seen == [] and good.seen == []
