"""Helpers that an older git tells the token after ours."""

import pytest

from support.login import log_in


@pytest.mark.parametrize("way", ["other", "every label", "capitals", "slash", "folder", "file"])
def test_helpers_that_git_asks_after_ours_are_named(home, agent, dot, way):
    """An older git passes the token on to them, and `store` writes it down."""
    log_in(home, dot)
    home.oauthctl("setup", "git", "--yes")
    config, port = home.root / ".gitconfig", dot.issuer.rpartition(":")[2]
    lines = {
        "other": '[credential "http://127.0.0.2"]', "every label": f'[credential "http://*:{port}"]',
        "capitals": f'[credential "HTTP://Localhost:{port}"]', "slash": f'[credential "{dot.issuer}/"]',
        "file": "[include]\n\tpath = more\n[user]",
        "folder": f'[includeIf "gitdir:{home.root}/repo/"]\n\tpath = more\n[user]',
    }
    (home.root / "more").write_text("[credential]\n\thelper = pass-on\n")
    config.write_text(config.read_text() + lines[way] + "\n\thelper = pass-on\n")
    told = home.oauthctl("setup", "git", "--yes").stderr, home.oauthctl("doctor", check=False).stdout
    assert all(("pass-on" in said) == (way != "other") for said in told), told


@pytest.mark.parametrize("section", ["[credential]", '[credential "http://127.0.0.1:*"]', "[credential \"{url}/\"]"])
def test_an_empty_helper_behind_ours_is_told(home, agent, dot, section):
    """git then asks us for nothing, and a person for a password, which would go to the server."""
    log_in(home, dot)
    config = home.root / ".gitconfig"
    config.write_text(f'[credential "{dot.issuer}"]\n\thelper =\n{section.format(url=dot.issuer)}\n\thelper =\n')
    for _ in range(2):
        told = home.oauthctl("setup", "git", "--yes", check=False)
        ours = home.run("git", "credential", "fill", stdin=f"url={dot.issuer}\n\n", check=False, environment={
            **home.environment, "GIT_TERMINAL_PROMPT": "0"}).stdout
        assert ("password=" in ours) == (told.status == 0), (told, ours)
        if told.status:
            assert "does not ask oauthctl for" in told.stderr and "Done" not in told.stderr + told.stdout, told
            assert str(config) in told.stderr or "~/.gitconfig" in told.stderr, told
    doctor = home.oauthctl("doctor", check=False).stdout
    assert ("an empty helper behind oauthctl's" in doctor) == bool(told.status), doctor
