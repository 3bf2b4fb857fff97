"""An older vault that is put over the one of a running agent that has a crowd of accounts."""

import os

import pytest

from attacks.test_vault_put_over import put_over
from crowd.oracle import Verdict
from crowd.steps import LONG, fleet, size, tell
from support.vault import vault_command

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a boot clock of the agent's own")


@pytest.mark.parametrize("end", ["stop", "lock"])
def test_no_login_of_a_crowd_is_lost_behind_an_older_vault(fleet, tell, end):
    """The copy has old refresh tokens of one half, and nothing of the other."""
    count = size(120, 1000)
    server = fleet.server("a", life=LONG)
    names = fleet.define(server, count)
    fleet.start()
    fleet.log_in(names[::2])
    copy = fleet.home.root / "copy"
    vault_command(fleet.home, "backup", copy)
    fleet.log_in(names[1::2])
    assert not any(answer.error for answer in fleet.force(names, connections=20))
    before = fleet.processor_seconds()
    put_over(fleet.home, copy)
    if end == "lock":
        seconds = fleet.lock()
        spent = fleet.processor_seconds() - before
        fleet.unlock()
    else:
        seconds, spent = fleet.terminate(), 0
        fleet.start()
    tell({"accounts": count, "seconds": seconds, "processor, s": spent})
    assert server.accepts({name: kept.token for name, kept in fleet.kept().items()}) == dict.fromkeys(names, True)
    assert not any(answer.error for answer in fleet.force(names, connections=20))
    assert Verdict(fleet, names).broken == {}
