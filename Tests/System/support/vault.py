"""The vault's files of a home, and the steps that tests of it begin with."""

import json
import sqlite3


def vault_file(home):
    return home.data / "oauthctl" / "vault.db"


def key_file(home):
    return home.state / "oauthctl" / "vault.key"


def counter_file(home):
    return home.state / "oauthctl" / "vault.commits"


def files_of(home):
    """{path: bytes} of everything that is the vault's: its folder and its state, without the lock."""
    folders = (home.data / "oauthctl", home.state / "oauthctl")
    return {path: path.read_bytes() for folder in folders for path in folder.iterdir() if path.name != "vault.lock"}


def put_back(home, files):
    """Exactly these files, as `files_of` gave them."""
    for path in set(files_of(home)) - set(files):
        path.unlink()
    for path, data in files.items():
        path.touch(mode=0o600)
        path.write_bytes(data)


def kept_vault(home):
    """The bytes of the whole vault, as the agent writes it when it ends; it runs before and after."""
    home.agent.stop()
    data = vault_file(home).read_bytes()
    home.agent.start()
    return data


def put_vault(home, data):
    """Another vault takes the place of a running agent's, which is killed and started again."""
    home.agent.kill()
    for path in vault_file(home).parent.glob("vault.db*"):
        path.unlink()
    vault_file(home).touch(mode=0o600)
    vault_file(home).write_bytes(data)
    home.agent.start()


def vault_command(home, *arguments, secrets=(), check=True):
    """`oauthctl vault …` with secrets on standard input, a line each."""
    return home.oauthctl(
        "vault", *arguments, stdin="".join(f"{secret}\n" for secret in secrets) if secrets else None, check=check)


def made_vault(home):
    """Make the vault; returns its recovery code."""
    return home.oauthctl("vault", "create").stdout.strip()


def set_passphrase(home, passphrase, strength="interactive"):
    home.oauthctl("vault", "passphrase", "set", "--strength", strength, stdin=passphrase + "\n")


def seal(home, passphrase):
    """A vault that nothing on the machine opens: a passphrase, and no key file."""
    set_passphrase(home, passphrase)
    home.oauthctl("vault", "key-file", "remove", stdin=passphrase + "\n")


def status(home):
    return json.loads(home.oauthctl("vault", "status", "--json").stdout)


def slot_row(home, number):
    """(kind, passes, memory, salt, sealed) of a slot of a running agent's vault, by a copy that is taken away again."""
    copy = home.root / "slots"
    home.oauthctl("vault", "backup", copy)
    database = sqlite3.connect(copy)
    query = "SELECT kind, passes, memory_kib, salt, sealed FROM slot WHERE number = ?"
    row = database.execute(query, [number]).fetchone()
    database.close()
    copy.unlink()
    return row


def same_bytes_in(home, data):
    """The names of the vault's files that hold these bytes anywhere: logs, free pages and left-over files too."""
    return sorted(path.name for path, contents in files_of(home).items() if data in contents)
