"""What is done under the question of `account accept` while the file says something else. Each test is the attack."""

import pytest

from attacks.test_late import Server, write
from support.terminal import run_at_terminal
from world.accounts import PASSWORD


def test_what_is_accepted_comes_from_where_was_shown(home, agent):
    """Under the question a login is made at a third server, whose refresh token would go to the second."""
    with Server("first") as first, Server("second") as second, Server("third") as third:
        def password_login(*arguments):
            return home.oauthctl("login", "work", "--password-stdin", *arguments, stdin=PASSWORD + "\n", check=False)

        write(home, first)
        assert password_login().status == 0
        write(home, second)

        def login_at_third():
            write(home, third)
            assert password_login("--accept-changes").status == 0
            write(home, second)
            return "y\n"

        status, shown = run_at_terminal(
            home, home.programs / "oauthctl", "account", "accept", "work", answers={"[y/N]": login_at_third})
        home.oauthctl("get-token", "work", "--force", check=False)
        assert second.sent("third") == [] and third.seen
        assert status == 3 and "Accepted" not in shown


@pytest.mark.parametrize("given", ["a login", "a client secret", "a client secret, and the agent starts anew"])
def test_what_is_given_to_one_server_under_the_question_does_not_go_to_the_other(home, agent, given):
    """The file says the first server for a moment, and the second again."""
    with Server("first") as first, Server("second") as second:
        def password_login():
            home.oauthctl("login", "work", "--password-stdin", stdin=PASSWORD + "\n")

        write(home, first)
        password_login()
        write(home, second)

        def give():
            write(home, first)
            if given == "a login":
                password_login()
            else:
                home.oauthctl("secret", "set", "work", "client_secret", stdin="for-the-first\n")
            write(home, second)
            if given.endswith("anew"):
                agent.restart()
            return "y\n"

        status, shown = run_at_terminal(
            home, home.programs / "oauthctl", "account", "accept", "work", answers={"[y/N]": give})
        home.oauthctl("get-token", "work", "--force", check=False)
        assert second.seen == []
        assert status == 3 and "Accepted" not in shown
