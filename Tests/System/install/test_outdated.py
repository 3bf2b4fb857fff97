"""`make outdated`: which pinned packages have a newer release."""

import shutil
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "Packaging/outdated"


def repository(folder, *tags):
    """A repository with these tags, and where it is."""
    def git(*words):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@invalid", *words], cwd=folder, check=True,
                       capture_output=True)
    folder.mkdir()
    git("init")
    git("commit", "--allow-empty", "-m", "first")
    for tag in tags:
        git("tag", tag)
    return f"file://{folder}"


def ask(tree, *packages):
    (tree / "Packaging").mkdir()
    (tree / "Package.swift").write_text("".join(
        f'    .package(url: "{url}", exact: "{pinned}"{traits}),\n' for url, pinned, traits in packages))
    shutil.copy(SCRIPT, tree / "Packaging")
    return subprocess.run([tree / "Packaging/outdated"], capture_output=True, text=True, timeout=60)


def test_newer_releases_are_named_and_previews_are_none(tmp_path):
    result = ask(
        tmp_path,
        (repository(tmp_path / "old", "1.9.0", "v1.10.0", "2.0.0-beta.1"), "1.9.0", ""),
        (repository(tmp_path / "new", "1.9.0", "1.10.0"), "1.10.0", ", traits: []"),
        (repository(tmp_path / "ahead", "1.9.0"), "1.10.0", ""))
    assert result.stdout == "old 1.10.0, pinned is 1.9.0\n3 packages, 1 with a newer release\n", result
    assert result.returncode == 0


def test_a_repository_that_cannot_be_asked_is_told(tmp_path):
    result = ask(
        tmp_path, (f"file://{tmp_path}/none", "1.0.0", ""), (repository(tmp_path / "new", "1.0.0"), "1.0.0", ""))
    assert result.returncode == 69 and "1 could not be asked" in result.stderr, result


def test_every_direct_package_is_pinned():
    lines = [line for line in (SCRIPT.parents[1] / "Package.swift").read_text().splitlines() if ".package(url:" in line]
    assert lines and all(', exact: "' in line for line in lines)
