"""Make the parts of the pages that repeat the code or the shipped profiles.

python -m docs.generate            write them into the pages
python -m docs.generate --check    exit 1 if a page differs

A part is between the comments ``% begin NAME`` and ``% end NAME`` of a page. Pictures are files of their own.
"""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from docs import (
    command_parts,
    compare_parts,
    control_parts,
    dashboard,
    metric_parts,
    model_parts,
    pace_parts,
    profile_parts,
    provider_parts,
    review_parts,
    rule_parts,
    service_parts,
    settings_parts,
    trace_parts,
    vote_path,
    vote_test_parts,
    voter_parts,
)
from docs.console import run
from docs.man_pages import man_pages
from docs.public_names import public_names

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS = Path(__file__).parent
_PART = re.compile(r"^% begin (?P<name>[\w-]+)\n.*?^% end (?P=name)$", re.MULTILINE | re.DOTALL)


def page(text: str) -> str:
    """Return a page with its generated parts made again."""
    return _PART.sub(_part, text)


def _part(found: re.Match[str]) -> str:
    name = found["name"]
    return f"% begin {name}\n\n{_PARTS[name]()}\n\n% end {name}"


def main(arguments: list[str]) -> int:
    """Write the pages, or with ``--check`` compare them; return the exit code."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    stale = []
    pages = [(path, page) for path in sorted(DOCS.glob("*.md"))]
    for path, make in (*pages, *((DOCS / name, make) for name, make in _FILES.items())):
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        made = make(text)
        if made != text and arguments:
            stale.append(path.name)
        elif made != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(made, encoding="utf-8")
    if stale:
        sys.stderr.write(f"{', '.join(stale)}: not what the code says; run python -m docs.generate\n")
    return 1 if stale else 0


def _vote_path() -> str:
    """Return every file of a vote's way, after the line of YAML."""
    line = vote_path.stages()[0]
    return "\n".join(f"1. `{file}`: {does}." for file, does in ((line.file, line.does), *vote_path.WAY))


_PARTS: dict[str, Callable[[], str]] = {
    "vote-path": _vote_path,
    **command_parts.PARTS,
    **compare_parts.PARTS,
    **control_parts.PARTS,
    **metric_parts.PARTS,
    **model_parts.PARTS,
    **pace_parts.PARTS,
    **profile_parts.PARTS,
    **provider_parts.PARTS,
    **review_parts.PARTS,
    **rule_parts.PARTS,
    **service_parts.PARTS,
    **settings_parts.PARTS,
    **trace_parts.PARTS,
    **vote_test_parts.PARTS,
    **voter_parts.PARTS,
}
# These files are written whole.
_FILES: dict[str, Callable[[str], str]] = {
    **{f"man/{name}": functools.partial(lambda text, _: text, text) for name, text in man_pages().items()},
    "monitoring/dashboard.json": lambda _: dashboard.text(),
    "public_names.txt": public_names,
    "trace.svg": lambda _: trace_parts.picture(),
    "burst.svg": lambda _: f"{run('profile', 'burst', '--dry-run', '--format', 'svg')}\n",
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
