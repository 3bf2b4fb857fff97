"""git goes by its settings for the address that it began with, however that is spelled and wherever a server leads it.

Each test is the attack: it was seen to succeed before the program was mended."""

import os
import subprocess

import pytest

from attacks.git_steps import ASKS, GRANTED, granted, servers, url
from network.accounts import endpoints, log_in_by_password, write_account
from network.identities import Authority, folder_of
from network.listeners import Portal, server_tls
from network.namespaces import isolated, needs_root, replace

# git finds no settings for them, and libcurl reads them as this server's.
SPELLED = [
    "https://%6cocalhost:{port}/x", "https://localhost:{port}/%zz", "https://me%zz@localhost:{port}/x",
    "https://localhost:{port}/x%\uff12\uff11.git", "https://localhost:{port}/x%\u0301zz.git",
    "https://localhost:{port}/%2e%2e/one.git", "https://localhost:{port}/.%2E/one.git",
    "ftps::https://%6cocalhost:{port}/x", "https://%6cocalhost:{port}/git-remote-https",
]


def believed_by_the_system(home, second, port, *command):
    """What an impostor at `port` with a certificate by one of the system's authorities is asked for."""
    def attack():
        replace("/etc/ssl/certs", folder_of(second, home.root / "certs"))
        with Portal(**ASKS, tls=server_tls(second.issue("localhost")), port=port) as server:
            return server.requests, home.run(*command, check=False)

    asked, told = isolated(attack)
    assert asked != [] and "password" not in str(asked) and granted(asked) == [], told
    return told.stderr


def ask_for_all(home, url):
    """git asks us for whatever address: by one that it cannot read it does not find a server's helper either."""
    [helper] = home.run("git", "config", "--global", "--get-all", f"credential.{url}.helper").stdout.split("\n")[-2:-1]
    home.run("git", "config", "--global", "credential.helper", helper)


@needs_root
@pytest.mark.parametrize("spelled", SPELLED)
def test_an_address_that_git_finds_no_settings_for_has_it_believe_nobody_else(home, servers, url, spelled):
    port = int(url.rpartition(":")[2])
    ask_for_all(home, url)
    told = believed_by_the_system(home, servers[1], port, "git", "ls-remote", spelled.format(port=port))
    assert "git remote -v" in told


@needs_root
def test_no_chain_of_programs_hides_the_address_that_git_began_with(home, servers, url):
    """The helper is a script that runs a script that runs one."""
    port = int(url.rpartition(":")[2])
    ask_for_all(home, url)
    inner = home.run("git", "config", "--global", "credential.helper").stdout.strip()
    home.run("git", "config", "--global", "--unset-all", f"credential.{url}.helper")
    for number in range(4):
        script = home.root / f"wrapper{number}"
        script.write_text(f'#!/bin/sh\n{inner} "$@"\nexit $?\n')
        script.chmod(0o700)
        inner = script
    home.run("git", "config", "--global", "credential.helper", str(inner))
    believed_by_the_system(home, servers[1], port, "git", "ls-remote", SPELLED[0].format(port=port))


def test_a_folder_s_name_that_is_no_text_hides_none_of_git_s_settings(home, servers, url):
    """git's own folder of a linked worktree is one, and it checks nobody."""
    main = os.fsencode(home.root) + b"/caf\xe9"

    def git(*words):
        subprocess.run(["git", "-C", main, "-c", "user.name=x", "-c", "user.email=x@x", *words], env=home.environment,
                       check=True, capture_output=True)

    os.mkdir(main)
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "x")
    git("worktree", "add", "-q", str(home.root / "linked"))
    git("remote", "add", "origin", f"{url.replace('//', '//work@')}/one.git")
    git("config", "http.sslVerify", "false")
    other = Authority(home.root / "other").issue("localhost")
    with Portal(**ASKS, tls=server_tls(other), port=int(url.rpartition(":")[2])) as server:
        told = home.run("git", "-C", str(home.root / "linked"), "fetch", "origin", check=False)
    assert server.requests != [] and granted(server.requests) == [] and "http.sslVerify" in told.stderr, told


@needs_root
@pytest.mark.parametrize("spelled", SPELLED[3:5])
def test_a_submodule_s_address_has_git_believe_nobody_else(home, servers, url, spelled):
    """Whoever wrote `.gitmodules` chose it, and nobody reads it."""
    folder, port = home.root / "outer", int(url.rpartition(":")[2])
    outer = ("git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@x")
    home.run("git", "init", "-q", str(folder))
    home.run(*outer, "commit", "-q", "--allow-empty", "-m", "x")
    commit = home.run(*outer, "rev-parse", "HEAD").stdout.strip()
    for name, value in [("path", "s"), ("url", spelled.format(port=port))]:
        home.run(*outer, "config", "-f", str(folder / ".gitmodules"), f"submodule.s.{name}", value)
    home.run(*outer, "update-index", "--add", "--cacheinfo", f"160000,{commit},s")
    home.run(*outer, "add", ".gitmodules")
    home.run(*outer, "commit", "-q", "-m", "s")
    believed_by_the_system(
        home, servers[1], port, "git", "clone", "--recurse-submodules", str(folder), str(home.root / "inner"))


def test_a_server_that_leads_git_to_another_gets_no_token_of_that_one(home, servers, url):
    """git would believe the authority of the server that it began at."""
    _, second, _ = servers
    with Portal("200 OK", GRANTED, tls=server_tls(second.issue("leading", names=("127.0.0.1",)))) as leading:
        began = f"https://127.0.0.1:{leading.port}"
        write_account(home, "third", **endpoints(began), ca_file=str(second.file))
        log_in_by_password(home, "third")
        home.oauthctl("setup", "git", "--yes", "--account", "third")
        leading.say("302 Found", "", [f"Location: {url}/one.git/info/refs?service=git-upload-pack"])
        port = int(url.rpartition(":")[2])
        with Portal(**ASKS, tls=server_tls(second.issue("localhost")), port=port) as impostor:
            told = home.run("git", "ls-remote", f"{began}/one.git", check=False)
    assert impostor.requests != [] and granted(impostor.requests) == [], told


@pytest.fixture
def led(home, agent, scratch):
    """The first server has an authority of its own, and leads git to another host, of the account `victim`, where an
    impostor has a certificate by that authority. A function: the tokens that he gets where git begins at an address."""
    authority = Authority(scratch / "attacks-leading")
    with (Portal("200 OK", GRANTED) as issuer,
          Portal("200 OK", GRANTED, tls=server_tls(authority.issue("leading", names=("127.0.0.1",)))) as leading,
          Portal(**ASKS, tls=server_tls(authority.issue("victim", names=("localhost",)))) as impostor):
        began, target = f"https://127.0.0.1:{leading.port}", f"https://localhost:{impostor.port}"

        def ask(believes, address="https://127.0.0.1:{port}/one.git", query=""):
            own = f"http://127.0.0.1:{issuer.port}"
            if believes == "an authority for its own server":
                write_account(home, "victim", **endpoints(began), ca_file=str(authority.file), hosts=[began, target])
            else:
                keys = {"ca_file": str(authority.file)} if believes == "the same authority" else {}
                write_account(home, "victim", **endpoints(own), hosts=[own, target], **keys)
                if believes == "whom git does not check":
                    home.run("git", "config", "--global", f"http.{began}.sslVerify", "false")
                elif believes == "whom git takes from a file of the user's":
                    home.run("git", "config", "--global", f"http.{began}.sslCAInfo", str(authority.file))
                else:
                    write_account(home, "third", **endpoints(began), ca_file=str(authority.file))
                    log_in_by_password(home, "third")
            log_in_by_password(home, "victim")
            home.oauthctl("setup", "git", "--yes")
            path = f"{query}/info/refs&" if query else "one.git/info/refs?"
            leading.say("302 Found", "", [f"Location: {target}/{path}service=git-upload-pack"])
            told = home.run("git", "ls-remote", address.format(port=leading.port), check=False)
            assert impostor.requests != [], told
            return granted(impostor.requests)
        yield ask


@pytest.mark.parametrize(
    ("address", "query"),
    [("https://127.0.0.1:{port}/remote-https", ""),
     ("https://127.0.0.1:0{port}/one.git", ""), ("https://127.0.0.1:{port}?x/one.git", "?x/one.git"),
     ("https://127.0.0.1:{port}#x/one.git", ""), ("https://me@127.0.0.1:{port}?/one.git", "?/one.git")])
def test_no_spelling_of_the_first_address_hides_whom_git_believes_at_the_second(led, address, query):
    assert led("the system", address, query) == []


@pytest.mark.parametrize("believes", [
    "the same authority", "an authority for its own server", "whom git does not check",
    "whom git takes from a file of the user's"])
def test_a_server_that_leads_git_on_lends_its_settings_to_no_other_host(led, believes):
    assert led(believes) == []


@needs_root
@pytest.mark.parametrize("key", ["http.sslCAPath", "http.https://*.sslCAPath"])
def test_a_folder_of_authorities_for_all_servers_is_not_the_user_s_word_for_this_one(home, servers, url, key):
    port = url.rpartition(":")[2]
    home.run("git", "config", "--global", "--unset-all", f"http.{url}.sslCAPath")
    home.run("git", "config", "--global", key, "/etc/ssl/certs")
    believed_by_the_system(home, servers[1], int(port), "git", "ls-remote", f"https://work@localhost:{port}/one.git")
