"""What somebody who may write account files makes of a symbolic link there: some other file of the user is written.

Each test is the attack: it was seen to succeed before the program was mended."""

import pytest

from support.terminal import run_at_terminal


@pytest.fixture
def link(home, agent):
    """`accounts.d/work.toml`, which leads to the file `important`."""
    folder = home.config / "oauthctl/accounts.d"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / "work.toml"
    file.symlink_to(home.root / "important")
    return file


def definition(server, *arguments):
    # The file is written before anybody logs in.
    return ["login", "work", server.issuer, "--client-id", "native-app", "--no-browser", "--timeout", "1", *arguments]


@pytest.mark.parametrize("text", [b"#!/bin/sh\necho mine\n", b"", b"\xff\xfe\x00", b"# issuer\n[issuer]\n"], ids=repr)
def test_no_other_file_is_replaced_through_a_link_unseen(home, dot, link, text):
    important = link.resolve()
    important.write_bytes(text)
    important.chmod(0o755)
    result = home.oauthctl(*definition(dot, "--replace"), check=False)
    assert (important.read_bytes(), important.stat().st_mode & 0o777) == (text, 0o755)
    assert result.status == 3 and "a link to ~/important" in result.stderr and link.is_symlink(), result


def test_the_question_names_the_file_behind_a_link(home, dot, link):
    important = link.resolve()
    important.write_text("mine\n")
    status, shown = run_at_terminal(home, home.programs / "oauthctl", *definition(dot), answers={"[y/N]": "n\n"})
    assert "Replace ~/important (" in shown.split("[y/N]")[0], shown
    assert status == 3 and important.read_text() == "mine\n"


def test_a_link_that_is_turned_under_the_question_replaces_nothing(home, dot, link):
    shown, other = link.resolve(), home.root / "other"
    for file in (shown, other):
        file.write_text("mine\n")

    def turn():
        link.unlink()
        link.symlink_to(other)
        return "y\n"

    status, _ = run_at_terminal(home, home.programs / "oauthctl", *definition(dot), answers={"[y/N]": turn})
    assert (status, shown.read_text(), other.read_text()) == (3, "mine\n", "mine\n")


def test_an_account_behind_a_link_stays_there_with_its_mode(home, dot, link):
    """As people have it who keep their settings elsewhere."""
    kept = link.resolve()
    kept.write_text(f'issuer = "{dot.issuer}"\nclient_id = "another"\n')
    kept.chmod(0o644)
    result = home.oauthctl(*definition(dot, "--replace"), check=False)
    # Nobody logs in, so what was written behind the link is taken back there.
    assert link.is_symlink() and "another" in kept.read_text(), result
    assert "is as it was" in result.stdout + result.stderr, result
    assert kept.stat().st_mode & 0o777 == 0o644 and "(a link to ~/important)" in result.stdout + result.stderr


def test_the_settings_are_not_written_over_what_cannot_be_put_back(home, agent):
    """It was read as text, and what the agent refuses was put back as that."""
    important = home.root / "important"
    file = home.config / "oauthctl/config.toml"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.symlink_to(important)
    for content in (b"\xff\xfe mine\n", b"#" * (2 << 20)):
        important.write_bytes(content)
        result = home.oauthctl(
            "setup", "proxy", "--yes", environment={"HTTPS_PROXY": "http://127.0.0.1:9"}, check=False)
        assert important.read_bytes() == content and file.is_symlink()
        assert result.status == 3 and "a link to ~/important" in result.stderr, result


@pytest.mark.parametrize("act", ["entry", "made", "turned"])
def test_what_changes_under_the_question_of_a_scheme_is_kept(home, act):
    """The desktop entry gets somebody's content; the list becomes a link, or leads to a file of the same text."""
    entry = home.data / "applications/oauthctl-com.example.app.desktop"
    listed, one, two = home.config / "mimeapps.list", home.root / "one", home.root / "two"
    for folder in (entry.parent, listed.parent):
        folder.mkdir(parents=True, exist_ok=True)
    text = "" if act == "made" else "[X]\na=b\n"
    for file in (one, two):
        file.write_text(text)
    if act == "turned":
        listed.symlink_to(one)

    def answer():
        if act == "entry":
            entry.write_text("[Desktop Entry]\nExec=mine\n")
        else:
            listed.unlink(missing_ok=True)
            listed.symlink_to(two)
        return "y\n"

    status, shown = run_at_terminal(
        home, home.programs / "oauthctl", "setup", "scheme", "com.example.app", answers={"[y/N]": answer})
    assert status == 3 and "changed meanwhile" in shown, shown
    assert one.read_text() == two.read_text() == text
    assert entry.read_text() == "[Desktop Entry]\nExec=mine\n" if act == "entry" else not entry.exists()


def test_a_link_to_git_s_settings_that_is_turned_under_the_question_changes_nothing(home, dot, agent):
    link, shown, other = (home.root / name for name in (".gitconfig", "shown", "other"))
    for file in (shown, other):
        file.write_text("[user]\n\tname = mine\n")
    link.symlink_to(shown)

    def turn():
        link.unlink()
        link.symlink_to(other)
        return "y\n"

    command = [home.programs / "oauthctl", "setup", "git", "--host", "git.example"]
    status, _ = run_at_terminal(home, *command, answers={"[y/N]": turn})
    assert status == 3 and shown.read_text() == other.read_text() == "[user]\n\tname = mine\n"


@pytest.mark.parametrize("leads", ["nowhere", "to itself"])
@pytest.mark.parametrize("command", ["login", "proxy", "scheme"])
def test_a_link_that_leads_nowhere_just_now_stays(home, dot, agent, command, leads):
    """As one into a folder on a disk that is not there."""
    file = home.config / {
        "login": "oauthctl/accounts.d/work.toml", "proxy": "oauthctl/config.toml", "scheme": "mimeapps.list"}[command]
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.symlink_to(file if leads == "to itself" else home.root / "gone" / "file")
    arguments = {"login": definition(dot), "proxy": ["setup", "proxy", "--yes"],
                 "scheme": ["setup", "scheme", "com.example.app", "--yes"]}[command]
    told = home.oauthctl(*arguments, check=False, environment={"https_proxy": "http://127.0.0.1:3128"})
    assert told.status == 3 and "nothing is written" in told.stderr and file.is_symlink(), told
