"""What git asks in a way that its helper cannot read, as for the address of a hostile submodule."""

import pytest

LINES = ["path=\x01.git", "path=\x7f", "username=a\x01b", "path=" + "x" * 70_000, "nothing"]


@pytest.mark.parametrize("line", LINES, ids=lambda line: ascii(line[:20]))
def test_git_asks_no_person_for_a_password(home, agent, line):
    request = f"protocol=https\nhost=h.example\n{line}\n\n"
    asked = home.run(home.programs / "oauthctl", "git-credential", "get", stdin=request, check=False)
    assert (asked.status, asked.stdout) == (1, "quit=1\n"), asked
