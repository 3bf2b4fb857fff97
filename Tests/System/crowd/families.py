"""Which refresh tokens a server holds for good: rotation, reuse detection and grace, as values."""

import dataclasses


@dataclasses.dataclass
class Issued:
    """One refresh token of a family."""

    at: float
    used: float | None = None
    # What it was exchanged for last.
    child: int | None = None
    # Another token was given in its place, so it ends nothing but itself.
    superseded: bool = False


class Family:
    """What one login gave: generation after generation, each used once. Reuse ends all of it."""

    def __init__(self, number, now):
        self.number, self.revoked = number, False
        self.issued = [Issued(now)]

    @property
    def current(self):
        return len(self.issued) - 1

    def issue(self, parent, now):
        self.issued.append(Issued(now))
        self.issued[parent].child = self.current
        return self.current

    def present(self, generation, now, grace=0.0, pairs="same"):
        """(verdict, generation given or None). Verdicts: rotated, again, revoked, reuse, superseded."""
        if self.revoked:
            return "revoked", None
        token = self.issued[generation]
        if token.superseded:
            return "superseded", None
        if token.used is None:
            token.used = now
            return "rotated", self.issue(generation, now)
        child = self.issued[token.child]
        if now - token.used <= grace and child.used is None:
            if pairs == "same":
                return "again", token.child
            child.superseded = True
            return "again", self.issue(generation, now)
        self.revoked = True
        return "reuse", None

    def accepts(self, generation, now, grace=0.0):
        """Whether `present` would give a token."""
        token = self.issued[generation]
        if self.revoked or token.superseded:
            return False
        return token.used is None or now - token.used <= grace and self.issued[token.child].used is None


class Families:
    """The newest family of each account."""

    def __init__(self):
        self.of = {}

    def login(self, account, now):
        before = self.of.get(account)
        self.of[account] = Family(before.number + 1 if before else 1, now)
        return self.of[account]

    def find(self, account, token):
        """(family, generation) of a refresh token; (None, None) where it is nobody's."""
        number, generation = parse(account, token)
        family = self.of.get(account)
        if family is None or family.number != number or not 0 <= generation <= family.current:
            return None, None
        return family, generation


def refresh_token(account, family, generation):
    return f"rt-{account}-{family}-{generation}-0123456789abcdefghijklmnopqrstuvwxyz"


def access_token(account, family, generation):
    return f"at-{account}-{family}-{generation}-0123456789abcdefghijklmnopqrstuvwxyz"


def parse(account, token):
    """(family, generation); (0, -1) for what is no token of the account."""
    parts = token.split("-")
    if len(parts) != 5 or parts[1] != account or not (parts[2].isdigit() and parts[3].isdigit()):
        return 0, -1
    return int(parts[2]), int(parts[3])
