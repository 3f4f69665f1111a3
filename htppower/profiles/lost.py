"""Fields of a profile that another format can't express, or expresses differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.errors import Severity

if TYPE_CHECKING:
    from htppower.errors import KeyPath


@attrs.frozen
class Lost:
    """A field of a profile that another format can't express, or expresses differently.

    Attributes:
        field: the keys of the field in the profile. A field of a power state comes after the field that names the
            state; in the settings of a runtime, after ``lowered``, or ``after_deinit`` for the state after DE-INIT.
        says: the profile's value, in the spelling of a file.
        instead: what happens instead.
        severity: a warning if other votes are sent; a note if that makes no difference.
        by: who does that, such as ``the runtime``; empty if ``instead`` says so.
    """

    field: KeyPath
    says: str
    instead: str
    severity: Severity = Severity.WARNING
    by: str = ""

    def __str__(self) -> str:
        """Return the field, the profile's value, and what happens instead, as one line."""
        by = f"{self.by}: " if self.by else ""
        return f"{'.'.join(self.field)}: {self.says}; {by}{self.instead}"
