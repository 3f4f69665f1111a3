"""The files that people write, as classes, and a function that reads a plain tree into such a class.

The types of the fields determine how they are read (``typed_fields.py``); ``field`` describes them. The JSON Schemas
are generated from both. The sentence about a class is its ``SAYS``, since ``python -OO`` removes docstrings.
"""

from typing import Any

import attrs

from htppower.errors import Finding
from htppower.profiles.field_limits import field, tags
from htppower.profiles.refused import WHERE, Refused
from htppower.profiles.relax_format import LearntFields, RelaxFields
from htppower.profiles.typed_fields import read_fields
from htppower.votes.vote_set import VoteSet

# No `from __future__ import annotations`: the field types are read, and resolving strings slows the start.

_HOW = ("measured", "read")


@attrs.frozen(repr=False, eq=False)
class ProvenanceFields:
    """The mapping ``provenance`` of a profile."""

    SAYS = "The source of the values, for a profile that records the votes of another runtime."

    how: str = field("measured: from the log of its library; read: from its public source.", words=_HOW)
    of: str = field("what was measured or read, with its version.", one_line=True)
    source: str = field("the place where it was found.", one_line=True)


@attrs.frozen(repr=False, eq=False)
class ProfileFields:
    """The file of a profile."""

    SAYS = "A profile: the votes of one performance mode, the power states that it relaxes to, and the times."

    profile: str = field("its name, as shown in status, events and logs.", is_name=True)
    summary: str = field("one sentence.", one_line=True)
    votes: VoteSet | None = field("its votes; unset for no votes, no power config id and no call.")
    relax: RelaxFields | None = field("what follows after a raise; unset only if the profile has no votes.")
    provenance: ProvenanceFields | None = field(
        "the source of the values, for a record of the votes of another runtime.", optional=True
    )


@attrs.frozen(repr=False, eq=False)
class StateFields:
    """The file of a power state."""

    SAYS = "A power state: the votes that a profile relaxes to."

    state: str = field("its name.", is_name=True)
    summary: str = field("one sentence.", one_line=True)
    votes: VoteSet | None = field("its votes.")


# Files that may extend another file of the same kind. The key is not a field, since it is resolved before reading.
EXTENDING = (ProfileFields, StateFields)

# Keys that exclude each other: if a file that extends another states one of them, it replaces the others.
ONE_OF = (frozenset(tags(LearntFields)),)


def structure(tree: Any, kind: type[Any]) -> tuple[Any, tuple[Finding, ...]]:
    """Return the fields, with None for unreadable ones, and all findings."""
    try:
        return read_fields(tree, kind, also=("extends",) if kind in EXTENDING else ()), ()
    except Refused as refused:
        return refused.partial, tuple(_placed(finding) for finding in refused.findings)


def _placed(finding: Finding) -> Finding:
    """Return a finding whose message names the path of fields to it, beginning after the last list."""
    lists = [place for place, key in enumerate(finding.at) if key.isdecimal()]
    keys = finding.at[lists[-1] + 1 :] if lists else finding.at
    return attrs.evolve(finding, message=finding.message.replace(WHERE, "".join(f"{key}." for key in keys)))
