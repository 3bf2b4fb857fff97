"""totals.py FOLDER: name every skipped test in FOLDER's JUnit files, then print `N passed, N failed, N skipped`.

Status 1 when a test failed, or when a file holds no test: a run that tested nothing is no success.
"""

import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "passed" if case.find("skipped") is None else "skipped"


def main(folder):
    counts, empty = Counter(), []
    files = sorted(Path(folder).glob("*.xml"))
    for file in files:
        cases = [(outcome(case), case) for case in xml.parse(file).iter("testcase")]
        counts.update(kind for kind, _ in cases)
        if not cases:
            empty.append(file.name)
        for kind, case in cases:
            if kind == "skipped":
                # pytest has the reason as an attribute, swift test as text.
                skipped = case.find("skipped")
                reason = skipped.get("message") or (skipped.text or "").strip() or "no reason given"
                print(f"skipped: {case.get('classname')} {case.get('name')}: {reason}")
    for file in empty:
        print(f"no test ran for {file}")
    print("{passed} passed, {failed} failed, {skipped} skipped".format_map(counts))
    return 1 if counts["failed"] or empty or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
