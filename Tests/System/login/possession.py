"""An authorization server and its resource that take proofs of possession (RFC 9449) and judge each, by jwcrypto."""

import base64
import hashlib
import json
import time
import urllib.parse

from jwcrypto import jwk, jws

from login.provider import Provider

# Seconds that a proof may be old or early.
WINDOW = 10


def thumbprint_of(token):
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()


def judge(proof, method, url, used, nonce=None, token=None, algorithms=("ES256",)):
    """What is wrong with a proof (or None), its key's thumbprint, and its claims (RFC 9449 section 4.3)."""
    if proof is None:
        return "no proof", None, {}
    try:
        signed = jws.JWS()
        signed.allowed_algs = list(algorithms)
        signed.deserialize(proof)
        header = json.loads(signed.objects["protected"])
        key = jwk.JWK(**header["jwk"])
        if key.has_private or set(header) != {"alg", "jwk", "typ"} or header["typ"] != "dpop+jwt":
            return "its header", None, {}
        signed.verify(key)
        claims = json.loads(signed.payload)
    except Exception as error:
        return f"{type(error).__name__}: {error}", None, {}
    wanted = {"htm", "htu", "iat", "jti"} | ({"ath"} if token else set()) | ({"nonce"} if "nonce" in claims else set())
    wrong = [
        words for words, is_right in (
            ("its claims", set(claims) == wanted), ("htm", claims.get("htm") == method),
            ("htu", claims.get("htu") == url), ("iat", abs(claims.get("iat", 0) - time.time()) <= WINDOW),
            ("jti is used", claims.get("jti") not in used), ("jti is short", len(claims.get("jti", "")) >= 16),
            ("ath", not token or claims.get("ath") == thumbprint_of(token)))
        if not is_right]
    used.add(claims.get("jti"))
    if not wrong and nonce is not None and claims.get("nonce") != nonce:
        wrong = ["nonce"]
    return wrong[0] if wrong else None, key.thumbprint(), claims


class Possession(Provider):
    """Codes, refresh tokens and access tokens are bound to keys. `wants`: the nonce that the token endpoint wants,
    `again`: a new one after each request that it took, `endless`: after each that it refused. `api_wants`: the
    resource's. `silent`: the endpoint for pushed requests wants a nonce, too, and does not tell it."""

    def __init__(self):
        self.used, self.claims, self.bound, self.life, self.kind = set(), [], {}, 3600, "DPoP"
        self.wants, self.again, self.endless, self.api_wants, self.refused_tokens = None, False, False, None, set()
        self.silent = False
        self.says, self.requires, self.pushed, self.calls = {}, False, {}, []
        self.algorithms = ["ES256"]
        super().__init__()
        self.lists_pkce = True

    def proved(self, method, url, fields, nonce=None, token=None):
        wrong, key, claims = judge(
            fields.get("dpop"), method, f"{self.issuer}{url.path}", self.used, nonce, token, self.algorithms)
        self.claims.append(claims)
        return wrong, key

    def refuse(self, wrong):
        if wrong != "nonce":
            self.seen.append(("refused", {"why": wrong}))
            return "400 Bad Request", {}, {"error": "invalid_dpop_proof", "error_description": wrong}
        self.seen.append(("nonce", {}))
        nonce = f"nonce-{len(self.seen)}" if self.endless else self.wants
        return "400 Bad Request", {"DPoP-Nonce": nonce}, {"error": "use_dpop_nonce"}

    def answer(self, method, url, fields, body):
        form = {name: values[0] for name, values in urllib.parse.parse_qs(body).items()}
        if url.path == "/.well-known/oauth-authorization-server":
            status, headers, answer = super().answer(method, url, fields, body)
            answer["dpop_signing_alg_values_supported"] = self.algorithms
            if self.requires:
                answer |= {"pushed_authorization_request_endpoint": self.issuer + "/par",
                           "require_pushed_authorization_requests": True}
            return status, headers, answer | {"device_authorization_endpoint": self.issuer + "/device"}
        if url.path == "/.well-known/oauth-protected-resource/api":
            return "200 OK", {}, {"resource": self.issuer + "/api", "authorization_servers": [self.issuer],
                                  "dpop_bound_access_tokens_required": True}
        if url.path == "/device":
            self.seen.append(("device", form | {"proof": fields.get("dpop")}))
            return "200 OK", {}, {"device_code": "device-code", "user_code": "WDJB", "expires_in": 60, "interval": 1,
                                  "verification_uri": self.issuer + "/enter"}
        if url.path == "/par":
            if self.silent and "dpop" not in fields:
                wrong, key = None, form.get("dpop_jkt")
            else:
                wrong, key = self.proved(method, url, fields, self.wants)
            if wrong and self.silent:
                return self.refuse("it is not told")
            if wrong or form.get("dpop_jkt") != key:
                return self.refuse(wrong or "dpop_jkt")
            self.seen.append(("push", form))
            self.pushed["urn:pushed"] = form
            return "201 Created", {}, {"request_uri": "urn:pushed", "expires_in": 90}
        if url.path == "/authorize":
            query = {name: values[0] for name, values in urllib.parse.parse_qs(url.query).items()}
            query = self.pushed.pop(query.get("request_uri"), query)
            self.seen.append(("authorize", query))
            self.bound["c"] = query.get("dpop_jkt")
            return "302 Found", {"Location": f"{query['redirect_uri']}?code=c&state={query['state']}"}, None
        if url.path == "/token":
            return self.token(method, url, fields, form)
        if url.path.startswith("/api"):
            return self.api(method, url, fields)
        return super().answer(method, url, fields, body)

    def token(self, method, url, fields, form):
        wrong, key = self.proved(method, url, fields, self.wants)
        if wrong:
            return self.refuse(wrong)
        headers = dict(self.says)
        if self.again:
            self.wants = headers["DPoP-Nonce"] = f"nonce-{len(self.seen)}"
        self.seen.append((form["grant_type"], form))
        given = form.get("code") or form.get("refresh_token")
        if given and self.bound.pop(given, None) != key:
            return "400 Bad Request", headers, {"error": "invalid_grant"}
        self.tokens += 1
        self.bound[f"access-{self.tokens}"] = self.bound[f"refresh-{self.tokens}"] = key
        return "200 OK", headers, {
            "access_token": f"access-{self.tokens}", "token_type": self.kind, "expires_in": self.life,
            "refresh_token": f"refresh-{self.tokens}", "scope": "read"}

    def api(self, method, url, fields):
        scheme, _, token = fields.get("authorization", "").partition(" ")
        wrong, key = self.proved(method, url, fields, self.api_wants, token)
        error = None
        if scheme != "DPoP" or self.bound.get(token) != key or token in self.refused_tokens:
            error = "invalid_token"
        elif wrong:
            error = "use_dpop_nonce" if wrong == "nonce" else "invalid_dpop_proof"
        self.calls.append((method, url.path, error or "ok", wrong))
        if error:
            headers = {"WWW-Authenticate": f'DPoP error="{error}", algs="ES256"'}
            if self.api_wants:
                headers["DPoP-Nonce"] = self.api_wants
            return "401 Unauthorized", headers, {"no": error}
        return "200 OK", {}, {"hello": token}

    def define(self, home, *lines):
        super().define(home, "dpop = true", 'scope = "read"', *lines)

    def results(self):
        """What the resource answered, and whether the proofs were right."""
        return [(path, result) for _, path, result, _ in self.calls]
