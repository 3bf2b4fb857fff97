"""Access tokens in requests, and the 401 that asks for one (RFC 6750 section 3, RFC 7617)."""

import base64
import binascii


def presented_token(environ):
    """The access token of a request: a Bearer credential, or the password of a Basic one; None without either."""
    scheme, _, value = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return None


def refusal(start_response, presented):
    """401 with both challenges, as servers send it that take a token either way."""
    error = ', error="invalid_token"' if presented else ""
    body = b"a valid access token is needed\n"
    start_response("401 Unauthorized", [
        ("WWW-Authenticate", 'Basic realm="test world"'),
        ("WWW-Authenticate", f'Bearer realm="test world"{error}'),
        ("Content-Type", "text/plain"),
        ("Content-Length", str(len(body))),
    ])
    return [body]
