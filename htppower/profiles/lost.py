"""What of a profile a file or the settings of something else can't say, or say differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.errors import Severity

if TYPE_CHECKING:
    from htppower.errors import KeyPath


@attrs.frozen
class Lost:
    """A field of a profile that something else can't say, or says differently.

    Attributes:
        field: the keys that lead to it in the profile; those of a power state behind the field that names it, or, for
            the settings of a runtime, behind ``lowered`` and, for that in which DE-INIT ends, ``after_deinit``.
        says: what the profile says, as it is spelt in a file.
        instead: what is done instead.
        severity: a warning where other votes are cast; a note where that makes no difference.
        by: who does that, such as ``the runtime``; empty where ``instead`` says so.
    """

    field: KeyPath
    says: str
    instead: str
    severity: Severity = Severity.WARNING
    by: str = ""

    def __str__(self) -> str:
        """Return the field, what the profile says, and what is done instead, as one line."""
        by = f"{self.by}: " if self.by else ""
        return f"{'.'.join(self.field)}: {self.says}; {by}{self.instead}"
