"""`oauthctl setup git`: three entries in git's configuration, and away again."""

import os

import pytest

from cli.git_steps import git, helper, settings
from support.accounts import account_file
from support.login import log_in
from support.others import as_nobody, home_of_nobody
from support.terminal import run_at_terminal

# Setting up

PRESENT = """\
[user]
\tname = Alice
[credential]
\thelper = cache
[credential "https://github.com"]
\thelper =
\thelper = /usr/bin/gh auth git-credential
"""


def test_setup_adds_three_entries_and_remove_takes_exactly_them_away(home, agent, dot):
    log_in(home, dot)
    (home.root / ".gitconfig").write_text(PRESENT)
    before, key = settings(home), f"credential.{dot.issuer}.helper"
    shown = home.oauthctl("setup", "git", "--yes").stderr
    added = settings(home)
    assert added[:len(before)] == before
    (empty_key, empty), (helper_key, helper), path = added[len(before):]
    assert (empty_key, empty, helper_key) == (key, "", key)
    assert path == (f"credential.{dot.issuer}.usehttppath", "true")
    assert helper.startswith(str(home.programs) + "/") and key in shown and helper.split(" ")[0] in shown
    # Nothing is left to do the second time.
    home.oauthctl("setup", "git", "--yes")
    assert settings(home) == added
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert settings(home) == before and (home.root / ".gitconfig").read_text() == PRESENT


def test_plain_http_is_set_up_for_this_machine_only(home, agent, dot):
    """git would send a token in the clear to wherever that name leads."""
    log_in(home, dot)
    before = settings(home)
    refused = home.oauthctl("setup", "git", "--host", "http://nowhere.example", "--yes", check=False)
    assert refused.status == 64 and "on this machine only" in refused.stderr, refused
    assert "run: oauthctl setup git --yes --host https://nowhere.example\n" in refused.stderr, refused
    assert settings(home) == before
    # What an earlier version has written goes away all the same.
    home.oauthctl("setup", "git", "--remove", "--host", "http://nowhere.example", "--yes")
    home.oauthctl("setup", "git", "--host", dot.issuer, "--yes")


def test_a_login_that_leaves_git_without_an_answer_says_so(home, agent, dot):
    log_in(home, dot)
    assert "git asks here" not in home.oauthctl("login", "work").stderr
    home.oauthctl("setup", "git", "--yes")
    assert "git asks here" not in home.oauthctl("login", "work").stderr
    other = log_in(home, dot, name="other")
    told = " ".join(other.stderr.split())
    assert f"2 accounts fit {dot.issuer}, and none of them is the default: other, work" in told


def test_remove_finds_what_stands_in_git_s_other_file_and_tells_of_what_is_included(home, agent, dot):
    """`git config --global` looks into one file, git itself into both and into those that they include."""
    log_in(home, dot)
    other, included = home.config / "git" / "config", home.root / "more"
    other.parent.mkdir()
    other.write_text(PRESENT)
    home.oauthctl("setup", "git", "--yes")
    (home.root / ".gitconfig").write_text(f'[include]\n\tpath = {included}\n')
    doctor = home.oauthctl("doctor", check=False).stdout
    assert "does not ask oauthctl" not in doctor, doctor
    included.write_text('[credential "https://else.example"]\n\thelper = /opt/bin/git-credential-oauthctl\n')
    told = home.oauthctl("setup", "git", "--remove", "--yes").stderr
    assert other.read_text() == PRESENT and f"git config --file {home.shown(other)}" in told
    assert f"https://else.example: {home.shown(included)} says so" in " ".join(told.split()), told
    again = home.oauthctl("setup", "git", "--remove").stderr
    assert "names no helper" in again and "https://else.example" in again


def test_remove_leaves_what_was_there_before(home, agent, dot):
    """A path's key and an empty helper of the person's own."""
    log_in(home, dot)
    own = (
        f'[credential "{dot.issuer}"]\n\tuseHttpPath = true\n\thelper = \n\thelper = cache\n')
    (home.root / ".gitconfig").write_text(own)
    before = settings(home)
    home.oauthctl("setup", "git", "--yes")
    assert len(settings(home)) > len(before)
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert sorted(settings(home)) == sorted(before)
    values = [value for key, value in settings(home) if key.endswith(".helper")]
    assert values == ["", "cache"]


def test_remove_moves_no_helper_of_the_person_s_own_behind_another(home, agent, dot):
    """git would ask them in another order; what to do by hand is said, and nothing is changed."""
    log_in(home, dot)
    section = f'[credential "{dot.issuer}"]\n\thelper ='
    (home.root / ".gitconfig").write_text(f"{section}\n[credential]\n\thelper = cache\n{section} store\n")
    home.oauthctl("setup", "git", "--yes")
    added = settings(home)
    refused = home.oauthctl("setup", "git", "--remove", "--yes", check=False)
    assert refused.status == 3 and "git config --global --edit" in refused.stderr, refused
    assert settings(home) == added


def test_a_git_that_says_too_much_is_told_and_nobody_waits_for_it(home, agent, dot):
    log_in(home, dot)
    fake = home.bin / "git"
    fake.write_text("#!/bin/sh\nexec head -c 2000000 /dev/zero\n")
    fake.chmod(0o700)
    result = home.oauthctl("setup", "git", "--remove", "--yes", check=False)
    assert result.status == 3 and "more than 1048576 bytes" in result.stderr, result


def test_setup_does_nothing_before_somebody_agrees(home, agent, dot):
    log_in(home, dot)
    home.oauthctl("setup", "git", "--dry-run")
    assert home.oauthctl("setup", "git", check=False).status != 0
    assert settings(home) == []


def test_commands_are_whole_in_the_question_however_narrow_the_terminal_is(home, agent, dot):
    log_in(home, dot)
    told = home.oauthctl("setup", "git", "--dry-run").stderr.splitlines()
    commands = [line for line in told if line.startswith("  git config")]
    assert len(commands) >= 3 and max(map(len, commands)) > 60
    status, text = run_at_terminal(
        home, home.programs / "oauthctl", "setup", "git", answers={"[y/N]": "n\n"}, columns=60)
    assert status == 1 and set(commands) <= set(text.splitlines()), text


def test_setup_names_the_hosts_of_every_account(home, agent, dot, world):
    log_in(home, dot, "work")
    log_in(home, world(access_ttl=298), "other")
    home.oauthctl("setup", "git", "--yes")
    assert {key for key, _ in settings(home) if key.endswith("helper")} == {
        f"credential.{server.issuer}.helper".lower() for server in (dot, world(access_ttl=298))}


def test_a_helper_of_the_user_s_own_for_the_host_stays(home, agent, dot):
    log_in(home, dot)
    git(home, "config", "--global", f"credential.{dot.issuer}.helper", "cache")
    before = settings(home)
    home.oauthctl("setup", "git", "--yes")
    assert settings(home)[:1] == before and len(settings(home)) == 4
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert settings(home) == before


def copy_of_authority(home, server):
    return home.state / "oauthctl" / "authorities" / f"work@{server.issuer.removeprefix('https://')}.pem"


def test_a_private_authority_is_told_to_git(home, agent, world):
    server = world(tls=True)
    log_in(home, server)
    home.oauthctl("setup", "git", "--yes")
    copy = copy_of_authority(home, server)
    assert (f"http.{server.issuer}.sslcainfo", str(copy)) in settings(home)
    assert copy.read_bytes() == server.ca_file.read_bytes() and copy.stat().st_mode & 0o777 == 0o600
    git(home, "clone", server.repository, "one")
    # Nothing is left to do the second time, and all is taken out again.
    assert "already" in home.oauthctl("setup", "git", "--yes").stderr
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert settings(home) == []


def test_words_beside_the_certificates_of_an_authority_are_in_nobody_s_way(home, agent, world):
    server, own = world(tls=True), home.root / "own.pem"
    own.write_bytes(b"# of the office\n" + server.ca_file.read_bytes() + b"# end\n")
    log_in(home, server)
    file = account_file(home)
    file.write_text(file.read_text().replace(str(server.ca_file), str(own)))
    home.oauthctl("account", "accept", "work", "--yes")
    home.oauthctl("setup", "git", "--yes")
    git(home, "clone", server.repository, "one")
    # Who wrote more words beside them has changed nothing.
    own.write_bytes(b"# mine\n" + own.read_bytes())
    git(home, "clone", server.repository, "two")


def test_a_copy_of_an_earlier_version_serves_until_another_authority_is_agreed_to(home, agent, world):
    """It had no server in its name: then git goes without, and the person is told what names the new one."""
    server, own = world(tls=True), home.root / "own.pem"
    own.write_bytes(server.ca_file.read_bytes())
    log_in(home, server)
    home.oauthctl("setup", "git", "--yes")
    new, old = copy_of_authority(home, server), home.state / "oauthctl" / "authorities" / "work.pem"
    new.rename(old)
    git(home, "config", "--global", f"http.{server.issuer}.sslCAInfo", str(old))
    git(home, "clone", server.repository, "one")
    file = account_file(home)
    file.write_text(file.read_text().replace(str(server.ca_file), str(own)))
    told = home.oauthctl("account", "accept", "work", "--yes").stderr
    assert f"names for {server.issuer} is gone" in told and "run: oauthctl setup git\n" in told, told
    assert not old.exists()
    home.oauthctl("setup", "git", "--yes")
    git(home, "clone", server.repository, "two")
    assert (f"http.{server.issuer}.sslcainfo", str(new)) in settings(home)


def test_git_learns_the_authority_that_was_agreed_to_while_the_question_stood(home, agent, world):
    server, own = world(tls=True), home.root / "own.pem"
    log_in(home, server)
    file = account_file(home)
    file.write_text(file.read_text().replace(str(server.ca_file), str(own)))

    def agree(times):
        own.write_bytes(server.ca_file.read_bytes() * times)
        home.oauthctl("account", "accept", "work", "--yes")
        return "y\n"

    agree(2)
    status, _ = run_at_terminal(
        home, home.programs / "oauthctl", "setup", "git", answers={"[y/N]": lambda: agree(3)})
    copy = copy_of_authority(home, server)
    assert status == 0 and copy.read_bytes() == own.read_bytes()


def test_setup_for_an_account_that_does_not_exist_changes_nothing(home, agent, dot):
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes")
    before = settings(home)
    told = home.oauthctl("setup", "git", "--account", "wrk", "--host", dot.issuer, "--yes", check=False)
    assert told.status == 3 and "wrk: no such account; did you mean work?" in told.stderr, told
    assert settings(home) == before


@pytest.mark.parametrize("by_host", [False, True])
def test_remove_takes_the_authority_of_a_forgotten_account_out_as_well(home, agent, world, by_host):
    """Its copy goes with it, and git reaches no server whose file is not there."""
    server = world(tls=True)
    log_in(home, server)
    home.oauthctl("setup", "git", "--yes")
    home.oauthctl("logout", "work")
    home.oauthctl("account", "forget", "work", "--yes")
    assert not copy_of_authority(home, server).exists()
    chosen = ["--host", server.issuer] if by_host else []
    home.oauthctl("setup", "git", "--remove", "--yes", *chosen)
    assert [key for key, _ in settings(home) if key.startswith("http.")] == []


def test_remove_takes_out_an_authority_that_an_earlier_remove_has_left(home, agent):
    copy, mine = home.state / "oauthctl" / "authorities" / "old.pem", home.root / "mine.pem"
    for url, file in (("https://old.example:8443", copy), ("https://mine.example", mine)):
        git(home, "config", "--global", f"http.{url}.sslCAInfo", str(file))
    home.oauthctl("setup", "git", "--remove", "--yes")
    assert settings(home) == [("http.https://mine.example.sslcainfo", str(mine))]


def test_a_configuration_that_git_cannot_read_is_told_once_and_is_not_called_empty(home, agent, dot):
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes")
    file = home.root / ".gitconfig"
    before = file.read_text() + "garbage line\n"
    file.write_text(before)
    line = len(before.splitlines())
    words = f"git cannot read its configuration: fatal: bad config line {line} in file ~/.gitconfig\n"
    step = "mend in an editor what git names there, then run this command again\n"
    for options in ([], ["--remove"], ["--yes"], ["--remove", "--yes"]):
        told = home.oauthctl("setup", "git", *options, check=False)
        assert told.status == 3 and told.stderr == f"oauthctl: {words}  {step}", told
    assert file.read_text() == before
    doctor = home.oauthctl("doctor", check=False)
    assert doctor.status == 1 and doctor.stdout.count(words) == 1 and step in doctor.stdout, doctor
    assert "it does not ask oauthctl" not in doctor.stdout and "fatal" not in doctor.stderr, doctor


def test_a_configuration_of_git_that_is_closed_is_told_with_its_chmod(scratch, programs):
    with home_of_nobody(scratch, programs) as home:
        as_nobody(lambda: (home.root / ".gitconfig").touch(0o000))
        for command in (["setup", "git", "--remove"], ["doctor"]):
            process = home.begin(home.programs / "oauthctl", *command)
            told = "".join(process.communicate(timeout=60))
            words = "git cannot read its configuration: ~/.gitconfig is closed to you (mode 000)\n"
            assert process.returncode != 0 and told.count(words) == 1, told
            assert "run: chmod 600 ~/.gitconfig\n" in told and "warning" not in told, told


@pytest.mark.parametrize("is_link", [False, True])
def test_setup_replaces_no_device(home, agent, dot, is_link):
    log_in(home, dot)
    place = home.root / "device"
    os.mkfifo(place)
    link = home.root / "link"
    link.symlink_to(place)
    result = home.oauthctl(
        "setup", "git", "--yes", check=False, environment={"GIT_CONFIG_GLOBAL": str(link if is_link else place)})
    assert result.status == 3 and "no regular file" in result.stderr
    assert place.is_fifo() and link.is_symlink()
