"""What is missing is told, and nothing is made in its place: the vault's file, and the file of an account."""

import json
import re

import pytest

from support.terminal import run_at_terminal
from support.unattended import log_in, refresh
from support.vault import counter_file, key_file, seal, status, vault_file
from vault.steps import sql, without_agent

PASSPHRASE = "correct horse battery"
ANEW = "oauthctl vault create --anew"


def get_token(home):
    return home.oauthctl("get-token", "work", check=False)


def doctor(home):
    report = json.loads(home.oauthctl("doctor", "--json", check=False).stdout)
    return [finding for finding in report["findings"] if finding["level"] == "wrong"]


# The vault

def test_a_sealed_vault_that_is_moved_away_is_not_replaced_by_one_with_a_key_file(work, server):
    """Nothing is sent either: what came for it could not be kept."""
    seal(work, PASSPHRASE)
    sent = len(server.refreshes())
    (work.data / "oauthctl").rename(work.data / "away")
    for _ in range(2):
        result = refresh(work)
        assert result.status in (5, 6) and result.stdout == ""
        assert f"{work.shown(vault_file(work))} is gone" in result.stderr and ANEW in result.stderr
    assert len(server.refreshes()) == sent
    assert not vault_file(work).exists() and not key_file(work).exists()
    assert status(work)["gone"] is True and "vault gone" in work.oauthctl("vault", "status").stdout
    [finding] = [finding for finding in doctor(work) if finding["check"] == "vault"]
    assert "is gone" in finding["message"] and ANEW in finding["fix"]
    failed = work.oauthctl("login", "work", check=False)
    assert failed.status == 5 and "is gone" in failed.stderr
    (work.data / "away").rename(work.data / "oauthctl")
    assert refresh(work, check=True).stdout.strip() and len(server.refreshes()) == sent + 1
    assert status(work)["slots"] == ["recovery_code", "passphrase"]
    assert not any(finding["check"] == "vault" for finding in doctor(work))


@pytest.mark.parametrize("is_folder_there", [True, False])
def test_a_vault_that_is_missing_at_the_start_is_not_taken_for_none(work, server, is_folder_there):
    """A disk that is not mounted yet, say."""
    work.agent.stop()
    commits = counter_file(work).read_bytes()
    place = vault_file(work) if is_folder_there else vault_file(work).parent
    place.rename(work.root / "away")
    [finding] = [finding for finding in doctor(work) if finding["check"] == "vault"]
    assert "is gone" in finding["message"] and ANEW in finding["fix"]
    work.agent.start()
    page = work.oauthctl("status")
    assert "vault gone" in page.stdout and f"{work.shown(vault_file(work))} is gone" in page.stdout
    # The accounts of the files, and nothing that says to log in.
    states = [re.split(r"  +", line)[:2] for line in page.lines]
    assert ["work", "not known"] in states and "oauthctl login" not in page.stdout
    assert work.oauthctl("status", "--check", check=False).status == 5
    for command in (["login", "work"], ["vault", "create"], ["vault", "unlock"], ["vault", "passphrase", "set"],
                    ["get-token", "work"]):
        result = work.oauthctl(*command, check=False)
        assert result.status == 5 and "is gone" in result.stderr and ANEW in result.stderr, result
    assert counter_file(work).read_bytes() == commits and not vault_file(work).exists()
    (work.root / "away").rename(place)
    assert get_token(work).status == 0
    assert refresh(work, check=True).stdout.strip()


def test_one_that_cannot_be_made_costs_nothing_of_the_one_that_is_gone(work, server):
    seal(work, PASSPHRASE)
    commits = counter_file(work).read_bytes()
    (work.data / "oauthctl").rename(work.data / "away")
    # What a vault is written into before it has its name.
    in_the_way = work.data / "oauthctl" / "vault.db.new"
    in_the_way.mkdir(parents=True)
    in_the_way.parent.chmod(0o700)
    for _ in range(2):
        failed = work.oauthctl("vault", "create", "--anew", "--yes", check=False)
        assert failed.status in (5, 6) and "vault.db.new" in failed.stderr, failed
    assert status(work)["gone"] is True and counter_file(work).read_bytes() == commits
    (work.data / "oauthctl").rename(work.data / "failed")
    (work.data / "away").rename(work.data / "oauthctl")
    # Open as before, though only its passphrase opens it, and not taken for an old one.
    sent = len(server.refreshes())
    assert refresh(work, check=True).stdout.strip() and len(server.refreshes()) == sent + 1
    assert "rolled_back" not in status(work)


@pytest.mark.parametrize("is_running", [True, False])
def test_to_begin_anew_takes_a_word_and_asks(work, server, is_running):
    refused = work.oauthctl("vault", "create", "--anew", "--yes", check=False)
    assert refused.status == 5 and "there is a vault already" in refused.stderr
    work.agent.stop()
    if is_running:
        work.agent.start()
        get_token(work)
    (work.data / "oauthctl").rename(work.data / "away")
    if not is_running:
        work.agent.start()
    unasked = work.oauthctl("vault", "create", "--anew", check=False)
    assert unasked.status == 64 and ANEW + " --yes" in unasked.stderr and not vault_file(work).exists()
    code, said = run_at_terminal(
        work, work.programs / "oauthctl", "vault", "create", "--anew", answers={"[y/N]": "n\n"})
    assert code == 1 and "is gone" in said and not vault_file(work).exists()
    made = work.oauthctl("vault", "create", "--anew", "--yes")
    assert len(made.stdout.strip()) == 35
    assert status(work)["state"] == "open"
    # Nothing of the old one is in it, and a login is kept.
    assert get_token(work).status == 4
    log_in(work, server)
    work.agent.restart()
    assert get_token(work).status == 0
    # The old one put back in its place is old.
    work.agent.stop()
    (work.data / "oauthctl").rename(work.data / "new")
    (work.data / "away").rename(work.data / "oauthctl")
    work.agent.start()
    assert status(work)["rolled_back"] is True and refresh(work).status == 5


@pytest.mark.parametrize("fault", ["bytes", "record", "log left"])
def test_a_damaged_vault_without_a_backup_is_begun_anew_by_what_is_told(work, server, fault):
    file = vault_file(work)
    if fault == "bytes":
        work.agent.stop()
        file.write_bytes(b"x" * 8192)
        work.agent.start()
    elif fault == "record":
        without_agent(work, lambda: sql(work, "UPDATE record SET sealed = zeroblob(length(sealed))"))
    else:
        file.rename(work.root / "away.db")
    told = refresh(work)
    assert told.status in (5, 6) and ANEW in told.stderr, told
    if fault in ("bytes", "record"):
        words = told.stderr.removeprefix("oauthctl: work: ").splitlines()
        for command in (["status"], ["doctor"], ["vault", "status"], ["login", "work"], ["vault", "unlock"]):
            result = work.oauthctl(*command, check=False)
            assert all(line.strip() in result.stdout + result.stderr for line in words), (words, result)
    assert ANEW in work.oauthctl("status").stdout
    accepted = work.oauthctl("vault", "accept-rollback", "--yes", check=False)
    assert accepted.status == 5 and ANEW in accepted.stderr
    unasked = work.oauthctl("vault", "create", "--anew", check=False)
    assert unasked.status == 64 and ANEW + " --yes" in unasked.stderr
    assert len(work.oauthctl("vault", "create", "--anew", "--yes").stdout.strip()) == 35
    if fault == "bytes":
        assert (file.parent / "vault.db.damaged").read_bytes() == b"x" * 8192
    log_in(work, server)
    work.agent.restart()
    assert get_token(work).status == 0


def test_a_damaged_key_file_is_told_in_one_sentence_with_the_step_that_keeps_the_vault(work):
    key = key_file(work)
    code = work.oauthctl("vault", "recovery", "renew").stdout.strip()
    work.agent.stop()
    key.write_bytes(b"x" * len(key.read_bytes()))
    work.agent.start()
    shown = work.shown(key)
    mend = "run: oauthctl vault unlock --recovery-code   # that moves it aside"
    for command in (
            ["get-token", "work"], ["status"], ["doctor"], ["vault", "status"], ["login", "work"], ["vault", "check"]):
        result = work.oauthctl(*command, check=False)
        said = result.stdout + result.stderr
        assert f"the vault's key file {shown} is damaged" in said, said
        assert mend in said and ANEW not in said, said
    # The vault is whole: nobody is led to begin without it.
    assert work.oauthctl("vault", "create", "--anew", "--yes", check=False).status == 5
    damaged = key.read_bytes()
    told = work.oauthctl("vault", "unlock", "--recovery-code", stdin=code + "\n")
    assert "Its key file opens it again; one that did not is moved aside." in told.stderr
    assert key.with_name(f"{key.name}.damaged").read_bytes() == damaged != key.read_bytes()
    work.agent.restart()
    assert get_token(work).status == 0


# The file of an account

@pytest.fixture
def orphan(work):
    """The login `work`, whose file was removed by hand."""
    file = work.config / "oauthctl" / "accounts.d" / "work.toml"
    work.definition = file.read_text()
    file.unlink()
    work.oauthctl("reload")
    return work


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_login_without_its_file_is_shown_with_what_ends_it(orphan, is_restarted):
    if is_restarted:
        orphan.agent.restart()
    file = orphan.config / "oauthctl" / "accounts.d" / "work.toml"
    step = f"put it back as {orphan.shown(file)}; or, to end the login: oauthctl logout work"
    page = orphan.oauthctl("status")
    assert any(line.split()[:3] == ["work", "file", "gone"] for line in page.lines)
    assert "its file is gone, and the login is still kept" in page.stdout and step in page.stdout
    assert orphan.oauthctl("status", "--check", check=False).status == 3
    assert orphan.oauthctl("account", "list").lines[1].split()[:3] == ["work", "file", "gone"]
    [finding] = [finding for finding in doctor(orphan) if finding.get("account") == "work"]
    assert "file is gone" in finding["message"] and finding["fix"] == step.replace(orphan.shown(file), str(file))
    token = get_token(orphan)
    assert token.status == 3 and "its file is gone" in token.stderr and step in token.stderr
    told = orphan.oauthctl("login", "work", check=False)
    assert told.status == 3 and "its file is gone" in told.stderr and step in told.stderr
    assert step in orphan.oauthctl("reload").stderr
    file.write_text(orphan.definition)
    orphan.oauthctl("reload")
    assert get_token(orphan).status == 0


def test_a_configuration_folder_that_is_moved_away_is_seen_at_once_and_the_login_goes_on_when_it_is_back(work, server):
    folder = work.config / "oauthctl"
    step = f"bring {work.shown(folder)} back"
    get_token(work)
    folder.rename(work.config / "away")
    assert work.oauthctl("status", "--check", check=False).status == 3
    url, request = f"{server.issuer}/x", "".join(f"{key}={value}\n" for key, value in (
        ("protocol", "http"), ("host", server.issuer.removeprefix("http://")))) + "\n"
    for command in (["status"], ["get-token", "work"], ["login", "work"], ["login"], ["reload"],
                    ["get-token", "--url", url], ["curl", url], ["git-credential", "get"]):
        result = work.oauthctl(*command, check=False, stdin=request)
        assert step in result.stdout + result.stderr, (command, result)
    assert "no account files; 1 login is kept" in work.oauthctl("doctor", check=False).stdout
    (work.config / "away").rename(folder)
    assert get_token(work).status == 0


def test_an_agent_of_another_configuration_folder_says_where_the_files_are(work):
    usual = work.root / ".config" / "oauthctl"
    (usual / "accounts.d").mkdir(parents=True, mode=0o700)
    file = work.config / "oauthctl" / "accounts.d" / "work.toml"
    file.rename(usual / "accounts.d" / "work.toml")
    work.oauthctl("reload")
    step = "run: unset XDG_CONFIG_HOME && oauthctl agent restart"
    for command in (["status"], ["get-token", "work"], ["login", "work"], ["doctor"]):
        result = work.oauthctl(*command, check=False)
        told = result.stdout + result.stderr
        assert f"its file is {work.shown(usual)}/accounts.d/work.toml" in told and step in told, (command, result)


def test_forget_refuses_in_a_shell_of_another_configuration_folder(work):
    """It would take the agent's login, and a file that has nothing to do with it."""
    folder = work.root / "other" / "oauthctl" / "accounts.d"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "work.toml").write_text('issuer = "https://other.example"\nclient_id = "other"\n')
    refused = work.oauthctl("account", "forget", "work", "--yes", check=False,
                            environment={"XDG_CONFIG_HOME": str(folder.parent.parent)})
    assert refused.status == 3 and "another XDG_CONFIG_HOME" in refused.stderr, refused
    assert (folder / "work.toml").exists() and get_token(work).status == 0


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_login_without_its_file_ends_at_its_server_by_a_logout(orphan, server, is_restarted):
    if is_restarted:
        orphan.agent.restart()
    assert "the server revoked the tokens" in orphan.oauthctl("logout", "work").stderr
    assert "work" not in orphan.oauthctl("account", "list").stdout
    assert doctor(orphan) == []


def test_a_login_without_its_file_can_be_forgotten(orphan):
    assert "may stay valid there" in orphan.oauthctl("account", "forget", "work", "--yes").stderr
    assert "work" not in orphan.oauthctl("account", "list").stdout
    assert "Good: 0 records" in orphan.oauthctl("vault", "check").stderr


def test_a_configuration_folder_that_is_a_link_to_nowhere_is_told_as_one(work, server):
    folder = work.config / "oauthctl"
    folder.rename(work.config / "elsewhere")
    folder.symlink_to(work.config / "nowhere")
    words, step = f"{work.shown(folder)} is a link that leads nowhere", f"ls -l {work.shown(folder)}   # "
    for told in (work.oauthctl("status", check=False).stdout, get_token(work).stderr):
        assert words in told and step in told, told
    told = work.oauthctl("login", "other", server.issuer, "--client-id", "dev", check=False)
    assert told.status == 3 and step in told.stderr, told
