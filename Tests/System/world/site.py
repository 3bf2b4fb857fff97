"""The authorization server of the system tests: django-oauth-toolkit in a one-file Django site.

`python -m world.site DIRECTORY` prepares the database; gunicorn serves `world.site:application`. Settings come from
`settings.json` in the directory named by WORLD_DIRECTORY (see world.server.Settings).
"""

import json
import os
import sys
from pathlib import Path

import django
from django.conf import settings

from world.accounts import CLIENTS, PASSWORD, REDIRECTS, USER
from world.guard import RequestLog, TokenGuard, digest

DIRECTORY = Path(os.environ["WORLD_DIRECTORY"])
WANTED = json.loads((DIRECTORY / "settings.json").read_text())
ISSUER = WANTED["issuer"]

settings.configure(
    SECRET_KEY="only-for-tests",
    ALLOWED_HOSTS=["*"],
    USE_TZ=True,
    ROOT_URLCONF=__name__,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
        "django.contrib.messages", "django.contrib.admin", "oauth2_provider",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": [
            "django.template.context_processors.request",
            "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages",
        ]},
    }],
    LOGGING={
        "version": 1,
        "handlers": {"stderr": {"class": "logging.StreamHandler"}},
        "loggers": {"django": {"handlers": ["stderr"], "level": "ERROR"}},
    },
    DATABASES={"default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DIRECTORY / "site.sqlite3",
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;",
        },
    }},
    # Quick to compute; these passwords protect nothing.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    LOGIN_URL="/accounts/login/",
    STATIC_URL="/static/",
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_ISS_ENDPOINT": ISSUER,
        "OIDC_RSA_PRIVATE_KEY": (DIRECTORY / "signing-key.pem").read_text(),
        "SCOPES": {"openid": "Who you are", "read": "Read", "write": "Write", "introspection": "Introspect"},
        "DEFAULT_SCOPES": ["read"],
        "PKCE_REQUIRED": True,
        "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
        "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": WANTED["issuer_parameter"],
        "ACCESS_TOKEN_EXPIRE_SECONDS": WANTED["access_ttl"],
        "REFRESH_TOKEN_EXPIRE_SECONDS": WANTED["refresh_ttl"],
        "AUTHORIZATION_CODE_EXPIRE_SECONDS": 60,
        "ROTATE_REFRESH_TOKEN": WANTED["rotate"],
        "REFRESH_TOKEN_REUSE_PROTECTION": True,
        "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": WANTED["refresh_grace"],
        "REQUEST_APPROVAL_PROMPT": WANTED["consent"],
        "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https"],
        "OAUTH_DEVICE_VERIFICATION_URI": ISSUER + "/device/",
        "OAUTH_DEVICE_VERIFICATION_URI_COMPLETE": lambda code: f"{ISSUER}/device/?user_code={code}",
        "DEVICE_FLOW_INTERVAL": 1,
    },
)
django.setup()

# Only now can Django's models and what uses them be imported.
from django.contrib import admin  # noqa: E402
from django.contrib.auth.views import LoginView  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from oauth2_provider.decorators import protected_resource  # noqa: E402
from oauth2_provider.models import get_access_token_model, get_application_model  # noqa: E402


@protected_resource(scopes=["read"], advertise_metadata=True)
def hello(request):
    """The protected resource: who the token speaks for."""
    owner = request.resource_owner
    return JsonResponse({"hello": owner.username if owner else None})


urlpatterns = [
    path("accounts/login/", LoginView.as_view(template_name="admin/login.html")),
    path("admin/", admin.site.urls),  # the login page's template looks its namespace up
    path("api/hello", hello),
    path("", include("oauth2_provider.urls", namespace="oauth2_provider")),
]


def is_active(token):
    """Whether an access token was issued here, has not expired and was not revoked (RFC 7662's `active`)."""
    found = get_access_token_model().objects.filter(token_checksum=digest(token)).first()
    return found is not None and not found.is_expired()


def prepare():
    """Make the database with its one user and its clients."""
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    get_user_model().objects.create_user(USER, "alice@example.org", PASSWORD)
    for client in CLIENTS.values():
        interactive = client.grant == "authorization-code"
        get_application_model().objects.create(
            name=client.id, client_id=client.id, client_secret=client.secret,
            client_type="confidential" if client.secret else "public",
            authorization_grant_type=client.grant,
            algorithm="RS256" if interactive else "",
            redirect_uris=" ".join(REDIRECTS) if interactive else "",
        )


if __name__ == "__main__":
    prepare()
    sys.exit(0)

from world.api import Api  # noqa: E402
from world.git import GitRepository  # noqa: E402

application = RequestLog(
    DIRECTORY,
    TokenGuard(
        DIRECTORY,
        Api(is_active, GitRepository(DIRECTORY / "repositories", is_active, get_wsgi_application()))))
