"""A server that takes clients by signed assertions alone, and judges them by jwcrypto."""

import json
import time
import urllib.parse

from jwcrypto import jwk, jwt

from login.provider import Provider

TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
SECRET = "shared-secret-of-32-bytes-or-more-9c41"


class Judge(Provider):
    """It takes clients by assertions alone, signed by `keys`, each once, and for itself as `audience`; None: as the
    endpoint that is called."""

    def __init__(self):
        self.keys, self.algorithms, self.audience, self.used, self.claims = jwk.JWKSet(), [], None, set(), []
        # The assertion is the grant, and no client proves itself beside it.
        self.grants = False
        # Refusals give a reason.
        self.tells = True
        super().__init__()
        self.audience = self.issuer

    def register(self, key, algorithm):
        self.keys.add(jwk.JWK.from_json(key))
        self.algorithms = [algorithm]

    def proves(self, form, path):
        """What is wrong with the client's proof, or nothing."""
        proofs = {"assertion", "client_assertion", "client_secret"} & set(form)
        if proofs != {"assertion" if self.grants else "client_assertion"}:
            return "no assertion, or too much"
        if not self.grants and form["client_assertion_type"] != TYPE:
            return "another kind of assertion"
        try:
            token = jwt.JWT(algs=self.algorithms, check_claims={
                "iss": "mine", "sub": "alice" if self.grants else "mine", "exp": int(time.time()), "jti": None,
                "aud": self.issuer + "/token" if self.grants else self.audience or self.issuer + path, "iat": None})
            token.leeway = 5
            token.deserialize(form["assertion" if self.grants else "client_assertion"], self.keys)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        claims, header = json.loads(token.claims), json.loads(token.header)
        if claims["jti"] in self.used or claims["exp"] - claims["iat"] > 60 or isinstance(claims["aud"], list):
            return "used, too long, or for several"
        self.used.add(claims["jti"])
        self.claims.append((header, claims))
        return None

    def answer(self, method, url, fields, body):
        if url.path == "/.well-known/oauth-authorization-server":
            status, headers, answer = super().answer(method, url, fields, body)
            return status, headers, answer | {
                "token_endpoint_auth_methods_supported": ["client_secret_jwt", "private_key_jwt"]} | self.metadata
        if url.path in ("/token", "/revoke"):
            form = dict(urllib.parse.parse_qsl(body, strict_parsing=True))
            wrong = "a header" if fields.get("authorization") else self.proves(form, url.path)
            if wrong:
                self.seen.append(("refused", form | {"why": wrong}))
                return "401 Unauthorized", {}, {"error": "invalid_client"} if self.tells else None
        return super().answer(method, url, fields, body)
