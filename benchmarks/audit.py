"""Known vulnerabilities of the packages in constraints.txt, by pip-audit: `make audit` installs and calls it.

python -m benchmarks.audit

The exit code is 1 if there are some. Where the data cannot be reached, nothing is known, and that is what is said.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

_CONSTRAINTS = Path(__file__).parent.parent / "constraints.txt"
_COMMAND = ("--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json", "--requirement")


class Audit(NamedTuple):
    """What is known about packages."""

    checked: int
    unknown: int
    vulnerable: list[str]

    def describe(self) -> str:
        """Return the result as a sentence."""
        if self.vulnerable:
            return "pip-audit: known vulnerabilities:\n" + "\n".join(self.vulnerable)
        if not self.checked:
            return "pip-audit: NOT CHECKED: the data on vulnerabilities cannot be reached, so nothing is known."
        return f"pip-audit: {self.checked} packages without a known vulnerability, {self.unknown} could not be checked."


def read(content: dict[str, Any]) -> Audit:
    """Return what a report of pip-audit says.

    >>> read({"dependencies": [{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "?"}]})
    Audit(checked=1, unknown=1, vulnerable=[])
    """
    packages = content["dependencies"]
    known = [package for package in packages if "vulns" in package]
    vulnerable = [f"{each['name']} {each['version']}: {vuln['id']}" for each in known for vuln in each["vulns"]]
    return Audit(len(known), len(packages) - len(known), vulnerable)


def main() -> None:
    """Print what is known about the packages."""
    words = [sys.executable, "-m", "pip_audit", *_COMMAND, str(_CONSTRAINTS)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 -- a command of our own
    try:
        found = read(json.loads(done.stdout))
    except ValueError:  # without a network it ends with a traceback
        if "ConnectionError" not in done.stderr and "ServiceError" not in done.stderr:
            sys.exit(done.stderr or "pip-audit printed nothing")
        found = Audit(0, 0, [])
    print(found.describe())
    sys.exit(1 if found.vulnerable else 0)


if __name__ == "__main__":
    main()
