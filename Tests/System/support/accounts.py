"""Account files, written and edited as a person does it."""


def account_file(home, name="work"):
    return home.config / "oauthctl" / "accounts.d" / f"{name}.toml"


def define(home, name, *lines):
    """Write an account file; the result of `oauthctl reload`, whatever its status."""
    file = account_file(home, name)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.write_text("".join(line + "\n" for line in lines))
    return home.oauthctl("reload", check=False)


def edit(home, name, **values):
    """Set keys of an account file to TOML values (None: take the key out), and reload; returns the text before."""
    file = account_file(home, name)
    before = file.read_text()
    kept = [line for line in before.splitlines() if line.partition(" = ")[0] not in values]
    added = [f"{key} = {value}" for key, value in values.items() if value is not None]
    define(home, name, *kept, *added)
    return before
