"""What programs and tokens said, for the tests and the lines of the table."""

import base64
import json
import re


def sentence(result):
    """The line a person reads, without names of this run."""
    text = next((text for text in result.stderr.splitlines() if "oauthctl:" in text), result.stderr.strip())
    return re.sub(r"localhost:\d+", "localhost", text).removeprefix("oauthctl: ").replace("|", "/")


def claims(token):
    """What a JWT claims; its signature is others' affair."""
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
