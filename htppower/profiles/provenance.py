"""The source of the values of a record. Other profiles have none, and are read without this module."""

import attrs

from htppower.votes.field_repr import field_repr


@attrs.frozen
class Provenance:
    """The source of the values of a profile that records the votes of another runtime.

    Attributes:
        how: ``measured`` (from the log of its library) or ``read`` (from its public source).
        of: what was measured or read, with its version.
        source: the place where it was found.
    """

    how: str
    of: str
    source: str

    __repr__ = field_repr

    def __str__(self) -> str:
        """Return all three attributes as one line."""
        return f"{self.how}: {self.of}; {self.source}"
