"""What somebody who may write a folder on the way to an account file makes of it: the file is another one tomorrow.

Each test is the attack: its file was read before the program was mended."""

import os
import struct
import unicodedata

import pytest

from support.accounts import account_file
from support.others import home_of_nobody

FILE = ('issuer = "https://evil.example"', 'client_id = "evil"')
# Not in passwd(5): then the group of his number is taken for his private one.
USER, OTHER = 4343, 4242


def access_list(user):
    """An access list (acl(5)) that lets `user` write, as the kernel keeps it: version, then each entry."""
    nobody = 0xFFFFFFFF
    entries = [(1, 7, nobody), (2, 7, user), (4, 5, nobody), (16, 7, nobody), (32, 5, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def reload(home):
    """What somebody else's `oauthctl reload` says of his account file, and its status."""
    file = account_file(home)
    file.parent.mkdir(parents=True, mode=0o700)
    file.write_text("".join(line + "\n" for line in FILE))
    home.give()
    home.begin_agent(stdout=None, stderr=None)
    told = home.begin(home.programs / "oauthctl", "reload")
    _, said = told.communicate(timeout=20)
    return told.returncode, said


def test_a_folder_that_an_access_list_lets_another_user_write_is_not_read_from(scratch, programs):
    """Its mode shows the rights of the list as those of the group, which is the user's private one."""
    with home_of_nobody(scratch, programs, USER) as home:
        try:
            os.setxattr(home.config, "system.posix_acl_access", access_list(OTHER))
        except OSError as error:
            pytest.skip(f"the file system has no access lists: {error.strerror}")
        assert home.config.stat().st_mode & 0o777 == 0o775
        status, said = reload(home)
        assert status == 3 and "may be written by others (mode 775)" in said, said


def test_a_group_of_the_user_s_number_is_not_his_alone(scratch, programs):
    """`nogroup` has the number of `nobody`, and may have members; a private group has its user's name."""
    with home_of_nobody(scratch, programs) as home:
        home.config.chmod(0o775)
        status, said = reload(home)
        assert status == 3 and "may be written by others (mode 775)" in said, said


def test_a_folder_whose_name_differs_in_its_bytes_alone_is_looked_at_as_well(home, agent):
    """Two spellings of one letter are one text, and two folders."""
    closed, opened = (home.root / unicodedata.normalize(form, "caf\u00e9") for form in ("NFC", "NFD"))
    closed.mkdir(mode=0o755)
    opened.mkdir()
    opened.chmod(0o777)
    (home.root / "download").write_text("".join(line + "\n" for line in FILE))
    (home.root / "download").chmod(0o600)
    (opened / "link").symlink_to(home.root / "download")
    file = account_file(home)
    file.parent.mkdir(parents=True, mode=0o700)
    file.symlink_to(closed / ".." / opened.name / "link")
    told = home.oauthctl("reload", check=False)
    assert told.status == 3 and "may be written by others (mode 777)" in told.stderr, told


@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "XDG_STATE_HOME", "HOME", "XDG_RUNTIME_DIR"])
def test_a_folder_whose_name_is_no_text_is_not_taken_for_another(home, variable):
    """The vault was made in another one, and two such names were one."""
    folder = home.root / os.fsdecode(b"d\xe9")
    folder.mkdir(mode=0o700)
    environment = {variable: str(folder)}
    if variable == "HOME":
        environment |= {name: "" for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    refused = home.oauthctl("vault", "create", check=False, environment=environment)
    assert refused.status != 0 and f"{variable} is not UTF-8" in refused.stderr, refused
    assert not list(home.root.glob("*\ufffd*")) and not list(folder.iterdir())
