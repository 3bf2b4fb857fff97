"""A fault that somebody has mended is told no more and holds nothing back, and what is told of one is what mends it."""

from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority
from network.listeners import Portal, server_tls
from support.login import wait_until
from support.terminal import run_at_terminal
from support.unattended import refresh
from support.vault import counter_file, vault_file

GRANTED = '{"access_token":"t-0123456789","token_type":"Bearer","expires_in":3600,"refresh_token":"r"}'


def test_a_commit_counter_that_can_be_written_again_is_told_no_more(work):
    counter_file(work).chmod(0o666)
    refresh(work, check=True)
    told = work.oauthctl("status", check=False).stdout
    assert f"{work.shown(counter_file(work))} could be read or changed by others: chmod 600" in told, told
    told = work.oauthctl("doctor", check=False).stdout
    assert f"run: chmod 600 {work.shown(counter_file(work))}\n" in told, told
    counter_file(work).chmod(0o600)
    assert "vault.commits" not in work.oauthctl("status").stdout
    assert "vault.commits" not in work.oauthctl("doctor", check=False).stdout


def test_a_commit_counter_that_can_be_read_again_holds_no_refresh_back(work):
    work.agent.stop()
    counter_file(work).chmod(0o666)
    work.agent.start()
    page = work.oauthctl("status").stdout
    assert "nothing here can tell" in page and "accept-rollback" not in page, page
    assert refresh(work).status == 5
    counter_file(work).chmod(0o600)
    refresh(work, check=True)
    assert "vault.commits" not in work.oauthctl("status").stdout
    assert "Nothing to accept" in work.oauthctl("vault", "accept-rollback").stderr


def test_a_file_whose_mode_is_put_right_is_read_for_the_next_who_asks(work):
    """For up to a second the old fault was told, and the token refused."""
    file = work.config / "oauthctl/accounts.d/work.toml"
    folder = file.parent
    for place, mode, right in ((file, 0o666, 0o600), (folder, 0o777, 0o700)):
        for command in ("get-token work", "status --check", "doctor work"):
            # The definition that the last agent had read holds no more.
            work.agent.stop()
            place.chmod(mode)
            work.agent.start()
            refused = work.oauthctl("get-token", "work", check=False)
            assert refused.status == 3 and f"run: chmod go-w {work.shown(place)}" in refused.stderr, refused
            place.chmod(right)
            told = work.oauthctl(*command.split(), check=False)
            assert "chmod" not in told.stdout + told.stderr and told.status == 0, (command, told)


def test_an_authority_that_is_put_back_is_noticed_by_the_next_who_asks(home, agent):
    authority, own = Authority(home.root / "authority"), home.root / "ca.pem"
    good, other = authority.file.read_bytes(), Authority(home.root / "other").file.read_bytes()
    own.write_bytes(good)
    with Portal("200 OK", GRANTED, tls=server_tls(authority.issue("localhost"))) as server:
        write_account(home, "work", **endpoints(f"https://localhost:{server.port}"), ca_file=str(own))
        log_in_by_password(home, "work")
        for look in (["get-token", "work", "--force"], ["status", "--check"]):
            own.write_bytes(other)
            home.oauthctl("reload")
            refused = refresh(home)
            assert refused.status == 3 and f"put {home.shown(own)} back as it was" in refused.stderr, refused
            own.write_bytes(good)
            home.oauthctl(*look)


def test_an_authority_that_was_away_at_an_unlock_is_noticed_by_the_next_who_asks(home, agent):
    authority, own = Authority(home.root / "authority"), home.root / "ca.pem"
    away = home.root / "away.pem"
    own.write_bytes(authority.file.read_bytes())
    with Portal("200 OK", GRANTED, tls=server_tls(authority.issue("localhost"))) as server:
        write_account(home, "work", **endpoints(f"https://localhost:{server.port}"), ca_file=str(own))
        log_in_by_password(home, "work")
        git = {"stdin": f"protocol=https\nhost=localhost:{server.port}\n\n", "check": False}
        for words, options in (
                (["get-token", "work"], {"check": False}), (["git-credential", "get"], git),
                (["status"], {"check": False})):
            home.oauthctl("vault", "lock")
            own.rename(away)
            home.oauthctl("vault", "unlock")
            refused = home.oauthctl("get-token", "work", check=False)
            assert refused.status == 3 and f"ca_file: {home.shown(own)} does not exist" in refused.stderr, refused
            # What cannot be read cannot be accepted.
            accepted = home.oauthctl("account", "accept", "work", check=False)
            assert accepted.status == 3 and f"{home.shown(own)} does not exist" in accepted.stderr, accepted
            away.rename(own)
            told = wait_until(
                lambda: (it := home.oauthctl(*words, **options)) and "does not exist" not in it.stdout + it.stderr
                and it, 5, f"{words}: it is there again")
            assert told.status == 0, told


def test_setup_git_keeps_an_authority_that_a_locked_vault_does_not_tell(home, agent):
    authority = Authority(home.root / "authority")
    with Portal("200 OK", GRANTED, tls=server_tls(authority.issue("localhost"))) as server:
        url = f"https://localhost:{server.port}"
        write_account(home, "work", **endpoints(url), ca_file=str(authority.file))
        log_in_by_password(home, "work")
        home.oauthctl("setup", "git", "--yes")
        key = ("git", "config", "--global", f"http.{url}.sslCAInfo")
        named = home.run(*key).stdout
        other = {"GIT_SSL_CAINFO": "/etc/ssl/certs/ca-certificates.crt"}
        for command in (["setup", "git", "--yes"], ["doctor"]):
            result = home.oauthctl(*command, check=False, environment=other)
            assert "unset GIT_SSL_CAINFO" in result.stdout + result.stderr, result
        home.oauthctl("vault", "lock")
        assert "vault is locked" in home.oauthctl("setup", "git", "--yes").stderr
        assert home.run(*key).stdout == named
        home.oauthctl("vault", "unlock")
        home.run(*key[:3], "--unset-all", key[3])
        assert "does not know the authority" in home.oauthctl("doctor", check=False).stdout


def test_a_vault_in_the_usual_folder_is_told_and_not_called_gone(work):
    work.agent.stop()
    usual = work.root / ".local/share/oauthctl"
    usual.parent.mkdir(parents=True, exist_ok=True)
    vault_file(work).parent.rename(usual)
    told = "unset XDG_DATA_HOME"
    assert told in work.oauthctl("doctor", check=False).stdout
    work.agent.start()
    for command in (["status"], ["get-token", "work"], ["vault", "unlock"], ["doctor"]):
        result = work.oauthctl(*command, check=False)
        said = result.stdout + result.stderr
        assert f"there is one at {work.shown(usual)}/vault.db" in said and told in said and "--anew" not in said, said


def test_a_vault_that_cannot_be_read_is_told_by_every_command_before_it_asks_for_anything(work):
    work.agent.stop()
    vault_file(work).parent.chmod(0o755)
    work.agent.start()
    for command in (["unlock"], ["unlock", "--recovery-code"], ["accept-rollback"], ["slots"]):
        result = work.oauthctl("vault", *command, check=False)
        step = f"run: chmod 700 {work.shown(vault_file(work).parent)}"
        assert result.status == 5 and step in result.stderr, (command, result)
    page = work.oauthctl("status").stdout
    assert any(line.split()[:3] == ["work", "not", "known"] for line in page.splitlines())
    assert work.oauthctl("doctor", check=False).lines[-1] == "1 thing is wrong."
    vault_file(work).parent.chmod(0o700)
    refresh(work, check=True)


def test_a_socket_that_was_named_is_named_otherwise(home):
    folder = home.root / "everybody-s"
    folder.mkdir()
    folder.chmod(0o777)
    for command in (["status"], ["doctor"]):
        result = home.oauthctl(*command, check=False, environment={"OAUTHCTL_SOCKET": str(folder / "x")})
        said = result.stdout + result.stderr
        assert "unset OAUTHCTL_SOCKET" in said and f"{folder.name} yours alone" not in said, said


def test_a_ca_file_without_a_certificate_is_named_before_anything_is_sent(home, agent):
    junk = home.root / "junk.pem"
    junk.write_text("-----BEGIN PRIVATE KEY-----\n")
    refused = home.oauthctl("login", "work", "https://localhost:1", "--client-id", "x", "--ca", junk, check=False)
    assert refused.status == 64 and f"{home.shown(junk)}: it holds no certificate" in refused.stderr


def test_a_backup_says_what_is_not_in_it_and_a_check_names_its_file(work):
    told = work.oauthctl("vault", "backup", work.root / "a b;touch pwned").stderr
    assert f"oauthctl vault check '{work.root}/a b;touch pwned'\n" in told
    account_files, key_file = told.splitlines()[-2:]
    assert account_files == "The account files are not in it. Copy them too: ~/config/oauthctl"
    assert key_file == "The key file is not in it either. On another machine it opens by the recovery code."
    (work.root / "junk").write_text("junk")
    checked = work.oauthctl("vault", "check", work.root / "junk", check=False)
    assert checked.status == 5 and "~/junk: that file is no vault" in checked.stderr
    missing = work.oauthctl("vault", "backup", "/nosuch/x", check=False)
    assert missing.status == 3 and "cannot create /nosuch/x:" in missing.stderr


def test_a_backup_that_may_not_grow_says_so(work):
    """The signal for that ended the command without a word."""
    target = work.root / "copy.vault"
    command = work.programs / "oauthctl", "vault", "backup", target
    told = work.run("sh", "-c", 'ulimit -f 0 && exec "$@"', "sh", *command, check=False)
    assert told.status == 3 and f"cannot write {work.shown(target)}: File too large" in told.stderr, told
    assert not target.exists()


def test_whoever_accepts_an_older_vault_is_told_what_it_may_cost(work):
    work.agent.stop()
    counter_file(work).unlink()
    work.agent.start()
    status, said = run_at_terminal(
        work, work.programs / "oauthctl", "vault", "accept-rollback", answers={"[y/N]": "n\n"})
    assert status == 1 and "on another machine, may end" in said, said
