"""Steps that several tests of accounts take."""

import json


def accounts(home):
    """`account list` as a dictionary of name and summary."""
    listed = json.loads(home.oauthctl("account", "list", "--json").stdout)["accounts"]
    return {account["account"]: account for account in listed}


def show(home, name="work"):
    return json.loads(home.oauthctl("account", "show", name, "--json").stdout)
