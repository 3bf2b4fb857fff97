"""An authorization server of authlib's own grants and client authentication, which judge every request; what they ask a
site for (its clients, its tokens, its users) is kept in memory here."""

import re
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, InvalidClientError, TokenMixin, scope_to_list
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc9207 import IssuerParameter
from flask import Flask, jsonify, request
from joserfc.jwk import KeySet, OctKey, RSAKey

from interop import authlib_grants as grants
from interop.flask_server import FlaskServer
from world.accounts import USER

LOOPBACK = re.compile(r"http://(127\.0\.0\.1|\[::1\]):\d+(/[0-9a-f]{16})?/callback")


class Client(ClientMixin):
    """`method` is one of grants.METHODS; `keys` are the public JWKs of one that signs, `secret` is what others know."""

    def __init__(self, client_id, method="none", secret="", keys=None):
        self.client_id, self.method, self.secret, self.keys = client_id, method, secret, keys

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return scope

    def check_redirect_uri(self, redirect_uri):
        return LOOPBACK.fullmatch(redirect_uri) is not None

    def check_client_secret(self, client_secret):
        return bool(self.secret) and client_secret == self.secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method == self.method

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return True


class Token(TokenMixin, dict):
    """A token answer with its client and user."""

    def check_client(self, client):
        return self["client"] is client

    def get_scope(self):
        return self["scope"]

    def get_expires_in(self):
        return self["expires_in"]

    def is_expired(self):
        return self["issued"] + self["expires_in"] < time.time()

    def is_revoked(self):
        return self["revoked"]


class Assertion(JWTBearerClientAssertion):
    """RFC 7523 section 2.2, by authlib."""

    def __init__(self, site):
        super().__init__()
        self.site, self.used = site, set()

    def get_audiences(self):
        return [self.site.issuer]

    def validate_jti(self, claims, jti):
        fresh = jti not in self.used
        self.used.add(jti)
        return fresh

    def resolve_client_public_key(self, client):
        if client.keys:
            return KeySet.import_key_set({"keys": client.keys})
        if client.secret:
            return OctKey.import_key(client.secret)
        raise InvalidClientError()


class Issuer(IssuerParameter):
    def __init__(self, site):
        self.site = site

    def get_issuer(self):
        return self.site.issuer


class Site(FlaskServer):
    """`company` is the site whose identity assertions are taken (ID-JAG); without one, clients' own are (RFC 7523)."""

    def __init__(self, directory, company=None):
        self.company, self.clients, self.tokens, self.codes = company, {}, [], {}
        self.devices, self.answers, self.used, self.granted = {}, {}, set(), []
        self.key = RSAKey.generate_key(2048, {"use": "sig", "kid": "site", "alg": "RS256"})
        # The servers that this company is on terms with: audience, and the id that the client has there.
        self.terms = {}
        super().__init__(directory, lambda _: self.application())

    def add_client(self, *what, **values):
        client = Client(*what, **values)
        self.clients[client.client_id] = client
        return client

    def save_token(self, token, asked):
        client, user = asked.client, asked.user or asked.client.client_id
        self.granted.append(asked.payload.grant_type)
        self.tokens.append(Token(token, client=client, user=user, issued=time.time(), revoked=False,
                                 scope=token.get("scope", "")))

    def find(self, kind, value):
        return next((token for token in self.tokens if value and token.get(kind) == value), None)

    def application(self):
        app = Flask("authlib_server")
        app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
        server = AuthorizationServer()
        server.init_app(app, query_client=self.clients.get, save_token=self.save_token)
        server.register_client_auth_method("client_assertion_jwt", Assertion(self))
        server.register_extension(Issuer(self))
        grants.register(server, self)
        app.add_url_rule("/.well-known/oauth-authorization-server", view_func=lambda: jsonify(self.metadata()))
        app.add_url_rule("/authorize", "authorize", lambda: server.create_authorization_response(
            grant=server.get_consent_grant(end_user=USER), grant_user=USER))
        app.add_url_rule("/token", "token", server.create_token_response, methods=["POST"])
        for path, name in (("/revoke", "revocation"), ("/device", "device_authorization"),
                           ("/register", "client_registration")):
            app.add_url_rule(path, name, lambda name=name: server.create_endpoint_response(name), methods=["POST"])
        app.add_url_rule("/register/<client_id>", "client", lambda client_id: server.create_endpoint_response(
            "client_configuration"), methods=["GET", "PUT", "DELETE"])
        app.add_url_rule("/userinfo", "userinfo", self.userinfo)
        return app

    def userinfo(self):
        token = self.find("access_token", request.headers.get("Authorization", "").removeprefix("Bearer "))
        if token is None or token.is_expired() or token.is_revoked():
            return "", 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        return jsonify(sub=token["user"], scope=scope_to_list(token["scope"]))

    def metadata(self):
        return {
            "issuer": self.issuer, "authorization_endpoint": self.base + "/authorize",
            "token_endpoint": self.base + "/token", "revocation_endpoint": self.base + "/revoke",
            "registration_endpoint": self.base + "/register",
            "device_authorization_endpoint": self.base + "/device", "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"], "scopes_supported": ["openid", "read"],
            "authorization_response_iss_parameter_supported": True,
            "token_endpoint_auth_methods_supported": [
                "none", "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"],
            "token_endpoint_auth_signing_alg_values_supported": ["ES256", "RS256", "HS256"],
        }
