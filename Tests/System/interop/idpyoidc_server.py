"""An OpenID provider made of idpyoidc's endpoints, which judge every request; nobody is asked who logs in."""

from flask import Flask, redirect, request
from idpyoidc.server import Server
from idpyoidc.server.authz import AuthzHandling
from idpyoidc.server.configure import OPConfiguration
from idpyoidc.server.cookie_handler import CookieHandler
from idpyoidc.server.oauth2.add_on.pkce import CC_METHOD as CHALLENGES
from idpyoidc.server.user_authn.authn_context import INTERNETPROTOCOLPASSWORD
from idpyoidc.server.user_info import UserInfo

from interop.flask_server import FlaskServer
from support.ports import free_port
from world.accounts import USER

KEYS = [{"type": "RSA", "key": "", "use": ["sig"]}, {"type": "EC", "crv": "P-256", "use": ["sig"]}]
CRYPT = {"kwargs": {"iterations": 1, "keys": {"key_defs": [
    {"type": "OCT", "use": ["enc"], "kid": "password"}, {"type": "OCT", "use": ["enc"], "kid": "salt"}]}}}
METHODS = ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"]
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT = "idpyoidc.server.token.jwt_token.JWTToken"
SCOPES = ["openid", "profile", "offline_access"]


class Provider(FlaskServer):
    """`clients` know one exact redirect address."""

    def __init__(self, directory):
        self.redirect_port, self.failures = free_port(), []
        super().__init__(directory, lambda _: self.application())

    def add_client(self, client_id, method="none", secret="", keys=None):
        context = self.server.context
        context.cdb[client_id] = {
            "client_id": client_id, "client_secret": secret, "client_salt": "salted", "response_types": ["code"],
            "redirect_uris": [(f"http://127.0.0.1:{self.redirect_port}/callback", None)], "allowed_scopes": SCOPES,
            "token_endpoint_auth_method": method,
            "token_endpoint_client_authn_method": ["public" if method == "none" else method],
            "grant_types_supported": ["authorization_code", "refresh_token", EXCHANGE]}
        if secret:
            self.server.keyjar.add_symmetric(client_id, secret)
        if keys:
            self.server.keyjar.import_jwks({"keys": keys}, client_id)

    def application(self):
        self.server = Server(OPConfiguration(conf=self.configuration(), base_path=str(self.directory)),
                             cwd=str(self.directory))
        self.server.context.map_supported_to_preferred()
        app = Flask("idpyoidc_server")
        for name, endpoint in self.server.endpoint.items():
            # Assertions for the issuer are taken beside those for the endpoint's own URL.
            endpoint.allowed_targets.append("")
            app.add_url_rule("/" + endpoint.endpoint_path, name, lambda name=name: self.serve(name),
                             methods=["GET", "POST"])
        return app

    def serve(self, name):
        """What idpyoidc's own examples do between Flask and an endpoint."""
        endpoint = self.server.endpoint[name]
        about = {"headers": {key.lower(): value for key, value in request.headers.items()}, "method": request.method,
                 "url": request.base_url, "cookie": []}
        try:
            asked = endpoint.parse_request(
                request.args.to_dict() if request.method == "GET" else request.get_data(as_text=True), http_info=about)
            answer = endpoint.process_request(asked, http_info=about)
        except Exception as error:
            self.failures.append(repr(error))
            return {"error": "invalid_client", "error_description": str(error)}, 401
        if "error" in answer:
            return answer.to_dict() if hasattr(answer, "to_dict") else answer, 400
        if "http_response" in answer:
            return answer["http_response"]
        told = endpoint.do_response(request=asked, **answer)
        if name == "authorization":
            return redirect(told["response"])
        return told["response"], 200, [pair for pair in told["http_headers"] if pair[0].lower() != "set-cookie"]

    def configuration(self):
        def endpoint(path, where, **more):
            return {"path": path, "class": "idpyoidc.server." + where, "kwargs": more}

        minted = {"supports_minting": ["access_token", "refresh_token"]}
        return {
            "issuer": self.issuer, "keys": {"uri_path": "jwks.json", "key_defs": KEYS},
            "httpc_params": {"verify": False, "timeout": 1},
            "cookie_handler": {"class": CookieHandler, "kwargs": {"keys": {"key_defs": [
                {"type": "oct", "kid": "sig", "use": ["sig"]}, {"type": "oct", "kid": "enc", "use": ["enc"]}]}}},
            "endpoint": {
                "provider_config": endpoint(
                    ".well-known/openid-configuration", "oidc.provider_config.ProviderConfiguration"),
                "authorization": endpoint(
                    "authorize", "oidc.authorization.Authorization", client_authn_method=["public"],
                    response_types_supported=["code"]),
                "token": endpoint("token", "oidc.token.Token", client_authn_method=[*METHODS, "public"]),
                "userinfo": endpoint("userinfo", "oidc.userinfo.UserInfo", client_authn_method=["bearer_header"])},
            "add_ons": {"pkce": {"function": "idpyoidc.server.oauth2.add_on.pkce.add_support", "kwargs": {
                "essential": True, "code_challenge_methods": {"S256": CHALLENGES["S256"]}}}},
            "authentication": {"anon": {
                "acr": INTERNETPROTOCOLPASSWORD, "class": "idpyoidc.server.user_authn.user.NoAuthn",
                "kwargs": {"user": USER}}},
            "userinfo": {"class": UserInfo, "kwargs": {"db": {USER: {"name": "Alice"}}}},
            "authz": {"class": AuthzHandling, "kwargs": {"grant_config": {"expires_in": 43200, "usage_rules": {
                "authorization_code": {
                    "supports_minting": ["access_token", "refresh_token", "id_token"], "max_usage": 1},
                "access_token": minted | {"expires_in": 600},
                "refresh_token": {"supports_minting": ["access_token", "refresh_token", "id_token"],
                                  "expires_in": 43200}}}}},
            "token_handler_args": {
                "jwks_def": {"private_path": str(self.directory / "token-keys.json"), "read_only": False, "key_defs": [
                    {"type": "oct", "bytes": 24, "use": ["enc"], "kid": kid} for kid in ("code", "refresh")]},
                "code": {"lifetime": 600, "kwargs": {"crypt_conf": CRYPT}},
                "token": {"class": JWT, "kwargs": {"lifetime": 3600, "aud": [self.issuer]}},
                "refresh": {"class": JWT, "kwargs": {"lifetime": 3600, "aud": [self.issuer]}},
                "id_token": {"class": "idpyoidc.server.token.id_token.IDToken", "kwargs": {}}},
            "session_params": {"encrypter": CRYPT},
        }
