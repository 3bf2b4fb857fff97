"""The proxy comes from the agent's files, never from the environment; its failures are told as its own."""

import pytest

from network.accounts import endpoints, log_in_by_password, write_account, write_settings
from network.identities import Authority
from network.listeners import ConnectProxy, Silent, server_tls
from support.login import get_token, log_in, wait_until

TLS = dict(tls=True, access_ttl=6)


def url(proxy, address="127.0.0.1"):
    return f"http://{address}:{proxy.port}"


def account(home, server, name="work", **keys):
    write_account(home, name, **endpoints(server.issuer), ca_file=str(server.ca_file), **keys)


def place(server):
    return f"localhost:{server.port}"


def refresh(home, server, name="work"):
    """Wait for the next refresh of the account, which its callers cause."""
    mark = server.mark()
    wait_until(lambda: get_token(home, name) and server.refreshes(mark), 30, "a refresh")


@pytest.mark.parametrize(("address", "written"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
def test_an_account_s_proxy_carries_login_and_refresh(home, agent, world, address, written):
    server = world(**TLS)
    with ConnectProxy(address=address) as proxy:
        account(home, server, proxy=url(proxy, written))
        log_in_by_password(home, "work")
        assert proxy.targets == [place(server)]
        refresh(home, server)
        assert len(proxy.targets) >= 2 and set(proxy.targets) == {place(server)}
        # The proxy carries encrypted bytes: it learns where a request goes, and nothing else of it.
        names = {line.split(":")[0].lower() for head in proxy.heads for line in head.split("\r\n")[1:] if line}
        assert names <= {"host", "proxy-connection"}


@pytest.mark.parametrize("exceptions", [[], ["example.org", ".internal"], ["localhost"], ["*"], ["localhost:{port}"]])
def test_config_toml_names_the_proxy_of_all_accounts_and_its_exceptions(home, agent, world, exceptions):
    server = world(**TLS)
    exceptions = [entry.format(port=server.port) for entry in exceptions]
    with ConnectProxy() as proxy:
        write_settings(home, proxy=url(proxy), no_proxy=exceptions)
        account(home, server)
        log_in_by_password(home, "work")
        is_excepted = bool({"localhost", "*", place(server)} & set(exceptions))
        assert proxy.targets == ([] if is_excepted else [place(server)])


def test_a_range_of_addresses_excepts_those_in_it_and_no_name(home, agent, world):
    """A name is not resolved for it: only the proxy may know how."""
    server = world(**TLS)
    with ConnectProxy() as proxy:
        write_settings(home, proxy=url(proxy), no_proxy=["127.0.0.0/8"])
        write_account(home, "work", **endpoints(f"https://127.0.0.1:{server.port}"), ca_file=str(server.ca_file))
        log_in_by_password(home, "work")
        assert proxy.targets == []
        account(home, server, "named")
        log_in_by_password(home, "named")
        assert proxy.targets == [place(server)]


def test_discovery_goes_through_the_proxy_too(home, agent, world):
    server = world(**TLS)
    with ConnectProxy() as proxy:
        write_settings(home, proxy=url(proxy))
        home.oauthctl("reload")
        log_in(home, server)
        assert len(proxy.targets) >= 2 and set(proxy.targets) == {place(server)}


def test_a_new_proxy_in_config_toml_needs_no_new_login(home, agent, world):
    """Another network, another proxy: the next refresh goes through it."""
    server = world(**TLS)
    account(home, server)
    log_in_by_password(home, "work")
    with ConnectProxy() as proxy:
        write_settings(home, proxy=url(proxy))
        home.oauthctl("reload")
        refresh(home, server)
        assert place(server) in proxy.targets


def test_a_new_proxy_in_the_account_is_asked_about_first(home, agent, world):
    server = world(**TLS)
    account(home, server)
    log_in_by_password(home, "work")
    with ConnectProxy() as proxy:
        account(home, server, proxy=url(proxy))
        home.oauthctl("reload")
        mark = server.mark()
        failed = wait_until(
            lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 30, "a failure")
        assert failed.status == 3 and "account accept work" in failed.stderr, failed
        assert proxy.targets == [] and server.refreshes(mark) == []


def test_the_environment_s_proxy_is_not_used(home, world):
    server = world(**TLS)
    with ConnectProxy() as proxy:
        names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"]
        home.environment |= {name: url(proxy) for name in names}
        home.agent.start()
        account(home, server)
        log_in_by_password(home, "work")
        assert get_token(home) and proxy.connections == 0


def test_a_half_written_config_toml_keeps_the_proxy(home, agent, world):
    server = world(**TLS)
    with ConnectProxy() as proxy:
        write_settings(home, proxy=url(proxy))
        account(home, server)
        log_in_by_password(home, "work")
        file = home.config / "oauthctl" / "config.toml"
        file.write_text(file.read_text()[:-3])
        result = home.oauthctl("reload", check=False)
        assert result.status == 3 and "config.toml" in result.stderr, result
        count = len(proxy.targets)
        refresh(home, server)
        assert len(proxy.targets) > count


@pytest.mark.parametrize(
    ("proxy", "words"),
    [
        (lambda: ConnectProxy(password="user:word"), ["407"]),
        (lambda: ConnectProxy(refuse="403 Forbidden"), ["403"]),
        (lambda: ConnectProxy(refuse="502 Bad Gateway"), ["502"]),
        (Silent, ["tim"]),
        (None, ["127.0.0.1 port"]),
    ],
    ids=["wants a password", "forbids it", "cannot reach it", "is silent", "is not there"])
def test_a_proxy_that_fails_is_named_and_costs_no_login(home, agent, world, proxy, words):
    server = world(**TLS)
    account(home, server)
    log_in_by_password(home, "work")
    mark = server.mark()
    with (proxy or ConnectProxy)() as listener:
        if not proxy:
            listener.__exit__()
        write_settings(home, proxy=url(listener))
        home.oauthctl("reload")
        failed = wait_until(
            lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 40, "a failure")
        assert (failed.status, failed.stdout) == (6, ""), failed
        assert [word for word in words if word not in failed.stderr.lower()] == [], failed.stderr
        if not isinstance(listener, Silent):
            assert f"the proxy {url(listener)} (of config.toml)" in failed.stderr, failed.stderr
        assert server.refreshes(mark) == []
    write_settings(home)
    home.oauthctl("reload")
    wait_until(lambda: home.oauthctl("get-token", "work", check=False).status == 0, 60, "a token again")


def test_a_proxy_whose_certificate_is_refused_is_named_and_not_the_server(home, agent, world, scratch):
    server = world(**TLS)
    with ConnectProxy(tls=server_tls(Authority(scratch / "stranger").issue("proxy"))) as proxy:
        account(home, server, proxy=f"https://localhost:{proxy.port}")
        failed = log_in_by_password(home, "work", check=False)
        assert failed.status == 6 and f"the proxy https://localhost:{proxy.port}" in failed.stderr, failed
        assert "certificate" in failed.stderr and "check the server's address" not in failed.stderr, failed
        assert proxy.targets == []


def test_a_login_by_a_proxy_that_is_not_there_sends_nobody_to_the_server(home, agent, world):
    server = world(**TLS)
    with ConnectProxy() as proxy:
        pass
    write_settings(home, proxy=url(proxy))
    home.oauthctl("reload")
    told = log_in(home, server, check=False)
    assert told.status == 6 and f"the proxy {url(proxy)} (of config.toml) does not lead there" in told.stderr, told
    assert "oauthctl setup proxy --remove" in told.stderr and "the server cannot be reached" not in told.stderr, told


def test_setup_proxy_takes_the_shell_s_over_when_asked(home, agent, world):
    server = world(**TLS)
    settings = home.config / "oauthctl" / "config.toml"
    with ConnectProxy() as proxy:
        shell = {"HTTPS_PROXY": url(proxy) + "/", "NO_PROXY": "example.org,10.0.0.0/8,a/b"}
        shown = home.oauthctl("setup", "proxy", "--dry-run", environment=shell)
        assert url(proxy) in shown.stderr and not settings.exists()
        assert home.oauthctl("setup", "proxy", environment=shell, check=False).status != 0, "it did not ask"
        result = home.oauthctl("setup", "proxy", "--yes", environment=shell)
        assert "a/b is neither" in result.stderr
        assert settings.read_text() == f'proxy = "{url(proxy)}"\nno_proxy = ["example.org", "10.0.0.0/8"]\n'
        account(home, server)
        log_in_by_password(home, "work")
        assert proxy.targets == [place(server)]
        home.oauthctl("setup", "proxy", "--remove", "--yes")
        refresh(home, server)
        assert proxy.targets == [place(server)] and settings.read_text() == ""


def test_setup_proxy_shows_and_writes_no_password_and_keeps_the_lines_of_others(home, agent):
    settings = home.config / "oauthctl" / "config.toml"
    for option in ("--dry-run", "--yes"):
        refused = home.oauthctl(
            "setup", "proxy", option, environment={"https_proxy": "http://me:s3cret@p.example:3128"}, check=False)
        assert refused.status == 3 and "s3cret" not in refused.stderr and not settings.exists(), refused
    settings.parent.mkdir(mode=0o700, exist_ok=True)
    settings.write_bytes(b'proxy = "http://p:1"\r\nlog_level = "debug"\r\n')
    settings.chmod(0o600)
    home.oauthctl("setup", "proxy", "--remove", "--yes")
    assert settings.read_bytes() == b'log_level = "debug"\r\n'


def test_setup_proxy_takes_the_proxy_out_of_a_file_with_a_byte_order_mark(home, agent, world):
    server = world(**TLS)
    account(home, server)
    with ConnectProxy() as proxy:
        write_settings(home, proxy=url(proxy))
        file = home.config / "oauthctl" / "config.toml"
        file.write_text("\ufeff" + file.read_text())
        home.oauthctl("reload")
        log_in_by_password(home, "work")
        assert proxy.targets == [place(server)]
        home.oauthctl("setup", "proxy", "--remove", "--yes")
        refresh(home, server)
        assert proxy.targets == [place(server)]


@pytest.mark.parametrize("lines", [
    'proxy = "http://127.0.0.1:1"\nproxy = "http://127.0.0.1:2"\n', '"pro\\u0078y" = "http://127.0.0.1:1"\n'],
    ids=["twice", "escaped"])
def test_setup_proxy_says_where_it_cannot_take_a_proxy_out(home, agent, lines):
    write_settings(home)
    file = home.config / "oauthctl" / "config.toml"
    file.write_text(lines)
    told = home.oauthctl("setup", "proxy", "--remove", "--yes", check=False)
    assert told.status == 3 and "which this command does not change" in told.stderr, told
    assert file.read_text() == lines


def test_setup_proxy_takes_back_what_the_agent_refuses(home, agent):
    shell = {"HTTPS_PROXY": "http://user:word@proxy.example:3128"}
    result = home.oauthctl("setup", "proxy", "--yes", environment=shell, check=False)
    assert result.status == 3 and "user name or password" in result.stderr, result
    assert not (home.config / "oauthctl" / "config.toml").exists()
