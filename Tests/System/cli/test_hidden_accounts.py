"""What stands in no file, or cannot be read, is told by every command, and no step leads in a circle."""

import pytest

from cli.logged_in import server, work
from support.accounts import account_file
from support.vault import key_file


def said(home, *words):
    result = home.oauthctl(*words, check=False)
    return result.stdout + result.stderr


def ask_git(home, server, username=None):
    host = server.issuer.split("//")[1]
    named = f"username={username}\n" if username else ""
    return home.oauthctl(
        "git-credential", "get", stdin=f"protocol=http\nhost={host}\n{named}\n", check=False).stderr


def test_a_locked_vault_may_hold_logins_without_a_file(work):
    work.oauthctl("vault", "lock")
    account_file(work).unlink()
    for words in (
            ["status"], ["account", "list"], ["doctor"], ["doctor", "work"], ["setup", "git", "--yes"], ["login"]):
        told = said(work, *words)
        assert "the vault is locked" in told and "oauthctl vault unlock" in told, (words, told)
        assert "no account yet" not in told and "no such account" not in told and "login NAME" not in told, told
    work.oauthctl("vault", "unlock")
    assert "its file is gone" in said(work, "status")


@pytest.mark.parametrize("how", ["damaged", "gone"])
def test_doctor_of_an_account_with_a_good_file_knows_it_whatever_the_vault_is(work, how):
    if how == "damaged":
        key_file(work).write_text("junk")
    else:
        (work.data / "oauthctl" / "vault.db").unlink()
    work.agent.stop()
    work.agent.start()
    told = work.oauthctl("doctor", "work", check=False)
    assert told.status == 1 and "no such account" not in told.stdout + told.stderr, told
    assert "wrong  vault" in told.stdout, told


def test_of_a_login_that_is_needed_the_broken_file_comes_first(work, server):
    work.oauthctl("logout", "work")
    good = account_file(work).read_text()
    account_file(work).write_text(good + "nonsense")
    work.oauthctl("reload", check=False)
    for told in (said(work, "get-token", "work"), ask_git(work, server), said(work, "curl", server.issuer)):
        assert "work.toml:" in told and "then: oauthctl login work" in told, told
    account_file(work).write_text(good)
    work.oauthctl("reload")
    assert "run: oauthctl login work" in said(work, "get-token", "work")


def test_a_login_whose_file_is_gone_is_told_where_the_other_account_needs_a_login(work, server):
    good = account_file(work).read_text()
    account_file(work).with_name("x.toml").write_text(good)
    account_file(work).unlink()
    work.oauthctl("reload")
    for told in (ask_git(work, server), said(work, "curl", server.issuer), said(work, "get-token")):
        assert "work: its file is gone" in told and "work.toml" in told, told
    assert "oauthctl login x" in said(work, "get-token", "x")


def test_of_several_hidden_logins_the_one_that_was_named_is_told(work, server):
    work.oauthctl("login", "api", server.issuer, "--client-id", "dev", "--scope", "read")
    files = [account_file(work), account_file(work).with_name("api.toml")]
    folder = account_file(work).parent
    for hide in (lambda: folder.chmod(0o777), lambda: [file.unlink() for file in files]):
        work.agent.stop()
        hide()
        work.agent.start()
        for name in ("api", "work"):
            assert f"oauthctl: {name}: " in ask_git(work, server, name), name
        folder.chmod(0o700)


def test_a_login_that_fails_leaves_no_file_where_the_one_of_an_earlier_login_is_gone(work, server):
    account_file(work).unlink()
    work.oauthctl("reload")
    failed = work.oauthctl(
        "login", "work", server.issuer, "--client-id", "dev", "--no-browser", "--timeout", "1", check=False)
    assert failed.status == 4 and "is removed again" in failed.stderr, failed
    assert not account_file(work).exists()
    assert "its file is gone" in said(work, "status")


def test_a_restarted_agent_tells_a_step_once(work):
    """The vault is in the usual folder, and the new agent was started with another."""
    work.agent.stop()
    usual = work.root / ".local/share/oauthctl"
    usual.parent.mkdir(parents=True, exist_ok=True)
    (work.data / "oauthctl").rename(usual)
    work.oauthctl("status", environment={"XDG_DATA_HOME": ""})
    told = work.oauthctl("agent", "restart", check=False)
    try:
        assert told.stderr.count("unset XDG_DATA_HOME && oauthctl agent restart") == 1, told
    finally:
        work.oauthctl("agent", "stop")


def test_a_login_whose_agent_has_ended_starts_none_and_names_its_command(work, server):
    login = work.start(
        work.programs / "oauthctl", "login", "work", "--no-browser", stdin=-1, environment={"BROWSER": ""})
    for line in login.stderr:
        if "paste" in line:
            break
    work.agent.stop()
    try:
        _, told = login.communicate(timeout=60)
    finally:
        login.kill()
    assert login.returncode == 7 and "run: oauthctl login work" in told, told
    assert work.oauthctl("agent", "status", check=False).status == 7, "none was started"
