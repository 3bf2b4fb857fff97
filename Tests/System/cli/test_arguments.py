"""Arguments that are no text."""

import os

import pytest

from cli.logged_in import server, work

NAME = os.fsdecode(b"r\xe9")


@pytest.mark.parametrize("words", [
    ["vault", "backup", NAME], ["curl", "work", "-T", NAME], ["curl", "work", "-d", "name=" + NAME],
    ["login", "work", "--username", NAME]], ids=lambda words: " ".join(words[:2]))
def test_an_argument_that_is_no_text_is_refused_and_not_taken_for_another(work, words):
    """It named another file, and other bytes were sent."""
    (work.root / "r\ufffd").write_text("of another file")
    before = sorted(os.listdir(work.root))
    refused = work.oauthctl(*words, check=False)
    assert refused.status == 64 and "is not UTF-8; nothing is done" in refused.stderr, refused
    assert sorted(os.listdir(work.root)) == before
