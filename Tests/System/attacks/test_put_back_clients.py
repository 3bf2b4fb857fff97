"""Registered clients that a vault alone knows which is put over that of the running agent."""

import pytest

from attacks.test_vault_put_over import put_over
from login.provider import use_silent_browser
from login.registered import provider
from support.accounts import account_file
from support.login import wait_until
from support.vault import made_vault, vault_command


@pytest.mark.parametrize("ends", ["at once", "after a restart"])
def test_a_client_that_only_the_overtaken_record_knows_is_deleted_at_the_end(home, agent, provider, ends):
    use_silent_browser(home)
    made_vault(home)
    older, newest = home.root / "older", home.root / "newest"
    home.oauthctl("login", "other", provider.url)
    vault_command(home, "backup", older)
    home.oauthctl("login", "one", provider.url)
    vault_command(home, "backup", newest)
    home.agent.stop()
    put_over(home, older)
    account_file(home, "one").unlink()
    home.agent.start()
    vault_command(home, "accept-rollback", "--yes")
    home.oauthctl("login", "one", provider.url)
    put_over(home, newest)
    vault_command(home, "status")
    if ends == "after a restart":
        vault_command(home, "accept-rollback", "--yes", check=False)
        home.agent.restart()
    home.oauthctl("logout", "one")
    home.oauthctl("account", "forget", "one", "--yes")
    assert provider.kinds().count("register") == 3
    wait_until(lambda: len({client for client, _ in provider.deleted}) == 2, 20, "both clients of it are deleted")
