"""Attacks on the token that curl sends: that curl, or a library of it, writes it down."""

import os

import pytest

from attacks.client import brief_curl, curl, work
from support.login import get_token
from support.watch import files_with


@pytest.mark.parametrize("arguments", [
    ["--trace", "shown"], ["--trace-ascii", "shown"], ["-v", "--stderr", "shown"], ["--libcurl", "shown"],
    # A script reads standard output.
    ["--trace", "-"], ["--trace-ascii", "-"], ["-v", "--stderr", "-"], ["--stderr", "-", "--trace", "%"],
], ids=" ".join)
def test_no_option_writes_the_token_down(work, dot, arguments):
    token = get_token(work)
    result = curl(work, "-sS", *arguments, dot.resource)
    assert files_with(work, token) == set() and token not in result.stdout + result.stderr


def test_no_option_reads_the_token_from_where_curl_got_it(work, dot):
    token = get_token(work)
    for number in range(3, 9):
        result = brief_curl(work, "-w", f"@/dev/fd/{number}", "-o", "/dev/null", dot.resource)
        assert token not in result.stdout + result.stderr, number


def test_nothing_in_the_environment_has_curl_write_down_what_it_sends(work, dot):
    """Nor has it load a library that others may write, by a file of theirs or behind a link in the user's folder."""
    theirs, folder = work.root / "theirs", work.root / "lib"
    theirs.touch(mode=0o600)
    theirs.chmod(0o666)
    folder.mkdir(mode=0o755)
    (folder / "libcurl.so.4").symlink_to(theirs)
    mine = work.bin / "curl"
    mine.write_text("#!/bin/sh\nenv\n")
    mine.chmod(0o755)
    bad = {"SSLKEYLOGFILE": str(work.root / "keys"), "QLOGDIR": str(work.root),
           "GSS_MECH_CONFIG": str(theirs), "KRB5_CONFIG": theirs.name, "OPENSSL_CONF": str(theirs)}
    bad |= dict.fromkeys(("LD_LIBRARY_PATH", "GCONV_PATH", "OPENSSL_MODULES", "OPENSSL_ENGINES"), str(folder))
    given = bad | {"PATH": f"{work.bin}:/usr/bin:/bin", "SSL_CERT_DIR": "/x"}
    seen = curl(work, dot.resource, environment=given).lines
    mine.unlink()
    assert not [line for line in seen if line.partition("=")[0] in bad], seen
    assert f"PATH={os.path.realpath(work.bin)}:/usr/bin" in seen and "SSL_CERT_DIR=/x" in seen, seen
