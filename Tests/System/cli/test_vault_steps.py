"""What is said of the vault is true, is said once, and names what helps."""

import contextlib
import json
import sqlite3

import pytest

from cli.logged_in import server, work
from support.terminal import run_at_terminal
from support.vault import counter_file, key_file, made_vault, set_passphrase, vault_file

PASSPHRASE = "correct horse battery"


# The vault

def test_a_locked_vault_is_told_by_status_and_doctor_with_the_command_that_opens_it(work):
    work.oauthctl("vault", "lock")
    assert "  run: oauthctl vault unlock" in work.oauthctl("status").lines
    page = work.oauthctl("doctor", check=False)
    # A person has locked it: nothing is wrong with that.
    [place] = [number for number, line in enumerate(page.lines) if line.startswith("note   vault")]
    assert page.status == 0 and page.lines[place + 1].strip() == "run: oauthctl vault unlock"
    work.oauthctl("vault", "unlock")
    assert not any("run:" in line for line in work.oauthctl("status").lines)


def test_no_key_file_is_said_to_open_a_vault_where_none_is(work):
    key_file(work).rename(key_file(work).with_suffix(".away"))
    locked = work.oauthctl("vault", "lock")
    assert "key file" not in locked.stderr
    for command in (["status"], ["vault", "status"], ["doctor"]):
        result = work.oauthctl(*command, check=False)
        text = result.stdout + result.stderr
        assert "opens it" not in text and f"its key file {work.shown(key_file(work))} is not" in text
        assert "run: oauthctl vault unlock" in [line.strip() for line in text.splitlines()], text
    key_file(work).with_suffix(".away").rename(key_file(work))
    assert "its key file opens it" in work.oauthctl("vault", "status").stdout
    work.oauthctl("vault", "unlock")


def test_a_lock_hides_no_damage(home, agent):
    """Whoever is told to unlock a vault that nothing opens goes in a circle."""
    code = made_vault(home)
    home.oauthctl("vault", "lock")
    key = key_file(home)
    whole = key.read_bytes()
    key.write_bytes(b"x" * len(whole))
    for command in (["status"], ["vault", "status"], ["doctor"], ["vault", "unlock"]):
        result = home.oauthctl(*command, stdin="", check=False)
        assert "opens it" not in result.stdout and "key file" in result.stdout + result.stderr
        if command != ["vault", "unlock"]:
            assert "run: oauthctl vault unlock --recovery-code" in result.stdout + result.stderr, result
    for command in (["get-token", "work"], ["curl", "https://h"], ["git-credential", "get"]):
        refused = home.oauthctl(*command, stdin="protocol=https\nhost=h\n\n", check=False)
        assert "the vault is locked; the vault's key file" in refused.stderr, refused
        assert "run: oauthctl vault unlock --recovery-code" in refused.stderr, refused
    home.oauthctl("vault", "unlock", stdin=code + "\n")
    assert "vault open" in home.oauthctl("status").stdout

    home.oauthctl("vault", "lock")
    home.agent.stop()
    vault_file(home).write_bytes(b"x" * 8192)
    home.agent.start()
    for command in (["status"], ["vault", "status"], ["doctor"], ["vault", "unlock"]):
        result = home.oauthctl(*command, check=False)
        said = result.stdout + result.stderr
        assert "damaged" in said and "oauthctl vault create --anew" in said, said
    assert len(home.oauthctl("vault", "create", "--anew", "--yes").stdout.strip()) == 35
    assert "vault open (key file)" in home.oauthctl("status").stdout
    home.agent.restart()
    assert "vault open (key file)" in home.oauthctl("status").stdout


def test_a_wrong_passphrase_names_the_recovery_code_which_opens_the_vault(home, agent):
    code = made_vault(home)
    set_passphrase(home, PASSPHRASE)
    home.oauthctl("vault", "lock")
    wrong = home.oauthctl("vault", "unlock", "--passphrase", stdin="forgotten\n", check=False)
    assert wrong.status == 5 and "oauthctl vault unlock --recovery-code" in wrong.stderr
    home.oauthctl("vault", "unlock", "--recovery-code", stdin=code + "\n")


def test_hints_of_a_checked_copy_are_about_the_copy(home, agent):
    """Its own passphrase and recovery code open it, whatever opens the live vault by now."""
    code = made_vault(home)
    set_passphrase(home, PASSPHRASE)
    copy = home.root / "copy.vault"
    home.oauthctl("vault", "backup", copy)
    home.oauthctl("vault", "rekey", stdin=PASSPHRASE + "\n")
    home.oauthctl("vault", "key-file", "remove", stdin=PASSPHRASE + "\n")
    home.oauthctl("vault", "lock")
    for options, typed in ([], None), (["--passphrase"], "wrong\n"), (["--recovery-code"], "wrong\n"):
        failed = home.oauthctl("vault", "check", copy, *options, stdin=typed, check=False)
        assert "copy" in failed.stderr.partition("\n")[0], failed.stderr
        assert f"oauthctl vault check {home.shown(copy)} --recovery-code" in failed.stderr
        assert "unlock" not in failed.stderr and "vault slots" not in failed.stderr
    home.oauthctl("vault", "check", copy, "--recovery-code", stdin=code + "\n")


def test_a_copy_from_before_a_rekey_is_not_called_damaged(home, agent):
    code = made_vault(home)
    copy = home.root / "copy.vault"
    home.oauthctl("vault", "backup", copy)
    home.oauthctl("vault", "rekey")
    for step in (["vault", "status"], ["vault", "lock"]):
        home.oauthctl(*step)
        failed = home.oauthctl("vault", "check", copy, check=False)
        assert failed.status == 5 and "does not open the copy" in failed.stderr and "damaged" not in failed.stderr
        assert f"oauthctl vault check {home.shown(copy)} --recovery-code" in failed.stderr
    assert "Good:" in home.oauthctl("vault", "check", copy, "--recovery-code", stdin=code + "\n").stderr


def test_a_lost_key_file_is_told_with_the_passphrase_first(work):
    set_passphrase(work, PASSPHRASE)
    work.agent.stop()
    key_file(work).unlink()
    work.agent.start()
    step = "oauthctl vault unlock && oauthctl vault key-file add"
    assert f"  run: {step}" in work.oauthctl("status").lines
    token = work.oauthctl("get-token", "work", check=False)
    assert token.status == 5 and token.stderr.rstrip().endswith("oauthctl vault unlock"), token.stderr
    work.oauthctl("vault", "unlock", stdin=PASSPHRASE + "\n")
    work.oauthctl("vault", "key-file", "add", stdin=PASSPHRASE + "\n")
    work.agent.restart()
    work.oauthctl("get-token", "work")


@pytest.mark.parametrize("mode", [0o755, 0o500, 0o300])
def test_a_vault_folder_of_the_wrong_mode_is_told_with_the_chmod_that_mends_it(work, mode):
    folder = vault_file(work).parent
    work.agent.stop()
    folder.chmod(mode)
    work.agent.start()
    for command in (["status"], ["vault", "status"], ["get-token", "work"], ["doctor"]):
        result = work.oauthctl(*command, check=False)
        assert f"run: chmod 700 {work.shown(folder)}" in result.stdout + result.stderr, result
    assert any(line.split()[:3] == ["work", "not", "known"] for line in work.oauthctl("status").lines)
    work.run("sh", "-c", f"chmod 700 {folder}")
    work.oauthctl("get-token", "work")


def test_a_recovery_code_is_removed_after_a_question_that_says_what_is_left(work):
    refused = work.oauthctl("vault", "recovery", "remove", check=False)
    assert refused.status == 64 and "oauthctl vault recovery remove --yes" in refused.stderr
    status, said = run_at_terminal(
        work, work.programs / "oauthctl", "vault", "recovery", "remove", answers={"[y/N]": "n\n"})
    assert status == 1 and "What then opens the vault: key file." in said
    work.oauthctl("vault", "recovery", "remove", "--yes")
    last = work.oauthctl("vault", "key-file", "remove", check=False)
    assert last.status == 8 and "recovery code" not in last.stderr and "oauthctl vault passphrase set" in last.stderr


def test_a_new_recovery_code_says_what_the_old_one_still_opens(work):
    assert "The old one still opens backups made before" in work.oauthctl("vault", "recovery", "renew").stderr
    assert "nothing but backups" in work.oauthctl("vault", "recovery", "renew", "--help").stdout


def test_a_wrong_passphrase_is_told_before_a_new_one_is_asked_for(work):
    """And asked for once more: whoever is told so types on."""
    set_passphrase(work, PASSPHRASE)
    for command in (["passphrase", "change"], ["unlock", "--passphrase"]):
        _, said = run_at_terminal(
            work, work.programs / "oauthctl", "vault", *command, answers={"assphrase: ": "wrong\n"}, until="once more:")
        assert "not the passphrase" in said and "New passphrase" not in said
    _, said = run_at_terminal(
        work, work.programs / "oauthctl", "vault", "passphrase", "change",
        answers={"Current passphrase: ": PASSPHRASE + "\n", "at least): ": "short\n"}, until="once more:")
    assert "too short" in said


def test_an_unlock_says_what_becomes_of_the_key_file(home, agent):
    code = made_vault(home)
    set_passphrase(home, PASSPHRASE)
    key = key_file(home)
    for content in (None, b"x" * 80, b"x" * 5000):
        home.oauthctl("vault", "lock")
        if content is None:
            key.unlink()
        else:
            key.write_bytes(content)
        told = home.oauthctl("vault", "unlock", "--passphrase", stdin=PASSPHRASE + "\n").stderr
        assert "written again" not in told and "run: oauthctl vault key-file add" in told, told
        for command in (["status"], ["doctor"], ["vault", "status"]):
            result = home.oauthctl(*command, check=False)
            assert "run: oauthctl vault key-file add" in result.stdout + result.stderr, result
        # What is left could not open it in daily life.
        refused = home.oauthctl("vault", "passphrase", "remove", stdin=PASSPHRASE + "\n", check=False)
        assert refused.status != 0, refused
        home.oauthctl("vault", "key-file", "add", stdin=PASSPHRASE + "\n")
        home.agent.restart()
        assert "vault open (key file)" in home.oauthctl("status").stdout
    # By the code it is written again.
    home.oauthctl("vault", "lock")
    key.write_bytes(b"x" * 5000)
    told = home.oauthctl("vault", "unlock", "--recovery-code", stdin=code + "\n").stderr
    assert "moved aside" in told
    home.agent.restart()
    assert "vault open (key file)" in home.oauthctl("status").stdout


def test_a_code_that_opens_the_vault_opens_it_whatever_its_key_file_is(home, agent):
    code = made_vault(home)
    home.oauthctl("vault", "lock")
    key_file(home).chmod(0o644)
    told = home.oauthctl("vault", "unlock", "--recovery-code", stdin=code + "\n")
    assert "vault open" in told.stderr and f"chmod 600 {home.shown(key_file(home))}" in told.stderr, told
    # Callers and status are of one mind.
    assert "vault open" in home.oauthctl("status").stdout
    assert "locked" not in home.oauthctl("get-token", "work", check=False).stderr


def test_a_damaged_file_of_an_open_vault_is_told_by_doctor(home, agent):
    made_vault(home)
    # Then what was written stands in the file, and not in its log alone.
    home.agent.restart()
    assert home.oauthctl("doctor", check=False).status == 0
    whole = vault_file(home).read_bytes()
    vault_file(home).write_bytes(b"x" * len(whole))
    page = home.oauthctl("doctor", check=False)
    assert page.status == 1 and "damaged" in page.stdout, page
    assert home.oauthctl("vault", "check", check=False).status == 5
    # The step that both name.
    home.oauthctl("vault", "create", "--anew", "--yes")
    assert home.oauthctl("doctor", check=False).status == 0


def test_a_vault_that_another_program_holds_is_not_called_sealed(home, agent):
    made_vault(home)
    home.oauthctl("vault", "lock")
    with contextlib.closing(sqlite3.connect(vault_file(home))) as other:
        other.execute("BEGIN EXCLUSIVE")
        for command in (["status"], ["vault", "status"], ["vault", "unlock"]):
            result = home.oauthctl(*command, stdin="", check=False)
            assert "sealed" not in result.stdout + result.stderr, result
            assert "recovery code" not in result.stderr, result
        assert json.loads(home.oauthctl("vault", "lock", "--json").stdout)["sealed"] is False
    home.oauthctl("vault", "unlock")


def test_a_vault_that_is_held_for_its_age_is_told_by_check_and_in_the_log(work):
    work.agent.stop()
    counter_file(work).unlink()
    work.agent.start()
    assert work.oauthctl("status", "--check", check=False).status == 5
    assert "older than this machine remembers: nothing is refreshed" in work.agent.log.read_text()
    work.oauthctl("vault", "accept-rollback", "--yes")
    assert work.oauthctl("status", "--check").status == 0
    assert "the older vault is accepted" in work.agent.log.read_text()


def test_no_vault_yet_is_what_the_agents_status_says(home, agent):
    [line] = [line for line in home.oauthctl("agent", "status").lines if line.startswith("vault ")]
    assert line.split(maxsplit=1)[1] == "no vault yet"
