"""A provider whose revocation ends whatever a user has granted a client, which RFC 7009 leaves to servers."""

from login.provider import Provider


class Whole(Provider):
    """Its revocation ends all. While `busy` it revokes nothing. `log` holds what it has done, in order.

    A device code is good for `device_life` seconds, and somebody has agreed to it."""

    def __init__(self):
        self.busy, self.alive, self.log, self.device_life = False, set(), [], 600
        super().__init__()
        self.metadata = {"device_authorization_endpoint": self.issuer + "/device"}

    def answer(self, method, url, fields, body):
        if url.path == "/device":
            return "200 OK", {}, {
                "device_code": "d", "user_code": "ABCD-EFGH", "verification_uri": self.issuer + "/activate",
                "expires_in": self.device_life, "interval": 1}
        status, headers, answer = super().answer(method, url, fields, body)
        kind, form = self.seen[-1] if self.seen else (None, {})
        if url.path == "/revoke":
            if self.busy:
                return "503 Service Unavailable", {}, None
            self.log.append(("revoked", form["token"]))
            self.alive.clear()
        if url.path == "/token":
            if kind == "refresh_token" and form["refresh_token"] not in self.alive:
                return "400 Bad Request", {}, {"error": "invalid_grant"}
            self.log.append((kind, answer["refresh_token"]))
            self.alive.add(answer["refresh_token"])
        return status, headers, answer

    @property
    def revoked(self):
        return [token for what, token in self.log if what == "revoked"]
