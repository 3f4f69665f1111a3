"""Why the vendor's parser refuses a file, as findings with places; all commands use this single reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, shortened
from htppower.tools.extensions.keys import VOTE_SECTIONS, Section
from htppower.tools.extensions.refusals.refused import refused
from htppower.tools.extensions.refusals.text import refused_text
from htppower.tools.extensions.vote_keys import BESIDE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.tools.extensions.extension_file import ExtensionFile

# The keys of each section that vote; None if all of them do.
_OF_VOTES: Mapping[Section, frozenset[str] | None] = {
    Section.TOP: frozenset({"devices", "graphs"}),
    Section.DEVICE: frozenset({"cores"}),
    Section.GRAPH: frozenset({"perf_profile"}),
    Section.CORE: frozenset({"perf_profile", "custom", "hmxControl", *BESIDE}),
    **dict.fromkeys(VOTE_SECTIONS),
}


def refusals(file: ExtensionFile) -> tuple[Finding, ...]:
    """Return why the vendor's parser refuses a file, in the order of the file; empty if the parser accepts it.

    In a template, a placeholder for votes is a finding, too, since the votes are unknown.
    """
    found = [file.problem(each.rule, each.at, each.message, each.hint) for each in refused(file)]
    if (at_text := refused_text(file.text)) is not None:
        offset, message, hint = at_text
        found.append(Finding("EXT-10", (), message, hint, place=file.text.place(offset)))
    found += _unfilled(file)
    return tuple(sorted(dict.fromkeys(found), key=lambda finding: (finding.line, finding.column)))


def _unfilled(file: ExtensionFile) -> Iterator[Finding]:
    """Yield the placeholders that replace votes, or objects with votes."""
    for block in file.blocks:
        keys = _OF_VOTES.get(block.section, frozenset())
        for member in block.node.members:
            for node in (member.node.items or (member.node,)) if keys is None or member.key in keys else ():
                if placeholder := file.text.placeholder(node):
                    message = f"{shortened(member.key)} is the placeholder {shortened(placeholder)}"
                    yield file.problem("EXT-12", node, message, "fill it in")
