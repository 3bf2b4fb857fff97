"""docs/vault-format.md against the bytes: an independent reader opens the vectors and what our programs wrote."""

import json
import sqlite3
import subprocess
import sys

import nacl.exceptions
import pytest

from vault import reader
from conftest import ROOT
from support.login import get_token, log_in
from support.vault import counter_file, key_file, made_vault, set_passphrase, vault_file

VECTORS = json.loads((ROOT / "Tests" / "TokenVaultTests" / "Vectors" / "vault-format-1.json").read_text())
VAULT_ID, DATA_KEY = bytes.fromhex(VECTORS["vault_id"]), bytes.fromhex(VECTORS["data_key"])
PASSPHRASE = "Zwölf Boxkämpfer jagen Viktor"


def row(slot):
    return (*(slot[name] for name in ("number", "kind", "passes", "memory_kib")),
            *(bytes.fromhex(slot[name]) for name in ("salt", "sealed")))


def key(use):
    return next(bytes.fromhex(vector["key"]) for vector in VECTORS["keys"] if vector["use"] == use)


@pytest.fixture
def planted():
    """The vault of the vectors, in memory."""
    database = sqlite3.connect(":memory:")
    database.executescript("""
        PRAGMA application_id=0x4F417556; PRAGMA user_version=1;
        CREATE TABLE meta (name, value); CREATE TABLE record (row_key, sealed);
        CREATE TABLE slot (number, kind, passes, memory_kib, salt, sealed);""")
    meta = [("format", b"\1\0\0\0"), ("vault_id", VAULT_ID),
            ("catalogue", bytes.fromhex(VECTORS["catalogue"]["sealed"]))]
    database.executemany("INSERT INTO meta VALUES (?, ?)", meta)
    database.executemany("INSERT INTO slot VALUES (?, ?, ?, ?, ?, ?)", map(row, VECTORS["slots"]))
    database.executemany("INSERT INTO record VALUES (?, ?)", [
        [bytes.fromhex(record[name]) for name in ("row_key", "sealed")] for record in VECTORS["records"]])
    yield database
    database.close()


def test_the_reader_derives_the_keys_of_the_vectors():
    for vector in VECTORS["keys"]:
        assert reader.kdf(DATA_KEY, vector["number"], vector["text"].encode()).hex() == vector["key"], vector["use"]
    file = VECTORS["key_file"]
    assert reader.key_in_file(file["line"]).hex() == file["key"]


def test_the_reader_reads_recovery_codes_as_people_type_them():
    vector = VECTORS["recovery_code"]
    for typed in [vector["shown"], *vector["typed"]]:
        assert reader.recovery_code(typed).decode() == vector["hashed"]
    for typed in vector["wrong"]:
        with pytest.raises(reader.Damaged):
            reader.recovery_code(typed)


@pytest.mark.parametrize("slot", VECTORS["slots"], ids=lambda slot: slot["opened_by"])
def test_the_reader_opens_the_vault_of_the_vectors(planted, slot):
    assert reader.wrapping_key(row(slot), slot["secret"]).hex() == slot["wrapping_key"]
    expected = {bytes.fromhex(record["id"]): bytes.fromhex(record["payload"]) for record in VECTORS["records"]}
    vault = reader.read(planted, slot["kind"], slot["secret"])
    assert (vault.records, vault.commit) == (expected, VECTORS["catalogue"]["commit"])


@pytest.mark.parametrize("change", [
    "UPDATE slot SET memory_kib = 8193 WHERE number = 3", "UPDATE record SET sealed = zeroblob(296) WHERE rowid = 2",
    "DELETE FROM record WHERE rowid = 1", "UPDATE slot SET salt = zeroblob(16) WHERE number = 2"])
def test_the_reader_finds_every_change(planted, change):
    planted.execute(change)
    with pytest.raises((reader.Damaged, nacl.exceptions.CryptoError)):
        reader.read(planted, reader.PASSPHRASE, VECTORS["slots"][2]["secret"])


@pytest.mark.parametrize("name", ["catalogue", "rolled_back_catalogue"])
def test_the_reader_reads_both_catalogues(name):
    vector = VECTORS[name]
    plain = reader.open_sealed(
        bytes.fromhex(vector["sealed"]), b"oauthctl.catalogue.1" + VAULT_ID, key("catalogue"))
    commit, expected, _, entries = reader.read_catalogue(plain)
    assert (plain.hex(), commit, expected) == (vector["plaintext"], vector["commit"], vector["expected_commit"])
    assert [entries[bytes.fromhex(record["id"])] for record in VECTORS["records"]] == [
        (record["version"], record["commit"]) for record in VECTORS["records"]]


def test_the_reader_reads_the_counter():
    empty = bytes(64)
    for vector in VECTORS["counter"]:
        assert reader.read_counter(bytes.fromhex(vector["place"]) + empty, VAULT_ID, key("counter")) == vector["commit"]
    file = bytes.fromhex(VECTORS["counter_file"])
    assert reader.read_counter(file, VAULT_ID, key("counter")) == VECTORS["catalogue"]["commit"]
    assert reader.read_counter(file, VAULT_ID, key("slots")) is None


def test_the_reader_opens_a_letter():
    vector = VECTORS["letter"]
    found = reader.read_letter(bytes.fromhex(vector["file"]), vector["name"], VAULT_ID, DATA_KEY)
    assert found == (bytes.fromhex(vector["record_id"]), vector["number"], bytes.fromhex(vector["payload"]))


# What our programs wrote

def accounts(records):
    return {record["name"]: record for record in map(json.loads, records.values())}


def test_the_reader_opens_the_vault_of_our_programs_by_every_slot(home, agent, dot):
    code = made_vault(home)
    log_in(home, dot, "work")
    log_in(home, dot, "other", client="web-app")
    set_passphrase(home, PASSPHRASE)
    tokens = {name: get_token(home, name) for name in ("work", "other")}
    home.agent.stop()
    line = key_file(home).read_text()
    refresh_tokens = {token for kind, token, revoked in dot.issued() if kind == "refresh" and not revoked}
    for kind, secret in [(reader.KEY_FILE, line), (reader.RECOVERY_CODE, code), (reader.PASSPHRASE, PASSPHRASE)]:
        vault = reader.read_file(vault_file(home), kind, secret)
        found = accounts(vault.records)
        assert set(found) == set(tokens)
        for name, token in tokens.items():
            assert [it["access_token"] for it in found[name]["tokens"]] == [token]
            assert found[name]["grant"]["refresh_token"] in refresh_tokens
        assert found["other"]["client_secret"] and not found["work"].get("client_secret")
    with pytest.raises(nacl.exceptions.CryptoError):
        reader.read_file(vault_file(home), reader.PASSPHRASE, PASSPHRASE + "!")
    counter = counter_file(home).read_bytes()
    assert reader.read_counter(counter, vault.id, vault.counter_key) == vault.commit > 4


def test_the_reader_is_a_program_and_opens_a_backup(home, agent, dot):
    made_vault(home)
    log_in(home, dot)
    home.oauthctl("vault", "backup", home.root / "copy")
    result = subprocess.run(
        [sys.executable, reader.__file__, home.root / "copy", "key-file", key_file(home)], capture_output=True,
        text=True, check=True)
    assert json.loads(result.stdout)["tokens"][0]["access_token"] == get_token(home)


def test_the_document_names_the_vectors_and_the_reader():
    document = (ROOT / "docs" / "vault-format.md").read_text()
    for name in ("Tests/TokenVaultTests/Vectors/vault-format-1.json", "Tests/System/vault/reader.py"):
        assert name in document and (ROOT / name).exists()
