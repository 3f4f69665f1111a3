"""Where the values of a record are from. Only records have one: every other profile is read without this module."""

import attrs

from htppower.votes.field_repr import field_repr


@attrs.frozen
class Provenance:
    """Where the values of a profile are from that records what another runtime votes.

    Attributes:
        how: ``measured`` (what its library logged) or ``read`` (what its public source says).
        of: what was measured or read, with its version.
        source: where that was found.
    """

    how: str
    of: str
    source: str

    __repr__ = field_repr

    def __str__(self) -> str:
        """Return how, of what and where, as one line."""
        return f"{self.how}: {self.of}; {self.source}"
