"""Parts of an account that one copy of the vault alone has, when the newest is put back over an older one."""

import pytest

from attacks.test_vault_put_back import Losing, end_and_open, provider, refresh_sends_newest
from attacks.test_vault_put_over import define_anew, newest_and_older, put_over
from login.provider import Provider
from support.accounts import account_file, edit
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
    if change == "an acceptance":
        # What was agreed to over the older vault is asked again.
        assert refresh(home).status == 3
        home.oauthctl("account", "accept", "work", "--yes")
    assert refresh(home).status == 0
    assert provider.form("refresh_token")["refresh_token"] == f"refresh-{newest_token}"


def test_a_secret_that_was_kept_in_an_older_vault_stays_beside_the_newest_refresh_token(home, provider):
    newest = newest_and_older(home, lambda: refresh(home, check=True))
    keep_secret(home, provider)
    put_over(home, newest)
    vault_command(home, "status")
    home.agent.restart()
    vault_command(home, "accept-rollback", "--yes", check=False)
    assert "client_secret" in home.oauthctl("account", "show", "work").stdout and refresh(home).status == 0


@pytest.mark.parametrize("older", ["accepted", "held"])
def test_a_secret_that_the_newest_vault_alone_has_is_not_lost_by_an_acceptance_in_the_older_one(home, provider, older):
    newest = newest_and_older(home, lambda: keep_secret(home, provider), older)
    accept(home, provider)
    put_over(home, newest)
    vault_command(home, "status")
    home.agent.restart()
    assert "client_secret" in home.oauthctl("account", "show", "work").stdout


@pytest.mark.parametrize("what", ["endpoint", "hosts"])
@pytest.mark.parametrize("is_accepted", [False, True], ids=["held", "accepted"])
def test_a_vault_that_is_put_over_the_open_one_does_not_change_where_its_tokens_go(home, provider, what, is_accepted):
    """Somebody agreed to another server there, went back to the vault of before, and has another login since."""
    file = account_file(home)
    before = file.read_text()
    with Provider() as other:
        def agree():
            if what == "endpoint":
                edit(home, "work", token_endpoint=f'"{other.issuer}/token"')
            else:
                edit(home, "work", hosts=f'["{provider.issuer}", "{other.issuer}"]')
            home.oauthctl("account", "accept", "work", "--yes")

        newest = newest_and_older(home, agree)
        changed = file.read_text()
        file.write_text(before)
        home.oauthctl("reload")
        keep_secret(home, provider)
        refresh(home, check=True)
        file.write_text(changed)
        home.oauthctl("reload")
        put_over(home, newest)
        vault_command(home, "status")
        if is_accepted:
            vault_command(home, "accept-rollback", "--yes", check=False)
        assert refresh(home).status != 0
        home.oauthctl("curl", "work", f"{other.issuer}/x", check=False)
        assert other.seen == [] and "file changed" in home.oauthctl("status").stdout


def test_what_was_set_for_an_account_after_it_was_forgotten_is_not_lost(home, provider):
    copy = home.root / "copy"
    vault_command(home, "backup", copy)
    define_anew(home)
    keep_secret(home, provider)
    put_over(home, copy)
    vault_command(home, "status")
    assert "client_secret" in home.oauthctl("account", "show", "work").stdout
    home.agent.restart()
    assert "client_secret" in home.oauthctl("account", "show", "work").stdout
    # Nobody has agreed to the older vault, so no server is told of what is in it.
    assert "revoke" not in provider.kinds()


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
