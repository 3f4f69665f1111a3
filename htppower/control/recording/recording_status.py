"""What a recording says of itself."""

from __future__ import annotations

import attrs

from htppower.votes.field_repr import field_repr


@attrs.frozen
class RecordingStatus:
    """What a recording says of itself.

    Attributes:
        path: the newest file.
        written: how many inferences are written, over all files.
        pending: how many wait for that.
        lost: how many are lost: too many waited, or they were collected before they were ended.
        error: why the file can't be written, None once it could be since.
    """

    path: str
    written: int
    pending: int
    lost: int
    error: str | None

    __repr__ = field_repr
