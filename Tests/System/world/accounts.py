"""Who exists on every server of the test world: one user and a client for each grant."""

from dataclasses import dataclass

USER = "alice"
PASSWORD = "correct-horse-8"

# RFC 8252 section 7.3: the server accepts any port on these.
REDIRECTS = ("http://127.0.0.1/callback", "http://[::1]/callback", "http://localhost/callback")


@dataclass(frozen=True)
class Client:
    """An OAuth client; `secret` is empty for a public one."""

    id: str
    grant: str
    secret: str = ""


CLIENTS = {
    client.id: client
    for client in (
        Client("native-app", "authorization-code"),
        # Needs form-urlencoding before Basic (RFC 6749 section 2.3.1): a client that leaves it out is refused.
        Client("web-app", "authorization-code", "a secret/with+odd%20:characters&more"),
        Client("tv-app", "urn:ietf:params:oauth:grant-type:device_code"),
        Client("machine", "client-credentials", "machine-secret"),
        Client("legacy", "password", "legacy-secret"),
        Client("resource-server", "client-credentials", "resource-server-secret"),
    )
}
