"""The files that people write, as attrs classes, and a plain tree read into one of them.

The types of the fields say how they are read (``typed_fields.py``), and their metadata what they are. The JSON Schemas
are made of both; the sentence on a class is its ``SAYS``, since ``python -OO`` has no docstrings.
"""

from typing import Any, ClassVar

import attrs

from htppower.errors import Finding
from htppower.profiles.field_limits import tags, wanted
from htppower.profiles.refused import WHERE, Refused
from htppower.profiles.relax_format import LearntFields, RelaxFields
from htppower.profiles.typed_fields import read_fields
from htppower.votes.vote_set import VoteSet

# No postponed annotations here: the types of the fields are read, and resolving them would cost start-up.

_HOW = ("measured", "read")


@attrs.frozen(repr=False, eq=False, slots=False)
class ProvenanceFields:
    """What stands below ``provenance`` in a profile."""

    SAYS: ClassVar[str] = "Where the values of a profile that records what another runtime votes are from."

    how: str = attrs.field(
        metadata=wanted("measured: what its library logged; read: what its public source says.", words=_HOW)
    )
    of: str = attrs.field(metadata=wanted("what was measured or read, with its version.", one_line=True))
    source: str = attrs.field(metadata=wanted("where that was found.", one_line=True))


@attrs.frozen(repr=False, eq=False, slots=False)
class ProfileFields:
    """What stands in the file of a profile."""

    SAYS: ClassVar[str] = "A profile: the votes of one performance mode, what it relaxes to, and after how long."

    profile: str = attrs.field(metadata=wanted("its name, as shown in status, events and logs.", is_name=True))
    summary: str = attrs.field(metadata=wanted("one sentence.", one_line=True))
    votes: VoteSet | None = attrs.field(
        metadata=wanted("its votes; unset for no votes, no power config id and no call.")
    )
    relax: RelaxFields | None = attrs.field(
        metadata=wanted("what follows a raise; unset only where there are no votes.")
    )
    provenance: ProvenanceFields | None = attrs.field(
        default=None,
        metadata=wanted("for a record of what another runtime votes, where that is from.", optional=True),
    )


@attrs.frozen(repr=False, eq=False, slots=False)
class StateFields:
    """What stands in the file of a power state."""

    SAYS: ClassVar[str] = "A power state: the votes to which a profile relaxes."

    state: str = attrs.field(metadata=wanted("its name.", is_name=True))
    summary: str = attrs.field(metadata=wanted("one sentence.", one_line=True))
    votes: VoteSet | None = attrs.field(metadata=wanted("its votes."))


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
