"""Answers as long as they may be, until an account's record would be longer than the vault takes."""

import json

import pytest

from login.provider import Provider, use_silent_browser
from support.unattended import refresh
from support.vault import made_vault, vault_command

TOKEN_BYTES = 32 << 10


class Verbose(Provider):
    """Takes its newest refresh token alone. Tokens, and with `long_scope` scopes, are as long as they may be."""

    def __init__(self, filling, long_scope):
        self.is_verbose, self.filling, self.long_scope = False, filling, long_scope
        self.newest, self.refused = None, []
        super().__init__()

    def answer(self, method, url, fields, body):
        status, headers, answer = super().answer(method, url, fields, body)
        if url.path != "/token" or "access_token" not in (answer or {}):
            return status, headers, answer
        sent = self.seen[-1][1].get("refresh_token")
        if sent is not None and sent != self.newest:
            self.refused.append(sent[:8])
            return "400 Bad Request", {}, {"error": "invalid_grant"}
        if self.is_verbose:
            for name in ("access_token", "refresh_token"):
                beginning = f"{name[0]}{len(self.seen)}-"
                answer[name] = beginning + self.filling * (TOKEN_BYTES - len(beginning))
            answer.pop("scope", None)
            if self.long_scope:
                answer["scope"] = " ".join(f"{number:03}" + "s" * 240 for number in range(256))
        self.newest = answer["refresh_token"]
        return status, headers, answer


@pytest.mark.parametrize("filling, long_scope", [("\\", False), ("x", True)], ids=["escaped", "with scopes"])
@pytest.mark.parametrize("end", ["stop", "lock"])
def test_a_server_that_fills_the_record_costs_no_login(home, agent, filling, long_scope, end):
    use_silent_browser(home)
    with Verbose(filling, long_scope) as provider:
        made_vault(home)
        scopes = [f"s{number}" for number in range(18)]
        provider.define(home, 'scope = "read"', 'keep = "on-demand"', f"allowed_scope = {json.dumps(scopes)}")
        home.oauthctl("login", "work")
        provider.is_verbose = True
        for scope in scopes:
            home.oauthctl("get-token", "work", "--scope", scope)
        if end == "stop":
            home.agent.restart()
        else:
            vault_command(home, "lock")
            vault_command(home, "unlock")
        refresh(home, check=True)
        assert provider.refused == []
        home.oauthctl("logout", "work")
        assert "revoke" in provider.kinds()
