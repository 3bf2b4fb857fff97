"""NanoIDP, from PyPI: a test identity provider, which registers clients and takes any port of loopback."""

import json
import os

import nanoidp.app

from interop.flask_server import FlaskServer
from world.accounts import PASSWORD, REDIRECTS, USER, Client

CLIENTS = [
    Client("native-app", "authorization-code"), Client("web-app", "authorization-code", "web-secret-8"),
    Client("tv-app", "device"), Client("machine", "client-credentials", "machine-secret"),
    Client("legacy", "password", "legacy-secret")]
RESOURCE = "https://api.example.com/"


def application(server):
    """Its configuration are two files, in YAML, of which JSON is a part."""
    folder = server.directory
    (folder / "keys").mkdir()
    settings = {
        "config_version": 1, "security_profile": "dev", "server": {"host": "127.0.0.1", "port": server.port},
        "oauth": {
            "issuer": server.issuer, "audience": "interop", "token_expiry_minutes": 5,
            "refresh_token_expiry_minutes": 60, "refresh_token_rotation": True, "require_pkce": True,
            "dynamic_registration": {"enabled": True}, "scopes_supported": ["openid", "profile", "read"],
            "clients": [client(one) for one in CLIENTS]},
        "device_flow": {"code_expiry_seconds": 120, "polling_interval": 1},
        "session": {"secret_key": "of-the-tests-alone-0123456789abcdef", "enforce_password_check": False},
        "login": {"mode": "password"}, "jwt": {"keys_dir": str(folder / "keys")}}
    users = {"config_version": 1, "users": {USER: {
        "password": PASSWORD, "email": "alice@example.org", "roles": ["USER"]}}}
    (folder / "settings.yaml").write_text(json.dumps(settings))
    (folder / "users.yaml").write_text(json.dumps(users))
    os.environ["NANOIDP_CONFIG_DIR"] = str(folder)
    return nanoidp.app.create_app(config_dir=str(folder))


def client(one):
    method = "client_secret_basic" if one.secret else "none"
    known = {"client_id": one.id, "client_secret": one.secret, "description": one.id,
             "token_endpoint_auth_method": method}
    return known | ({"redirect_uris": list(REDIRECTS)} if one.grant == "authorization-code" else {})


def start(directory):
    return FlaskServer(directory, application)
