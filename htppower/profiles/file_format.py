"""The files that people write, as classes, and a plain tree read into one of them.

The types of the fields say how they are read (``typed_fields.py``), and ``field`` what they are. The JSON Schemas
are made of both; the sentence on a class is its ``SAYS``, since ``python -OO`` has no docstrings.
"""

from typing import Any

import attrs

from htppower.errors import Finding
from htppower.profiles.field_limits import FileFields, field, tags
from htppower.profiles.refused import WHERE, Refused
from htppower.profiles.relax_format import LearntFields, RelaxFields
from htppower.profiles.typed_fields import read_fields
from htppower.votes.vote_set import VoteSet

# No postponed annotations here: the types of the fields are read, and resolving them would cost start-up.

_HOW = ("measured", "read")


class ProvenanceFields(FileFields):
    """What stands below ``provenance`` in a profile."""

    SAYS = "Where the values of a profile that records what another runtime votes are from."

    how: str = field("measured: what its library logged; read: what its public source says.", words=_HOW)
    of: str = field("what was measured or read, with its version.", one_line=True)
    source: str = field("where that was found.", one_line=True)


class ProfileFields(FileFields):
    """What stands in the file of a profile."""

    SAYS = "A profile: the votes of one performance mode, what it relaxes to, and after how long."

    profile: str = field("its name, as shown in status, events and logs.", is_name=True)
    summary: str = field("one sentence.", one_line=True)
    votes: VoteSet | None = field("its votes; unset for no votes, no power config id and no call.")
    relax: RelaxFields | None = field("what follows a raise; unset only where there are no votes.")
    provenance: ProvenanceFields | None = field(
        "for a record of what another runtime votes, where that is from.", optional=True
    )


class StateFields(FileFields):
    """What stands in the file of a power state."""

    SAYS = "A power state: the votes to which a profile relaxes."

    state: str = field("its name.", is_name=True)
    summary: str = field("one sentence.", one_line=True)
    votes: VoteSet | None = field("its votes.")


# Files that may extend another of their kind: the key is no field of theirs, since it is resolved before they are read.
EXTENDING = (ProfileFields, StateFields)

# Keys of which a mapping has one: a file that extends another and states one of them replaces the others.
ONE_OF = (frozenset(tags(LearntFields)),)


def structure(tree: Any, kind: type[Any]) -> tuple[Any, tuple[Finding, ...]]:
    """Return the fields that could be read (None for those that could not), and every finding."""
    try:
        return read_fields(tree, kind, also=("extends",) if kind in EXTENDING else ()), ()
    except Refused as refused:
        return refused.partial, tuple(_placed(finding) for finding in refused.findings)


def _placed(finding: Finding) -> Finding:
    """Return a finding whose message says which fields lead to it, from the last list on."""
    lists = [place for place, key in enumerate(finding.at) if key.isdecimal()]
    keys = finding.at[lists[-1] + 1 :] if lists else finding.at
    return attrs.evolve(finding, message=finding.message.replace(WHERE, "".join(f"{key}." for key in keys)))
