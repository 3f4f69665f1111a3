"""Why the vendor's parser refuses a file, as findings at their places: one reading of it for every command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding
from htppower.extensions.refusals.refused import refused
from htppower.extensions.refusals.text import refused_text

if TYPE_CHECKING:
    from htppower.extensions.extension_file import ExtensionFile


def refusals(file: ExtensionFile) -> tuple[Finding, ...]:
    """Return why the vendor's parser refuses a file, in the order of the file; nothing where it takes it."""
    found = [file.problem(each.rule, each.at, each.message, each.hint) for each in refused(file)]
    if (at_text := refused_text(file.text)) is not None:
        offset, message, hint = at_text
        found.append(Finding("EXT-10", (), message, hint, place=file.text.place(offset)))
    return tuple(sorted(dict.fromkeys(found), key=lambda finding: (finding.line, finding.column)))
