"""A person with a browser, without the browser: fills in the login form, answers consent, follows the redirects.

As a program (usable in $BROWSER, URL the only argument) it detaches at once, as xdg-open does. Environment:
  WORLD_USER, WORLD_PASSWORD   who logs in
  WORLD_ANSWER                 allow (default) or deny
  WORLD_CA                     PEM file of the authority that signed the servers' certificates
  WORLD_BROWSER_LOG            file that gets one line a page and, on failure, why
"""

import contextlib
import os
import re
import sys
import traceback
import urllib.parse
from dataclasses import dataclass, field
from html.parser import HTMLParser

import requests

from world.accounts import PASSWORD, USER

LOOPBACK_REDIRECT = re.compile(r"https?://(127\.0\.0\.1|\[::1\]|localhost):\d+(/[0-9a-f]{16})?/callback(\?|$)")
WORDS = {
    "allow": {"allow", "accept", "authorize", "approve", "continue", "submit"},
    "deny": {"deny", "cancel", "refuse", "reject"},
}
STEPS = 12


@dataclass
class Form:
    """An HTML form: `fields` are (name, value, type), `buttons` are (name, value, words on it)."""

    action: str
    method: str
    fields: list = field(default_factory=list)
    buttons: list = field(default_factory=list)


class Forms(HTMLParser):
    """Collects the forms of a page."""

    def __init__(self, page):
        super().__init__()
        self.found, self.button = [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        at = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.found.append(Form(at.get("action", ""), at.get("method", "get").lower()))
        elif self.found and tag == "input":
            kind = at.get("type", "text").lower()
            if kind == "submit":
                self.found[-1].buttons.append((at.get("name"), at.get("value", ""), at.get("value", "")))
            elif at.get("name") and (kind not in ("checkbox", "radio") or "checked" in at):
                self.found[-1].fields.append((at["name"], at.get("value", ""), kind))
        elif self.found and tag == "button" and at.get("type", "submit") == "submit":
            self.button = [at.get("name"), at.get("value", ""), ""]

    def handle_data(self, data):
        if self.button is not None:
            self.button[2] += data

    def handle_endtag(self, tag):
        if tag == "button" and self.button is not None:
            self.found[-1].buttons.append(tuple(self.button))
            self.button = None


class Browser:
    """One person at one browser; cookies last as long as the object. `pages` lists (method, URL, status)."""

    def __init__(self, user=USER, password=PASSWORD, answer="allow", ca_file=None, user_code=None):
        self.user, self.password, self.answer, self.user_code = user, password, answer, user_code
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.verify = str(ca_file) if ca_file else True
        self.pages = []

    def open(self, url, follow_redirect=True):
        """Log in and answer; ends at the loopback redirect (visited unless told otherwise), which is returned."""
        location = self.walk(url, lambda address: LOOPBACK_REDIRECT.match(address))
        if follow_redirect:
            self.request("get", location, allow_redirects=True)
            # Real browsers ask for this too, right after the page.
            with contextlib.suppress(requests.ConnectionError):
                self.request("get", urllib.parse.urljoin(location, "/favicon.ico"))
        return location

    def walk(self, url, is_end):
        """Follow redirects and submit forms from `url` until `is_end(url)`, or until a page has no form left."""
        method, data = "get", None
        for _ in range(STEPS):
            if is_end(url):
                return url
            answer = self.request(method, url, data=data, headers={"Referer": url} if data else {})
            if answer.is_redirect:
                url, method, data = urllib.parse.urljoin(url, answer.headers["Location"]), "get", None
                continue
            form = self.choose(Forms(answer.text).found)
            if form is None:
                if answer.ok and self.user_code:
                    return url
                raise RuntimeError(f"no form at {url} (status {answer.status_code}): {answer.text[:500]!r}")
            url, method, data = urllib.parse.urljoin(url, form.action or url), form.method, self.fill(form)
        raise RuntimeError(f"no end after {STEPS} pages: {self.pages}")

    def request(self, method, url, allow_redirects=False, **options):
        answer = self.session.request(method, url, allow_redirects=allow_redirects, timeout=30, **options)
        self.pages.append((method, url, answer.status_code))
        return answer

    @staticmethod
    def choose(forms):
        has_password = [form for form in forms if any(kind == "password" for _, _, kind in form.fields)]
        return next(iter(has_password or [form for form in forms if form.method == "post"]), None)

    def fill(self, form):
        data = []
        for name, value, kind in form.fields:
            if kind == "password":
                value = self.password
            elif kind == "text" and "user_code" in name:
                value = value or self.user_code
            elif kind in ("text", "email") and "user" in name:
                value = self.user
            data.append((name, value))
        # The login form has one button whose words say neither.
        wanted = [button for button in form.buttons if WORDS[self.answer] & words(button)]
        pressed = (wanted or form.buttons or [(None, "", "")])[0]
        if pressed[0]:
            data.append(pressed[:2])
        return data


def words(button):
    return set(" ".join(map(str, button)).lower().split())


def detach():
    """Return in a grandchild with a session of its own; the program that was started ends with status 0."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: browser URL")
    detach()
    browser = Browser(
        os.environ.get("WORLD_USER", USER), os.environ.get("WORLD_PASSWORD", PASSWORD),
        os.environ.get("WORLD_ANSWER", "allow"), os.environ.get("WORLD_CA"))
    failure = ""
    try:
        browser.open(sys.argv[1])
    except Exception:
        failure = traceback.format_exc()
    with open(os.environ.get("WORLD_BROWSER_LOG", os.devnull), "a") as log:
        log.writelines(f"{method.upper()} {url} {status}\n" for method, url, status in browser.pages)
        log.write(failure)


if __name__ == "__main__":
    main()
