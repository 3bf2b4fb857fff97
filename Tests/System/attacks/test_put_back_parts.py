"""Parts of an account that one copy of the vault alone has, when the newest is put back over an older one."""

import pytest

from attacks.test_vault_put_back import Losing, end_and_open, provider, refresh_sends_newest
from attacks.test_vault_put_over import newest_and_older, put_over
from support.accounts import edit
from support.login import wait_until
from support.unattended import refresh
from support.vault import vault_command


def keep_secret(home, provider):
    with home.agent.connect() as wire:
        wire.call("secret.set", account="work", kind="client_secret", value="a-secret")


def accept(home, provider):
    edit(home, "work", hosts=f'["{provider.issuer}", "https://other.example"]')
    home.oauthctl("account", "accept", "work", "--yes")


def fail_to_log_in(home, provider):
    assert home.oauthctl("login", "work", "--user", "somebody-else", check=False).status != 0


CHANGES = {"a secret": keep_secret, "an acceptance": accept, "a login that fails": fail_to_log_in}


@pytest.mark.parametrize("end", ["stop", "kill", "lock"])
@pytest.mark.parametrize("older", ["accepted", "held"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_an_older_vault_does_not_bring_its_refresh_token_back(home, provider, change, older, end):
    newest = newest_and_older(home, lambda: refresh(home, check=True), older)
    newest_token = provider.tokens
    CHANGES[change](home, provider)
    if change == "a login that fails":
        newest_token = max(newest_token, 2)
    put_over(home, newest)
    vault_command(home, "status")
    end_and_open(home, end)
    vault_command(home, "accept-rollback", "--yes", check=False)
    assert refresh(home).status == 0
    assert provider.form("refresh_token")["refresh_token"] == f"refresh-{newest_token}"


@pytest.mark.parametrize("change", ["a secret", "an acceptance"])
def test_what_was_changed_in_an_older_vault_stays_beside_the_newest_refresh_token(home, provider, change):
    newest = newest_and_older(home, lambda: refresh(home, check=True))
    CHANGES[change](home, provider)
    put_over(home, newest)
    vault_command(home, "status")
    home.agent.restart()
    vault_command(home, "accept-rollback", "--yes", check=False)
    shown = home.oauthctl("account", "show", "work").stdout
    assert ("client_secret" in shown) == (change == "a secret"), shown
    assert refresh(home).status == 0


def test_a_secret_that_was_taken_out_in_an_older_vault_does_not_come_back(home, provider):
    keep_secret(home, provider)
    newest = newest_and_older(home, lambda: home.oauthctl("login", "work"))
    with home.agent.connect() as wire:
        wire.call("secret.forget", account="work", kind="client_secret")
    put_over(home, newest)
    vault_command(home, "status")
    assert "needs a client secret, and none is kept" in home.oauthctl("account", "show", "work").stdout


def test_a_logout_in_an_older_vault_revokes_the_newest_refresh_token(home, provider):
    newest = newest_and_older(home, lambda: refresh(home, check=True))
    newest_token = provider.tokens
    home.oauthctl("logout", "work")
    put_over(home, newest)
    vault_command(home, "status")
    vault_command(home, "accept-rollback", "--yes", check=False)
    revoked = lambda: [form["token"] for kind, form in provider.seen if kind == "revoke"]
    wait_until(lambda: f"refresh-{newest_token}" in revoked(), 20, "it is revoked")
    assert refresh(home).status != 0
