"""Reads a vault by docs/vault-format.md alone: no code of ours, PyNaCl and Python's own SQLite and BLAKE2b.

    python vault_reader.py VAULT.DB key-file FILE           or   recovery-code   or   passphrase   (on standard input)

prints every record as JSON. It works on a copy and takes no lock: read a backup, or a vault whose agent has ended.
"""

import base64
import hashlib
import json
import shutil
import sqlite3
import struct
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt, crypto_box_seal_open, crypto_box_seed_keypair
from nacl.pwhash import argon2id

KEY_FILE, RECOVERY_CODE, PASSPHRASE = 1, 2, 3
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

# `records`: {record id: payload}; `keys`: the data key and the five that come of it
Vault = namedtuple("Vault", "id commit expected_commit records counter_key keys")


class Damaged(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Damaged(what)


def kdf(key, number, text):
    return hashlib.blake2b(b"", key=key, digest_size=32, salt=struct.pack("<QQ", number, 0), person=text).digest()


def mac(key, data, count):
    return hashlib.blake2b(data, key=key, digest_size=count).digest()


def open_sealed(sealed, bound, key):
    return crypto_aead_xchacha20poly1305_ietf_decrypt(sealed[24:], bound, sealed[:24], key)


def argon2(secret, salt, passes, memory_kib):
    require(1 <= passes <= 16 and 8_192 <= memory_kib <= 2_097_152 and len(salt) == 16, "cost of a guess")
    return argon2id.kdf(32, secret, salt, opslimit=passes, memlimit=memory_kib * 1024)


def key_in_file(line):
    label, key, check = line.removesuffix("\n").split(" ")
    digest = hashlib.sha256(f"{label} {key}".encode()).hexdigest()
    require(label == "oauthctl-key-1" and digest[:8] == check, "key file")
    return base64.urlsafe_b64decode(key + "=")


def recovery_code(typed):
    code = "".join(typed.upper().replace("-", "").split()).translate(str.maketrans("OIL", "011"))
    digest = hashlib.sha256(b"oauthctl recovery code 1:" + code[:25].encode()).digest()
    bits = int.from_bytes(digest[:4], "big") >> 7
    require(code[25:] == "".join(ALPHABET[bits >> shift & 31] for shift in (20, 15, 10, 5, 0)), "recovery code")
    return code.encode()


def wrapping_key(slot, secret):
    """`secret`: the key file's line, or what a person types."""
    _, kind, passes, memory_kib, salt, _ = slot
    if kind == KEY_FILE:
        return kdf(key_in_file(secret), 1, b"oavkeyfl")
    typed = recovery_code(secret) if kind == RECOVERY_CODE else secret.encode()
    return argon2(typed, salt, passes, memory_kib)


def parameters(slot):
    number, kind, passes, memory_kib, salt, _ = slot
    return struct.pack("<5I", number, kind, passes, memory_kib, len(salt)) + salt


def unpadded(plain, end):
    require(len(plain) % 256 == 0 and len(plain) - end < 256 and not any(plain[end:]), "padding")


def read_catalogue(plain):
    """(commit, expected commit, {slot number: fingerprint}, {record id: (version, commit)})"""
    format_number, commit, expected, slot_count = struct.unpack_from("<IQQI", plain)
    require(format_number == 1, "format of the catalogue")
    end = 24 + 20 * slot_count
    slots = dict(struct.unpack_from("<I16s", plain, 24 + 20 * index) for index in range(slot_count))
    (record_count,) = struct.unpack_from("<I", plain, end)
    entries = [struct.unpack_from("<16sQQ", plain, end + 4 + 32 * index) for index in range(record_count)]
    unpadded(plain, end + 4 + 32 * record_count)
    return commit, expected, slots, {id: (version, written) for id, version, written in entries}


def read_record(plain):
    format_number, count = struct.unpack_from("<II", plain)
    require(format_number == 1, "format of a record")
    unpadded(plain, 8 + count)
    return plain[8:8 + count]


def read_counter(file, vault_id, key):
    """The commit in the counter's bytes; None where they are not this vault's."""
    places = [place for place in (file[:64], file[64:]) if place[:16] == vault_id]
    return max((struct.unpack_from("<Q", place, 16)[0] for place in places if place[32:] == mac(key, place[:32], 32)),
               default=None)


def read_letter(file, name, vault_id, data_key):
    """(record id, number, payload) of a file of `letters/`."""
    require(file[:20] == struct.pack("<I", 1) + vault_id, "whose letter")
    public, secret = crypto_box_seed_keypair(kdf(data_key, 6, b"oauthctl"))
    plain = crypto_box_seal_open(file[20:], public, secret)
    format_number, vault, record, number, count = struct.unpack_from("<I16s16sQI", plain)
    require((format_number, vault) == (1, vault_id), "head of the letter")
    unpadded(plain, 48 + count)
    tag = hashlib.sha256(b"oauthctl.letter.1" + vault_id + record).hexdigest()[:32]
    require(name == f"{tag}-{number:016x}", "name of the letter")
    return record, number, plain[48:48 + count]


def read(database, kind, secret):
    """The vault in an SQLite connection, opened by its slot of `kind`."""
    rows = lambda query: database.execute(query).fetchall()
    require(rows("PRAGMA application_id") == [(0x4F417556,)] and rows("PRAGMA user_version") == [(1,)], "not a vault")
    meta = dict(rows("SELECT name, value FROM meta"))
    require(set(meta) == {"format", "vault_id", "catalogue"} and meta["format"] == b"\1\0\0\0", "meta")
    vault_id, slots = meta["vault_id"], rows("SELECT number, kind, passes, memory_kib, salt, sealed FROM slot")
    (slot,) = [slot for slot in slots if slot[1] == kind]
    data_key = open_sealed(slot[5], b"oauthctl.slot.1" + vault_id + parameters(slot), wrapping_key(slot, secret))
    keys = [data_key, *(kdf(data_key, number, b"oauthctl") for number in range(1, 6))]
    _, records, catalogue, names, counter, fingerprints = keys
    commit, expected, marks, entries = read_catalogue(
        open_sealed(meta["catalogue"], b"oauthctl.catalogue.1" + vault_id, catalogue))
    require(marks == {slot[0]: mac(fingerprints, parameters(slot) + slot[5], 16) for slot in slots}, "slots")
    sealed = dict(rows("SELECT row_key, sealed FROM record"))
    named = {mac(names, id, 32): id for id in entries}
    require(set(named) == set(sealed), "rows of record")
    return Vault(vault_id, commit, expected, {id: read_record(open_sealed(
        sealed[name], b"oauthctl.record.1" + vault_id + id + struct.pack("<QQ", *entries[id]), records))
        for name, id in named.items()}, counter, keys)


def read_file(path, kind, secret):
    with tempfile.TemporaryDirectory() as folder:
        for file in Path(path).parent.glob(Path(path).name + "*"):
            if file.name in (Path(path).name, Path(path).name + "-wal"):
                shutil.copy(file, folder)
        database = sqlite3.connect(Path(folder, Path(path).name))
        try:
            return read(database, kind, secret)
        finally:
            database.close()


def main(path, how, key_file=None):
    kind = {"key-file": KEY_FILE, "recovery-code": RECOVERY_CODE, "passphrase": PASSPHRASE}[how]
    secret = Path(key_file).read_text() if key_file else sys.stdin.readline().rstrip("\n")
    for id, payload in read_file(path, kind, secret).records.items():
        print(json.dumps({"id": id.hex(), **json.loads(payload)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
