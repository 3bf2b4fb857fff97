"""Accounts for tests of the network, written as people write them: a file, then a login by password."""

import json

from world.accounts import PASSWORD, USER


def write_account(home, name, **keys):
    """`accounts.d/NAME.toml` with these keys; the default client is the one of the password grant."""
    keys = {
        "client_id": "legacy", "grant": "password", "client_authentication": "client_secret_basic", "username": USER,
        "scope": ["read"], **keys}
    folder = home.config / "oauthctl" / "accounts.d"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # JSON's strings and arrays of strings are TOML's.
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items() if value is not None)
    (folder / f"{name}.toml").write_text(text)


def write_settings(home, **keys):
    """`config.toml` of the agent with these keys."""
    folder = home.config / "oauthctl"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "config.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()))


def endpoints(base):
    """The password grant needs no discovery: where a token comes from is written down."""
    return {"issuer": base, "token_endpoint": base + "/token/"}


def log_in_by_password(home, name, secret="legacy-secret", check=True):
    """`oauthctl login` of an account whose file is there."""
    home.oauthctl("reload")
    home.oauthctl("secret", "set", name, "client_secret", stdin=secret + "\n")
    return home.oauthctl("login", name, "--password-stdin", stdin=PASSWORD + "\n", check=check)
