"""Which small cases were run in every order, kept in a file, so that a long run can be broken off and gone on with."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A case depends on the modules of these folders that are imported, and on the profiles.
_FOLDERS = (ROOT / "htppower", ROOT / "tests" / "simulation")


class Record:
    """The cases that were run in every order, by the numbers of preemptions and of slow tasks.

    A line of the file is a case, with a number for the code that it was run on: what was run on other code counts for
    nothing. So the file may be kept for ever, and two runs may add to it at the same time.

    Args:
        path: the file; None where none is kept.
        most_preemptions, most_slow: how many there were at most.

    Attributes:
        complete: the names of the cases that are complete for this code with at least so many.
    """

    def __init__(self, path: Path | None, most_preemptions: int, most_slow: int) -> None:
        self._path = path
        self._most = {"preemptions": most_preemptions, "slow": most_slow}
        self._code = "" if path is None else _code()
        self.complete: set[str] = set()
        if path is not None and path.exists():
            # A line without its end was broken off.
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            found = [json.loads(line) for line in lines if line.endswith("}\n")]
            self.complete.update(
                each["case"]
                for each in found
                if each["code"] == self._code and all(each[what] >= most for what, most in self._most.items())
            )

    def add(self, case: str, orders: int) -> None:
        """Take in that a case is complete, in so many orders."""
        if self._path is not None:
            line = {"code": self._code, **self._most, "orders": orders, "case": case}
            with self._path.open("a", encoding="utf-8") as file:
                # The line before may have been broken off.
                file.write(f"\n{json.dumps(line)}\n")


def _code() -> str:
    """Return a number for everything that a case depends on; whatever a run imports has been imported."""
    modules = {Path(file) for module in tuple(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    paths = {path for path in modules if any(folder in path.parents for folder in _FOLDERS)}
    paths |= set((ROOT / "profiles").rglob("*.yaml"))
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
