"""mcp_server.py PORT SECONDS: fastmcp's server with an OAuth server in memory, whose access tokens last SECONDS.

Its issuer has a final slash, its metadata lists only methods with a secret although public clients can be registered,
and every refresh rotates.
"""

import sys

import fastmcp.server.auth.providers.in_memory as in_memory
from fastmcp import FastMCP
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions


def main(port, seconds):
    in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = seconds
    options = ClientRegistrationOptions(enabled=True, valid_scopes=["read"], default_scopes=["read"])
    auth = in_memory.InMemoryOAuthProvider(
        base_url=f"http://127.0.0.1:{port}", client_registration_options=options,
        revocation_options=RevocationOptions(enabled=True), required_scopes=["read"])
    server = FastMCP("test", auth=auth)

    @server.tool
    def hello(name: str) -> str:
        return f"hello {name}"

    server.run(transport="http", host="127.0.0.1", port=port, show_banner=False)


main(int(sys.argv[1]), int(sys.argv[2]))
