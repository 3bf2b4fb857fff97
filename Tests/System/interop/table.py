"""What was seen on which server, collected while the tests run, and written as a table for docs/interop.md."""

import importlib.metadata
import subprocess
from dataclasses import dataclass, field

BEGIN, END = "<!-- seen: begin -->", "<!-- seen: end -->"


@dataclass
class Row:
    """One line of the table; `said` is what the test learned, `ended` passed, failed or skipped."""

    server: str
    feature: str
    said: list = field(default_factory=list)
    ended: str = "not run"

    def seen(self, text):
        if text not in self.said:
            self.said.append(text)


def package(name):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True)
    return found.stdout.strip() or "not installed"


def versions():
    """The engines by name and version."""
    return [
        f"django-oauth-toolkit {importlib.metadata.version('django-oauth-toolkit')} (Python, oauthlib "
        f"{importlib.metadata.version('oauthlib')}, gunicorn {importlib.metadata.version('gunicorn')})",
        f"Glewlwyd {package('glewlwyd')} (C, Debian's package)",
        f"NanoIDP {importlib.metadata.version('nanoidp')} (Python, Flask)",
        f"authlib {importlib.metadata.version('authlib')} (Python): a server of its own grants",
        f"idpyoidc {importlib.metadata.version('idpyoidc')} (Python)",
        f"Apache {package('apache2')} with mod_oauth2 {package('libapache2-mod-oauth2')}",
        f"Chromium {package('chromium')}, driven by selenium {importlib.metadata.version('selenium')}",
        f"fastmcp {importlib.metadata.version('fastmcp')}, mcp {importlib.metadata.version('mcp')} (Python)",
        f"git-lfs {package('git-lfs')}",
        subprocess.run(["git", "--version"], capture_output=True, text=True).stdout.strip(),
    ]


def text(rows):
    lines = [BEGIN, "", *(f"- {version}" for version in versions()), ""]
    lines += ["| server | feature | seen |", "|---|---|---|"]
    for row in rows:
        said = "; ".join(row.said) if row.ended == "passed" else f"**{row.ended}**"
        lines.append(f"| {row.server} | {row.feature} | {said} |")
    return "\n".join([*lines, "", END])


def write(file, rows):
    """Replace what stands between the marks of `file`."""
    before, rest = file.read_text().split(BEGIN)
    _, after = rest.split(END)
    file.write_text(before + text(rows) + after)
