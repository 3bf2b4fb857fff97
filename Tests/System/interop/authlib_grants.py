"""authlib's grants, each with the little that a site has to tell it."""

import secrets
import time

from authlib.oauth2.drafts.id_jag import IDJAGGrant
from authlib.oauth2.rfc6749 import (
    AuthorizationCodeMixin, BaseGrant, InvalidGrantError, InvalidRequestError, OAuth2Error, TokenEndpointMixin, grants)
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerGrant
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
from authlib.oauth2.rfc7592 import ClientConfigurationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
from authlib.oidc.core import OpenIDCode
from joserfc import jwt
from joserfc.jwk import KeySet

from world.accounts import USER

METHODS = ["none", "client_secret_basic", "client_secret_post", "client_assertion_jwt"]
TOKEN_TYPE = "urn:ietf:params:oauth:token-type:"


class Code(AuthorizationCodeMixin, dict):
    def get_redirect_uri(self):
        return self["redirect_uri"]

    def get_scope(self):
        return self["scope"]

    def get_nonce(self):
        return self["nonce"]

    def get_auth_time(self):
        return self["auth_time"]

    def get_acr(self):
        return None

    def get_amr(self):
        return None

    code_challenge = property(lambda self: self["code_challenge"])
    code_challenge_method = property(lambda self: self["code_challenge_method"])


class Credential(dict):
    """A registration access token is good for one client."""

    def check_client(self, client):
        return self["client_id"] == client.client_id


def register(server, site):
    """Every grant and endpoint of the site; a name of a class below ends in the one of authlib that judges."""

    class Authorization(grants.AuthorizationCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

        def save_authorization_code(self, code, request):
            data = request.payload.data
            site.codes[code] = Code(
                client=request.client, redirect_uri=request.payload.redirect_uri, scope=request.payload.scope,
                nonce=data.get("nonce"), code_challenge=data.get("code_challenge"),
                code_challenge_method=data.get("code_challenge_method"), auth_time=int(time.time()), code=code)

        def query_authorization_code(self, code, client):
            found = site.codes.get(code)
            return found if found and found["client"] is client else None

        def delete_authorization_code(self, authorization_code):
            del site.codes[authorization_code["code"]]

        def authenticate_user(self, authorization_code):
            return USER

    class OpenID(OpenIDCode):
        def exists_nonce(self, nonce, request):
            return any(code["nonce"] == nonce for code in site.codes.values())

        def get_client_algorithm(self, client):
            return "RS256"

        def get_client_claims(self, client):
            return {"iss": site.issuer}

        def resolve_client_private_key(self, client):
            return site.key

        def generate_user_info(self, user, scope):
            return {"sub": user, "preferred_username": user}

    class Refresh(grants.RefreshTokenGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS
        INCLUDE_NEW_REFRESH_TOKEN = True

        def authenticate_refresh_token(self, refresh_token):
            found = site.find("refresh_token", refresh_token)
            return found if found and not found.is_revoked() else None

        def authenticate_user(self, refresh_token):
            return refresh_token["user"]

        def revoke_old_credential(self, refresh_token):
            refresh_token["revoked"] = True

    class ClientCredentials(grants.ClientCredentialsGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS[1:]

    class Password(grants.ResourceOwnerPasswordCredentialsGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

        def authenticate_user(self, username, password):
            return username if (username, password) == (site.user, site.password) else None

    class Device(DeviceCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

        def query_device_credential(self, device_code):
            return site.devices.get(device_code)

        def query_user_grant(self, user_code):
            return site.answers.get(user_code)

        def should_slow_down(self, credential):
            return False

    class DeviceRequests(DeviceAuthorizationEndpoint):
        CLIENT_AUTH_METHODS = METHODS
        INTERVAL = 1

        def get_verification_uri(self):
            return site.base + "/enter"

        def save_device_credential(self, client_id, scope, data):
            site.devices[data["device_code"]] = DeviceCredentialDict(
                client_id=client_id, scope=scope, expires_at=time.time() + data["expires_in"], **{
                    name: data[name] for name in ("device_code", "user_code")})

    class Assertions(JWTBearerGrant):
        def resolve_issuer_client(self, issuer):
            return site.clients.get(issuer)

        def resolve_client_public_key(self, client):
            return KeySet.import_key_set({"keys": client.keys})

        def authenticate_user(self, subject):
            return subject if subject == USER else None

        def get_audiences(self):
            return [site.issuer]

        def has_granted_permission(self, client, user):
            return True

    class Identities(IDJAGGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

        def get_audiences(self):
            return [site.issuer]

        def resolve_issuer_key(self, issuer, headers):
            if issuer != site.company.issuer:
                raise InvalidGrantError()
            return site.company.key

        def authenticate_user(self, subject):
            return subject if subject == USER else None

        def check_jti(self, claims, jti):
            fresh = jti not in site.used
            site.used.add(jti)
            return fresh

        def check_id_jag_permission(self, client, user, scopes):
            return True

    class Vouching(BaseGrant, TokenEndpointMixin):
        """The company's leg, which authlib leaves to the site: an ID token of its own for an identity assertion."""

        GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange"
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

        def validate_token_request(self):
            client, form = self.authenticate_token_endpoint_client(), self.request.form
            if form.get("subject_token_type") != TOKEN_TYPE + "id_token" or (
                    form.get("requested_token_type") != TOKEN_TYPE + "id-jag"):
                raise InvalidRequestError("not an identity assertion")
            told = jwt.decode(form.get("subject_token", ""), site.key).claims
            if told["iss"] != site.issuer or client.client_id not in told["aud"] or told["exp"] < time.time():
                raise InvalidGrantError()
            if form.get("audience") not in site.terms:
                raise OAuth2Error(error="invalid_target")
            self.request.client, self.told = client, told

        def create_token_response(self):
            form, now = self.request.form, int(time.time())
            more = {name: form[name] for name in ("scope", "resource") if form.get(name)}
            signed = IDJAGGrant.sign(
                site.key, site.issuer, form["audience"], self.told["sub"], site.terms[form["audience"]], issued_at=now,
                expires_at=now + 300, claims=more, alg="RS256")
            return 200, {"access_token": signed, "issued_token_type": TOKEN_TYPE + "id-jag", "token_type": "N_A",
                         "expires_in": 300}, self.TOKEN_RESPONSE_HEADER

    class Revocations(RevocationEndpoint):
        CLIENT_AUTH_METHODS = METHODS

        def query_token(self, token_string, token_type_hint):
            return site.find("access_token", token_string) or site.find("refresh_token", token_string)

        def revoke_token(self, token, request):
            token["revoked"] = True

    class Registrations(ClientRegistrationEndpoint):
        def authenticate_token(self, request):
            return True

        def generate_client_secret(self, request):
            public = request.payload.data.get("token_endpoint_auth_method") == "none"
            return "" if public else secrets.token_urlsafe(24)

        def get_server_metadata(self):
            return site.metadata()

        def save_client(self, client_info, client_metadata, request):
            return site.add_client(
                client_info["client_id"], client_metadata.get("token_endpoint_auth_method", "client_secret_basic"),
                client_info["client_secret"])

        def generate_client_registration_info(self, client, request):
            return {"registration_client_uri": f"{site.base}/register/{client.client_id}",
                    "registration_access_token": "registration-of-" + client.client_id}

    class Configurations(ClientConfigurationEndpoint):
        def authenticate_token(self, request):
            scheme, _, token = request.headers.get("Authorization", "").partition(" ")
            return Credential(client_id=token.removeprefix("registration-of-")) if scheme == "Bearer" else None

        def authenticate_client(self, request):
            return site.clients.get(request.uri.rpartition("/")[2])

        def check_permission(self, client, request):
            return True

        def delete_client(self, client, request):
            del site.clients[client.client_id]

    server.register_grant(Authorization, [CodeChallenge(required=True), OpenID()])
    for grant in (Refresh, ClientCredentials, Password, Device, Vouching, Identities if site.company else Assertions):
        server.register_grant(grant)
    for endpoint in (Revocations, DeviceRequests, Registrations, Configurations):
        server.register_endpoint(endpoint)
