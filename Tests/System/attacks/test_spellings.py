"""Texts that differ by spelling alone: Swift takes some of them for equal, files, servers and git do not.

Each test is the attack: it was seen to succeed before the program was mended."""

import pytest

from attacks.test_git_proxy import plain  # noqa: F401
from attacks.test_late import Server, write
from login.provider import Provider, use_silent_browser
from support.accounts import account_file
from support.terminal import run_at_terminal
from world.accounts import PASSWORD

# The same letters for a person: one character for the last of them, and two.
COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


@pytest.fixture
def server():
    with Server("first") as server:
        server.goes_on.set()
        yield server


def test_of_two_audiences_that_are_spelled_differently_each_has_its_own_token(home, agent, server):
    write(home, server, audience=[COMPOSED, DECOMPOSED])
    home.oauthctl("login", "work", "--password-stdin", "--keep-password", stdin=PASSWORD + "\n")
    tokens = [home.oauthctl("get-token", "work", "--audience", name).stdout for name in (COMPOSED, DECOMPOSED)]
    assert tokens[0] != tokens[1]
    assert [form["audience"] for form in server.seen[-2:]] == [COMPOSED, DECOMPOSED]


def test_an_audience_that_was_accepted_in_another_spelling_gets_no_token_of_the_one_before(home, agent, server):
    write(home, server, audience=[COMPOSED, "x"])
    home.oauthctl("login", "work", "--password-stdin", "--keep-password", stdin=PASSWORD + "\n")
    before = home.oauthctl("get-token", "work", "--audience", COMPOSED).stdout
    write(home, server, audience=[DECOMPOSED, "x"])
    home.oauthctl("account", "accept", "work", "--yes")
    assert home.oauthctl("get-token", "work", "--audience", DECOMPOSED).stdout != before


@pytest.mark.parametrize("names", [
    ("redirect.uri", "code.challenge"), ("Redirect_URI", "Code-Challenge"), ("redirect_uri[]", "code_challenge[x]"),
    ("redirect_uri.", "_code_challenge"), ("redirect[uri", "[code_challenge]"),
], ids=" ".join)
def test_no_parameter_of_the_file_is_read_as_one_of_the_protocol(home, agent, names):
    """PHP, for one, takes other signs in names for `_`, and the last of several values; Rack looks through brackets."""
    with Provider() as provider:
        use_silent_browser(home)
        login = ["login", "tool", provider.issuer, "--client-id", "mine", "--client-authentication", "none"]
        home.oauthctl(*login)
        before_the_change = provider.kinds()
        file = account_file(home, "tool")
        before = file.read_text()
        for name in names:
            file.write_text(f'{before}\n[authorize_parameters]\n"{name}" = "http://127.0.0.1:4444/steal"\n')
            home.oauthctl("reload", check=False)
            refused = home.oauthctl("login", "tool", check=False)
            assert refused.status == 3 and "authorize_parameters" in refused.stderr, refused
        assert provider.kinds() == before_the_change


# git

def test_git_s_settings_that_are_no_text_are_not_written_anew(home, plain):  # noqa: F811
    config = home.root / ".gitconfig"
    home.oauthctl("setup", "git", "--remove", "--yes")
    config.write_bytes(f'[credential "{plain}"]\n\thelper = \n\thelper = /caf'.encode() + b"\xe9/h\n")
    home.oauthctl("setup", "git", "--yes")
    before = config.read_bytes()
    refused = home.oauthctl("setup", "git", "--remove", "--yes", check=False)
    assert refused.status == 3 and "no UTF-8" in refused.stderr and config.read_bytes() == before, refused


def test_a_setting_of_git_that_is_spelled_anew_under_the_question_is_kept(home, plain):  # noqa: F811
    config = home.root / ".gitconfig"
    home.oauthctl("setup", "git", "--remove", "--yes")
    config.write_text(f'[credential "{plain}"]\n\thelper = \n\thelper = /{COMPOSED}/h\n')
    home.oauthctl("setup", "git", "--yes")

    def spell_anew():
        config.write_text(config.read_text().replace(COMPOSED, DECOMPOSED))
        return "y\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "setup", "git", "--remove", answers={"[y/N]": spell_anew})
    assert status == 3 and f"/{DECOMPOSED}/h" in config.read_text(), shown


# Links that are turned while a question stands

@pytest.mark.parametrize("words", [("git",), ("proxy",)], ids=" ".join)
def test_a_link_that_is_turned_to_a_name_of_another_spelling_changes_nothing(home, plain, words):  # noqa: F811
    home.oauthctl("setup", "git", "--remove", "--yes")
    link = home.root / ".gitconfig" if words == ("git",) else home.config / "oauthctl" / "config.toml"
    for name in (COMPOSED, DECOMPOSED):
        (home.root / name).write_text("# mine\n")
        (home.root / name).chmod(0o600)
    link.unlink(missing_ok=True)
    link.symlink_to(home.root / COMPOSED)

    def turn():
        link.unlink()
        link.symlink_to(home.root / DECOMPOSED)
        return "y\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "setup", *words, answers={"[y/N]": turn},
        environment={"https_proxy": "http://127.0.0.1:9"})
    assert status == 3 and "changed meanwhile" in shown.replace("\r\n    ", " "), shown
    assert [(home.root / name).read_text() for name in (COMPOSED, DECOMPOSED)] == ["# mine\n"] * 2
