"""An older vault that is put over the one that the agent has open, and the logins that are made after that."""

import pytest

from login.provider import Provider, use_silent_browser
from support.accounts import account_file
from support.login import wait_until
from support.unattended import log_in, refresh
from support.vault import counter_file, files_of, made_vault, seal, status, vault_command, vault_file

# Their records have ids by lot.
NAMES = [f"work{number}" for number in range(5)]


def put_over(home, copy):
    """Under the running agent, as mv does; with what belongs to the copy alone."""
    draft = vault_file(home).with_name("draft")
    draft.write_bytes(copy.read_bytes())
    draft.chmod(0o600)
    draft.rename(vault_file(home))
    vault_file(home).with_name("vault.db-wal").unlink(missing_ok=True)


def define_anew(home, name="work"):
    """Forgets the account, whose file is there again: the vault has no record of it."""
    file = account_file(home, name)
    text = file.read_text()
    home.oauthctl("account", "forget", name, "--yes")
    file.write_text(text)
    file.chmod(0o600)
    home.oauthctl("reload")


def newest_and_older(home, since, older="accepted"):
    """Saves the vault before and after `since`, and has the agent open the older one. The path of the newest."""
    copy, newest = home.root / "copy", home.root / "newest"
    vault_command(home, "backup", copy)
    since()
    vault_command(home, "backup", newest)
    home.agent.stop()
    counter = counter_file(home).read_bytes()
    put_over(home, copy)
    home.agent.start()
    if older == "accepted":
        vault_command(home, "accept-rollback", "--yes")
    else:
        counter_file(home).write_bytes(counter)
    return newest


def log_in_anew(home):
    for name in NAMES:
        home.oauthctl("login", name)
    return [home.oauthctl("get-token", name).stdout for name in NAMES]


@pytest.mark.parametrize("end", ["restart", "lock"])
@pytest.mark.parametrize("kind", ["forgotten", "made anew"])
def test_a_login_that_was_made_over_an_older_vault_is_the_one_that_counts(vault, server, kind, end):
    """The older vault has a record of its own for each account."""
    home, agent = vault, vault.agent
    for name in NAMES:
        log_in(home, server, name)
    copy = home.root / "copy"
    vault_command(home, "backup", copy)
    if kind == "made anew":
        agent.stop()
        for file in vault_file(home).parent.glob("vault.db*"):
            file.unlink()
        agent.start()
        home.oauthctl("vault", "create", "--anew", "--yes")
    else:
        files = {name: (home.config / "oauthctl" / "accounts.d" / f"{name}.toml") for name in NAMES}
        texts = {name: file.read_text() for name, file in files.items()}
        for name in NAMES:
            home.oauthctl("account", "forget", name, "--yes")
            files[name].write_text(texts[name])
            files[name].chmod(0o600)
        home.oauthctl("reload")
    log_in_anew(home)
    put_over(home, copy)
    home.oauthctl("vault", "status", check=False)
    if kind == "made anew":
        # Its key is another one: nothing goes into it, so nothing is confirmed.
        assert home.oauthctl("login", NAMES[0], check=False).status == 5
        return
    tokens = log_in_anew(home)
    if end == "restart":
        agent.restart()
    else:
        vault_command(home, "lock", check=False)
        vault_command(home, "unlock")
    assert [home.oauthctl("get-token", name).stdout for name in NAMES] == tokens


@pytest.fixture
def copied(vault, server):
    """A copy of the vault from before the last login and the last refresh; `gone` was forgotten since."""
    log_in(vault, server, "gone")
    copy = vault.root / "copy"
    vault_command(vault, "backup", copy)
    vault.counter = counter_file(vault).read_bytes()
    log_in(vault, server, "late")
    refresh(vault, check=True)
    define_anew(vault, "gone")
    return copy


def end_and_open(home, end):
    """The vault is shut in the way that `end` says, and open again."""
    if end == "lock":
        vault_command(home, "lock")
        vault_command(home, "unlock")
        return
    if end == "stop":
        home.oauthctl("agent", "stop")
    elif end == "kill":
        home.agent.kill()
    home.agent.restart()


# Whoever kills an agent before it has looked loses what it alone has.
WAYS = [(noticed, end) for noticed in ("by status", "by a login", "by a refresh", "at the end")
        for end in ("stop", "SIGTERM", "lock", "kill") if (noticed, end) != ("at the end", "kill")]


@pytest.mark.parametrize("noticed, end", WAYS)
def test_what_the_agent_alone_has_is_written_into_an_older_vault(vault, server, copied, noticed, end):
    put_over(vault, copied)
    if noticed == "by status":
        assert status(vault)["rolled_back"]
    elif noticed == "by a login":
        log_in(vault, server, "new")
    elif noticed == "by a refresh":
        refresh(vault, check=True)
    if end == "kill":
        # What was to be written is, once what was begun later is.
        vault_command(vault, "backup", vault.root / "after")
        refresh(vault, "late", check=True)
    end_and_open(vault, end)
    assert status(vault)["rolled_back"]
    # They are newer than the rollback, so nothing is held; what was logged out is back, as at any start, and is.
    for name in ["work", "late"] + ["new"] * (noticed == "by a login"):
        refresh(vault, name, check=True)
    assert "older" in refresh(vault, "gone").stderr


@pytest.mark.parametrize("look", ["status", "accept", "backup", "stop"])
def test_a_vault_put_over_together_with_its_counter_is_noticed_while_the_agent_runs(vault, copied, look):
    put_over(vault, copied)
    counter_file(vault).write_bytes(vault.counter)
    if look == "status":
        assert status(vault)["rolled_back"]
    elif look == "accept":
        vault_command(vault, "accept-rollback", "--yes")
    elif look == "backup":
        again = vault.root / "again"
        vault_command(vault, "backup", again)
        put_over(vault, again)
    vault.agent.restart()
    for name in ("work", "late"):
        refresh(vault, name, check=True)


def test_the_newer_vault_that_is_put_over_an_accepted_older_one_counts(vault, server, copied):
    newest = vault.root / "newest"
    vault_command(vault, "backup", newest)
    vault.agent.stop()
    put_over(vault, copied)
    vault.agent.start()
    vault_command(vault, "accept-rollback", "--yes")
    # Made after that, so it is the newest of all.
    log_in(vault, server, "other")
    put_over(vault, newest)
    for step in ("running", "restarted"):
        status(vault)
        refresh(vault, "other", check=True)
        assert vault.oauthctl("get-token", "late").stdout
        vault.oauthctl("get-token", "work")
        if step == "running":
            vault.agent.restart()
    vault_command(vault, "accept-rollback", "--yes")
    for name in ("work", "late", "other"):
        refresh(vault, name, check=True)


@pytest.mark.parametrize("before", ["logged out there", "of another record there"])
def test_the_login_that_first_meets_the_older_vault_is_the_one_that_counts(vault, server, copied, before):
    """The older vault has a login of the account that it is for."""
    name = "gone"
    if before == "logged out there":
        name = "late"
        vault_command(vault, "backup", copied.with_name("newer"))
        copied = copied.with_name("newer")
        vault.oauthctl("logout", name)
    # Nobody looks at the vault between its change and the end of the login.
    browser = vault.bin / "browser"
    started, goes_on = vault.root / "started", vault.root / "goes-on"
    browser.write_text(f'#!/bin/sh\n: >{started}\nuntil [ -e {goes_on} ]; do sleep 0.05; done\n'
                       'exec curl -sSL -o /dev/null "$1"\n')
    login = vault.start(vault.programs / "oauthctl", "login", name)
    wait_until(started.exists, 30, "the browser is started")
    put_over(vault, copied)
    goes_on.touch()
    told = login.communicate(timeout=60)
    assert login.returncode == 0, told
    for step in ("running", "restarted"):
        refresh(vault, name, check=True)
        refresh(vault, check=True)
        if step == "running":
            vault.agent.restart()
    assert vault.agent.log.read_text().count("another program changed the vault while it was open") == 1


@pytest.mark.parametrize("has_counter", [False, True])
def test_nothing_of_a_sealed_vault_goes_into_another_one_with_its_key_file(vault, server, has_counter):
    """An older home is put back under the agent: it opens with the key file that lies in it."""
    vault.agent.stop()
    old = files_of(vault)
    for path in old:
        path.unlink()
    vault.agent.start()
    vault_command(vault, "create", "--anew", "--yes")
    log_in(vault, server)
    seal(vault, "a passphrase")
    ours = vault_file(vault).read_bytes()
    for path, data in old.items():
        if has_counter or path != counter_file(vault):
            path.touch(mode=0o600)
            path.write_bytes(data)
    vault_file(vault).with_name("vault.db-wal").unlink(missing_ok=True)
    refresh(vault)
    told = status(vault)
    assert told["state"] == "damaged" and ours != vault_file(vault).read_bytes(), told
    assert vault.oauthctl("get-token", "work").stdout
    assert vault_file(vault).read_bytes() == old[vault_file(vault)]


@pytest.mark.parametrize("fault", ["mode", "half of it"])
@pytest.mark.parametrize("end", ["stop", "SIGTERM", "lock"])
def test_an_older_vault_that_could_not_be_read_at_first_is_looked_at_again(vault, copied, fault, end):
    put_over(vault, copied)
    if fault == "mode":
        vault_file(vault).chmod(0o644)
    else:
        with open(vault_file(vault), "r+b") as file:
            file.truncate(copied.stat().st_size // 2)
    assert vault_command(vault, "status", check=False).stderr
    if fault == "mode":
        vault_file(vault).chmod(0o600)
    else:
        vault_file(vault).write_bytes(copied.read_bytes())
    end_and_open(vault, end)
    for name in ("work", "late"):
        refresh(vault, name, check=True)


@pytest.mark.parametrize("since", ["forgotten and logged in anew", "forgotten", "refreshed, and the older one failed"])
@pytest.mark.parametrize("older", ["accepted", "held"])
@pytest.mark.parametrize("met_by", ["status", "a refresh"])
def test_the_newest_vault_that_is_put_back_over_an_older_one_counts(home, since, older, met_by):
    """The older one was put there with the agent stopped, and did not do."""
    use_silent_browser(home)
    with Provider() as provider:
        home.agent.start()
        made_vault(home)
        provider.define(home, 'scope = "read"', 'keep = "on-demand"')
        home.oauthctl("login", "work")

        def go_on():
            if since.startswith("refreshed"):
                refresh(home, check=True)
            else:
                define_anew(home)
            if since.endswith("anew"):
                home.oauthctl("login", "work")

        newest = newest_and_older(home, go_on, older)
        if older == "accepted" and since.startswith("refreshed"):
            # What the agent writes of that is no newer token.
            provider.refuses = "503 Service Unavailable"
            assert refresh(home).status != 0
            provider.refuses = False
        put_over(home, newest)
        if met_by == "status":
            vault_command(home, "status")
        elif older == "accepted":
            # It is older than what was written since: nothing is sent before that is accepted, too.
            assert refresh(home).status != 0
        for step in ("running", "restarted"):
            if older == "accepted":
                vault_command(home, "accept-rollback", "--yes", check=False)
            before = provider.tokens
            told = refresh(home)
            assert (told.status == 0) == (since != "forgotten"), (step, told)
            if told.status == 0:
                assert provider.form("refresh_token")["refresh_token"] == f"refresh-{before}"
                home.agent.restart()
