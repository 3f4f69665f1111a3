"""The types of some parameters: whole numbers, times, sources of the clock, and folders for files that are written."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from htppower.tools.report.words import duration, parse_duration

if TYPE_CHECKING:
    from htppower.control.clock.reading import ClockSource

_LONGEST_US = 3_600_000_000


class FolderToWrite(click.Path):
    """An existing folder for files that are written."""

    def __init__(self) -> None:
        super().__init__(exists=True, file_okay=False, path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the folder."""
        if not os.path.lexists(value):
            self.fail(f"the folder '{os.fspath(value)}' is missing: make that first", param, ctx)
        return super().convert(value, param, ctx)


class WholeNumber(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """A whole number from the least to the most."""

    name = "N"

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        if not self._least <= number <= self._most:
            self.fail(f"{number} is not in the range {self._least} to {self._most}", param, ctx)
        return number


class Percent(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """A share such as ``1%``, as a number from 0 to 1.

    Args:
        most: the largest share, in per cent.
    """

    name = "SHARE"

    def __init__(self, most: int) -> None:
        self._most = most

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the share."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"\s*([0-9]{1,3}(?:\.[0-9]{1,4})?)\s*%\s*", value)
        if found is None:
            self.fail(f"{value!r} is not a share: write 1%", param, ctx)
        if float(found[1]) > self._most:
            self.fail(f"{value!r} is not in the range 0% to {self._most}%", param, ctx)
        return float(found[1]) / 100


class Duration(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """A time such as ``5ms``, in us. A number without a unit is refused, since people read it in different units.

    Args:
        least_us, most_us: the range.
        number_us: accept a number without a unit, in us, for an option whose name ends in ``-us``.
    """

    name = "TIME"

    def __init__(self, least_us: int = 0, most_us: int = _LONGEST_US, *, number_us: bool = False) -> None:
        self._least_us = least_us
        self._most_us = most_us
        self._ending = "us" if number_us else ""

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the time in us."""
        text = str(value)
        try:
            time_us = parse_duration(text + self._ending if text.strip().isdecimal() else text)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not self._least_us <= time_us <= self._most_us:
            self.fail(
                f"{value!r} is not in the range {duration(self._least_us)} to {duration(self._most_us)}", param, ctx
            )
        return time_us


class ClockSourceType(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """A source of the measured clock, such as ``qcnpuperf`` or ``file:/dev/shm/qcnpuperf``."""

    name = "SOURCE"

    def convert(
        self, value: str | ClockSource, param: click.Parameter | None, ctx: click.Context | None
    ) -> ClockSource:
        """Return the source."""
        from htppower.control.clock.named import named_source  # noqa: PLC0415 - it loads ctypes, and few commands need it

        if not isinstance(value, str):
            return value
        try:
            return named_source(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
