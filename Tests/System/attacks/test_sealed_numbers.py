"""Vaults that somebody has sealed by hand, with numbers that no agent writes. Whoever makes a vault knows its key."""

import json
import os
import sqlite3
import struct

import pytest
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt

from support.vault import key_file, vault_command, vault_file
from vault.reader import kdf, key_in_file, mac, open_sealed, parameters, read_catalogue

GREATEST = (1 << 64) - 1
CATALOGUES = {
    "commit": {"commit": GREATEST}, "expected commit": {"expected": GREATEST}, "version": {"version": GREATEST}}
RECORDS = {
    "life": ("tokens", 0, "life_s"), "boot time": ("tokens", 0, "received", "boot_s"),
    "wall time": ("grant", "logged_in", "wall_s"), "number": ("order",), "number of the login": ("grant", "order")}


def sealed(plain, bound, key):
    nonce = os.urandom(24)
    return nonce + crypto_aead_xchacha20poly1305_ietf_encrypt(plain, bound, nonce, key)


def padded(plain):
    return plain + bytes(-len(plain) % 256)


def seal_by_hand(path, key_line, commit=None, expected=None, version=None, change=lambda record: None):
    """Writes the vault at `path`, of one record, anew with other numbers and with what `change` makes of the record."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    meta = dict(database.execute("SELECT name, value FROM meta"))
    vault_id = meta["vault_id"]
    slot = database.execute("SELECT number, kind, passes, memory_kib, salt, sealed FROM slot WHERE kind = 1").fetchone()
    data = open_sealed(
        slot[5], b"oauthctl.slot.1" + vault_id + parameters(slot), kdf(key_in_file(key_line), 1, b"oavkeyfl"))
    record_key, catalogue_key, row_key = [kdf(data, number, b"oauthctl") for number in (1, 2, 3)]
    bound = b"oauthctl.catalogue.1" + vault_id
    last, before, slots, entries = read_catalogue(open_sealed(meta["catalogue"], bound, catalogue_key))
    last, before = last if commit is None else commit, before if expected is None else expected
    ((record_id, (old, written)),) = entries.items()
    new = old if version is None else version
    row = mac(row_key, record_id, 32)
    (text,) = database.execute("SELECT sealed FROM record WHERE row_key = ?", [row]).fetchone()
    numbers = b"oauthctl.record.1" + vault_id + record_id
    plain = open_sealed(text, numbers + struct.pack("<QQ", old, written), record_key)
    (count,) = struct.unpack_from("<I", plain, 4)
    record = json.loads(plain[8:8 + count])
    change(record)
    payload = json.dumps(record).encode()
    database.execute("UPDATE record SET sealed = ? WHERE row_key = ?", [sealed(
        padded(struct.pack("<II", 1, len(payload)) + payload), numbers + struct.pack("<QQ", new, written),
        record_key), row])
    catalogue = struct.pack("<IQQI", 1, last, before, len(slots))
    catalogue += b"".join(struct.pack("<I16s", *slot) for slot in sorted(slots.items()))
    catalogue += struct.pack("<I16sQQ", 1, record_id, new, written)
    database.execute(
        "UPDATE meta SET value = ? WHERE name = 'catalogue'", [sealed(padded(catalogue), bound, catalogue_key)])
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def put_in_place(home, copy):
    home.agent.stop()
    for file in vault_file(home).parent.glob("vault.db*"):
        file.unlink()
    vault_file(home).write_bytes(copy.read_bytes())
    vault_file(home).chmod(0o600)
    home.agent.start()


def survives(home):
    for command in (["vault", "status"], ["status"], ["account", "show", "work"], ["get-token", "work"],
                    ["vault", "accept-rollback", "--yes"], ["get-token", "work", "--force"], ["logout", "work"]):
        home.oauthctl(*command, check=False)
        assert home.agent.is_running, command


@pytest.fixture
def copy(vault):
    copy = vault.root / "copy"
    vault_command(vault, "backup", copy)
    return copy


@pytest.mark.parametrize("case", CATALOGUES)
def test_a_catalogue_with_the_greatest_number_is_damaged_and_ends_no_agent(vault, copy, case):
    seal_by_hand(copy, key_file(vault).read_text(), **CATALOGUES[case])
    told = vault_command(vault, "check", copy, check=False)
    assert told.status != 0 and "damaged" in told.stderr, told
    put_in_place(vault, copy)
    assert "vault damaged" in vault_command(vault, "status", check=False).stdout
    survives(vault)


@pytest.mark.parametrize("value", ["1e300", "-1e300", str((1 << 63) - 1)])
@pytest.mark.parametrize("case", RECORDS)
def test_a_record_with_a_number_that_cannot_be_counted_on_ends_no_agent(vault, copy, case, value):
    def change(record):
        *way, last = RECORDS[case]
        for step in way:
            record = record[step]
        record[last] = json.loads(value)

    seal_by_hand(copy, key_file(vault).read_text(), change=change)
    put_in_place(vault, copy)
    survives(vault)
