"""A user name and password in a URL of a file, where they do not belong: no command repeats them."""

import pytest

from support.accounts import define


@pytest.mark.parametrize("line", [
    'hosts = ["u:PASSWORD@127.0.0.1:1"]', 'hosts = "https://u:PASSWORD@h.example"',
    'hosts = ["u:PASSWORD#x@h.example"]',
    'hosts = ["ftp://u:PASSWORD ä@h.example"]', 'resource = ["https://u:PASSWORD@h.example/"]',
    'resource = ["u:PASSWORD x@h.example"]', 'audience = ["https://u:PASSWORD@h.example/"]',
    'paths = ["https://u:PASSWORD@h.example/x#"]', 'token_endpoint = "https://u:PASSWORD@h.example/"'])
def test_a_password_in_a_url_is_refused_and_repeated_by_nobody(home, line):
    home.agent.start()
    define(home, "work", 'issuer = "https://id.example"', 'client_id = "c"', line)
    said = [
        home.oauthctl(*command.split(), check=False) for command in (
            "reload", "status", "status --json", "doctor", "account show work", "login work", "get-token work")]
    assert line.split()[0] in said[0].stderr + said[1].stdout, said
    assert [result for result in said if "PASSWORD" in result.stdout + result.stderr] == []


@pytest.mark.parametrize("line", [
    'no_proxy = ["u:PASSWORD@h"]', 'no_proxy = ["u:PASSWORD/x@h"]', 'client_metadata_url = "https://u:PASSWORD@h/x"'])
def test_a_password_in_a_setting_is_repeated_by_nobody(home, line):
    home.agent.start()
    (home.config / "oauthctl").mkdir(exist_ok=True, mode=0o700)
    (home.config / "oauthctl" / "config.toml").write_text(line + "\n")
    said = [home.oauthctl(command, check=False) for command in ("reload", "status", "doctor", "client-metadata")]
    assert line.split()[0] in said[0].stderr + said[1].stdout, said
    assert [result for result in said if "PASSWORD" in result.stdout + result.stderr] == []
