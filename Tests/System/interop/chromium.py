"""A person at headless Chromium: fills in what is asked, presses the button, ends at the redirect.

As $BROWSER (URL the only argument) it detaches, as browsers do. Environment:
  WORLD_USER, WORLD_PASSWORD   who logs in
  WORLD_ANSWER                 allow (default) or deny
  WORLD_CODE                   user code for a device page
  WORLD_END                    regular expression for the last address (default: on 127.0.0.1 or [::1])
  WORLD_CERTIFICATE            PEM file: a server with this key is believed, whoever signed it
  WORLD_BROWSER_LOG            file that gets each address and, on failure, the page
"""

import base64
import contextlib
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback

from world.accounts import PASSWORD, USER
from world.browser import detach

# oauthctl's own pages; every server of the tests is called localhost.
LOOPBACK = re.compile(r"^http://(127\.0\.0\.1|\[::1\]):\d+/")
ALLOW = ["authorize", "allow", "accept", "approve", "grant", "confirm", "continue", "yes", "log in", "login", "submit"]
DENY = ["deny", "cancel", "refuse", "reject", "decline", "no"]
LIMIT_SECONDS = 90


class Chromium:
    """One browser with an empty profile."""

    def __init__(self, answer="allow", code="", end=None, certificate=None, user=USER, password=PASSWORD):
        self.answer, self.code, self.user, self.password = answer, code, user, password
        self.end = re.compile(end) if end else LOOPBACK
        self.profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self.addresses = []
        self.driver = start(self.profile.name, certificate)

    def close(self):
        self.driver.quit()
        self.profile.cleanup()

    def open(self, url):
        """Walk from `url` to the end; returns the last address."""
        from selenium.common.exceptions import WebDriverException

        self.driver.get(url)
        end = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < end:
            with contextlib.suppress(WebDriverException):
                if self.end.search(self.note(self.driver.current_url)):
                    return self.addresses[-1]
                before = self.look()
                self.step()
                self.wait_for_change(before)
        raise RuntimeError(f"no end after {LIMIT_SECONDS} s: {self.look()}")

    def note(self, address):
        if self.addresses[-1:] != [address]:
            self.addresses.append(address)
        return address

    def look(self):
        return self.driver.current_url, self.driver.find_element("tag name", "body").text

    def wait_for_change(self, before):
        end = time.monotonic() + 3
        while time.monotonic() < end and self.look() == before:
            time.sleep(0.05)

    def visible(self, selector):
        found = self.driver.find_elements("css selector", selector)
        return [element for element in found if element.is_displayed() and element.is_enabled()]

    def step(self):
        """What a person does with the page that is there."""
        passwords = self.visible("input[type=password]")
        texts = self.visible("input[type=text], input[type=email], input:not([type])")
        names = [field for field in texts if re.search("user|login|email", described(field)) and "code" not in
                 described(field)]
        codes = [field for field in texts if "code" in described(field)] if self.code else []
        if passwords:
            for field, value in [*((field, self.user) for field in names[:1]), (passwords[0], self.password)]:
                field.clear()
                field.send_keys(value)
            passwords[0].send_keys("\n")
        elif codes and not codes[0].get_attribute("value"):
            codes[0].send_keys(self.code + "\n")
        else:
            for box in self.visible("input[type=checkbox]") if self.answer == "allow" else []:
                if not box.is_selected():
                    box.click()
            self.press()

    def press(self):
        """The button whose words say the answer; one that says the other is never pressed."""
        wanted, other = (ALLOW, DENY) if self.answer == "allow" else (DENY, ALLOW)
        ranked = []
        for button in self.visible("button, input[type=submit]"):
            words = described(button)
            if not any(re.search(rf"\b{word}\b", words) for word in other):
                rank = next((at for at, word in enumerate(wanted) if re.search(rf"\b{word}\b", words)), None)
                if rank is not None:
                    ranked.append((rank, button))
        if ranked:
            min(ranked, key=lambda pair: pair[0])[1].click()


def described(element):
    """The words of an element, in small letters."""
    parts = [element.text, *(element.get_attribute(name) for name in ("value", "name", "id", "title"))]
    return " ".join(filter(None, parts)).lower()


def start(profile, certificate):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-extensions", "--disable-background-networking", "--disable-component-update",
            "--no-proxy-server", "--window-size=1000,1000", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    if certificate:
        # Chromium has no flag for a private authority; it can be told which keys to believe.
        options.add_argument(f"--ignore-certificate-errors-spki-list={key_digest(certificate)}")
    os.environ["SE_AVOID_STATS"] = "true"
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.set_page_load_timeout(LIMIT_SECONDS)
    return driver


def key_digest(certificate):
    key = subprocess.run(
        ["openssl", "x509", "-in", certificate, "-pubkey", "-noout"], check=True, capture_output=True).stdout
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-outform", "der"], input=key, check=True, capture_output=True).stdout
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


def main():
    detach()
    log, failure, browser = os.environ.get("WORLD_BROWSER_LOG", os.devnull), "", None
    try:
        browser = Chromium(
            os.environ.get("WORLD_ANSWER", "allow"), os.environ.get("WORLD_CODE", ""), os.environ.get("WORLD_END"),
            os.environ.get("WORLD_CERTIFICATE"))
        browser.open(sys.argv[1])
    except Exception:
        failure = traceback.format_exc()
    with open(log, "a") as file:
        file.writelines(address + "\n" for address in (browser.addresses if browser else []))
        file.write(failure)
    if browser:
        # Real browsers stay; this one gives the redirect page a moment, with its icon.
        time.sleep(0.5)
        browser.close()
