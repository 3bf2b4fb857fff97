"""Steps that several tests of the vault take."""

import re
import sqlite3

import pytest

from support.vault import vault_file
from support.wire import WireError

PASSPHRASE, OTHER = "correct horse battery", "staple of another kind"
CODE = re.compile(r"[0-9A-HJKMNP-TV-Z]{5}(?:-[0-9A-HJKMNP-TV-Z]{5}){5}")


def assert_locked(home):
    """A caller is told so, with the command that ends it."""
    result = home.oauthctl("get-token", "work", check=False)
    assert (result.status, result.stdout) == (5, "")
    assert "the vault is locked" in result.stderr and "run: oauthctl vault unlock" in result.stderr


def wire_failure(wire, method, **parameters):
    with pytest.raises(WireError) as refused:
        wire.call(method, **parameters)
    return refused.value


def without_agent(home, change):
    """Change files while no agent runs."""
    home.agent.stop()
    change()
    home.agent.start()


def sql(home, statement, *values):
    database = sqlite3.connect(vault_file(home))
    with database:
        database.execute(statement, values)
    database.close()
