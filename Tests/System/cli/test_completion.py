"""What the shells offer after a Tab: account names, grants, files."""

import pytest

from support.accounts import account_file, define
from support.home import accepts
from support.login import log_in, wait_until

ACCOUNT = ('issuer = "https://as.example"', 'client_id = "c"')


@pytest.fixture
def script(home):
    """script(shell) -> the file that the shell reads."""
    define(home, "work", *ACCOUNT)
    define(home, "other", *ACCOUNT)
    (home.root / "backup.vault").touch()

    def write(shell):
        file = home.root / f"completion.{shell}"
        file.write_text(home.oauthctl("--generate-completion-script", shell).stdout)
        return file

    return write


def offered(home, script, *words):
    """What bash offers for the last of `words`."""
    quoted = " ".join(f"'{word}'" for word in words)
    body = (
        f"source '{script('bash')}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
        "COMP_LINE=\"${COMP_WORDS[*]}\"; COMP_POINT=${#COMP_LINE}; "
        f"_oauthctl oauthctl '{words[-1]}' '{words[-2]}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    return [line.strip() for line in home.run("bash", "-c", body).stdout.splitlines()]


@pytest.mark.parametrize(("words", "expected"), [
    (("oauthctl", "get-token", ""), {"other", "work"}), (("oauthctl", "logout", "w"), {"work"}),
    (("oauthctl", "account", "show", ""), {"other", "work"}), (("oauthctl", "login", ""), {"other", "work"}),
    (("oauthctl", "login", "work", "--grant", "dev"), {"device_code"}), (("oauthctl", "-"), {"-v", "--verbose"}),
    (("oauthctl", "-v", "get-token", "w"), {"work"}),
    (("oauthctl", "vault", "check", "back"), {"backup.vault"}),
    (("oauthctl", "curl", ""), {"other", "work", "--any-host", "--scope", "--resource", "--audience"}),
    (("oauthctl", "curl", "--any-host", "--scope", "read", "w"), {"work"}),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_names_grants_and_files_are_offered(home, script, words, expected):
    assert expected <= set(offered(home, script, *words))


def test_a_login_whose_file_is_gone_is_offered_where_it_can_be_seen_and_ended(home, agent, dot, script):
    log_in(home, dot, "gone")
    account_file(home, "gone").unlink()
    home.oauthctl("reload")
    for words in (("logout", ""), ("account", "show", "g"), ("account", "forget", ""), ("doctor", "")):
        # A busy machine's agent may be too slow for a press of Tab.
        wait_until(lambda: "gone" in offered(home, script, "oauthctl", *words), 60, f"offered for {words[0]}")
    assert "gone" not in offered(home, script, "oauthctl", "get-token", "")
    agent.stop()
    assert set(offered(home, script, "oauthctl", "logout", "")) == {"other", "work"}
    assert not accepts(home.socket), "a press of Tab starts no agent"


def test_what_follows_the_account_is_curl_s(home, script):
    assert offered(home, script, "oauthctl", "curl", "work", "") == [""]
    assert offered(home, script, "oauthctl", "curl", "--scope", "") == [""], "a scope is no account"


@pytest.mark.parametrize(("shell", "files"), [("zsh", "_files"), ("fish", "-F")])
def test_the_script_of_a_shell_that_completes_at_a_terminal_alone_asks_for_the_same(home, script, shell, files):
    text = script(shell).read_text()
    assert "---completion get-token" in text and "---completion curl" in text and files in text


def test_fish_describes_each_grant_without_the_list_of_all(home, script):
    """fish shows the description of an option beside each word that it takes."""
    text = script("fish").read_text()
    [line] = [line for line in text.splitlines() if "-l 'grant' " in line and "jwt_bearer" in line]
    described = line.split(" -d '", 1)[1].split("'", 1)[0]
    assert described == "How tokens are got (default: authorization_code).", line
    assert "authorization_code, device_code" in home.oauthctl("login", "--help").stdout
