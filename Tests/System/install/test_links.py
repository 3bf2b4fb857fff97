"""What the release programs are made of: a client that starts fast, and no weight nobody asked for."""

import re
import subprocess

import pytest

# The C and C++ runtimes. Everything else is named below for the one program that needs it.
RUNTIMES = {
    "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libstdc++.so.6", "libgcc_s.so.1"}
LIBRARIES = {
    "oauthd": {"libsodium.so.23", "libsqlite3.so.0"},
    "oauthd-fetch": {"libcurl.so.4"},
    "oauthd-redirect": set(),
}


def read_elf(program, option):
    return subprocess.run(["readelf", "-W", option, program], check=True, capture_output=True, text=True).stdout


def shared_libraries(program):
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", read_elf(program, "-d")))


def test_the_client_is_static(programs):
    """No shared library and no interpreter: nothing is loaded but the program."""
    program = programs / "oauthctl"
    assert shared_libraries(program) == set()
    assert "INTERP" not in read_elf(program, "-l")


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_program_needs_exactly_the_libraries_it_is_meant_to(programs, name):
    assert shared_libraries(programs / name) - RUNTIMES == LIBRARIES[name]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_program_takes_its_libraries_from_the_system_alone(programs, name):
    """A folder beside the program costs a start two dozen failed look-ups, and whoever can write there a library."""
    assert not re.search(r"\((RUNPATH|RPATH)\)", read_elf(programs / name, "-d"))


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_program_is_bound_whole_at_its_start(programs, name):
    """Lazy binding saves registers, and what secrets are in them, on the stack."""
    assert re.search(r"\(FLAGS_1\).*\bNOW\b", read_elf(programs / name, "-d"))


@pytest.mark.parametrize("name", ["oauthctl", "oauthd", "oauthd-fetch", "oauthd-redirect"])
def test_no_unicode_tables_are_linked(programs, name):
    """`icudt` names ICU's data, 35 MB that full Foundation brings along."""
    assert b"icudt" not in (programs / name).read_bytes()


@pytest.mark.parametrize("name", ["oauthd", "oauthd-fetch", "oauthd-redirect"])
def test_no_foundation_is_linked(programs, name):
    """A quarter of the addresses that the loader moves at a start, for JSON and dates."""
    assert b"FoundationEssentials" not in (programs / name).read_bytes()


@pytest.mark.parametrize("name", ["oauthd", "oauthd-fetch"])
def test_no_regular_expressions_are_linked(programs, name):
    """One `text.contains(".local")` links them all: half of oauthd-fetch, and a tenth of a refresh."""
    assert b"RegexParser" not in (programs / name).read_bytes()


@pytest.mark.parametrize("name", ["oauthd", "oauthd-fetch", "oauthd-redirect"])
def test_a_program_that_stays_is_address_randomised(programs, name):
    """Position independent, with relocations read-only before the first line runs (the static client is neither)."""
    assert re.search(r"Type:\s+DYN", read_elf(programs / name, "-h"))
    assert "GNU_RELRO" in read_elf(programs / name, "-l")


def test_no_http_is_parsed_where_the_keys_are(programs):
    """Neither NIO's parser (llhttp) nor the rest of NIO: a browser's bytes are read by another program."""
    for text in (b"llhttp", b"NIOHTTP1", b"NIOPosix", b"NIOCore"):
        assert text not in (programs / "oauthd").read_bytes(), text
        assert text in (programs / "oauthd-redirect").read_bytes(), text
