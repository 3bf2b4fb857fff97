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
