"""What was measured: the inferences of one graph in one file, by event; and where a file is wrong."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.errors import HtpPowerError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from htppower.profiles.profile import Profile
    from htppower.review.advice.events import Event
    from htppower.rules.socs import Soc

# Where an inference has no row for an event.
MISSING = math.nan


class UnreadableMeasurement(HtpPowerError, ValueError):  # noqa: N818 - reads as what it is
    """A profiler's file can't be read.

    Attributes:
        path: the file.
        place: ``line:column`` in text, the path of keys in JSON; empty for the file as a whole.
        hint: what to do.
    """

    def __init__(self, path: str, place: str, message: str, hint: str = "") -> None:
        self.path = path
        self.place = place
        self.hint = hint
        where = f"{path}:{place}" if place else path
        super().__init__(printable(f"{where}: {message}{f' ({hint})' if hint else ''}"))


def _frozen(mapping: Mapping[Event, object]) -> Mapping[Event, object]:
    return MappingProxyType(dict(mapping))


@attrs.frozen(repr=False, eq=False)
class Measurement:
    """Inferences of one graph.

    Attributes:
        source: the file, as the user named it.
        form: what kind of file it is, in words.
        columns: of each event a number for each inference, in the order of the file: times in us, cycles, counts; NaN
            where an inference has no such row. In a file of averages one number.
        units: the units in which the file has them.
        graph: the name of the graph; empty where the file has none.
        starts: the first inference of each session in the file.
        begins_us: when each inference began or was noted; empty where the file does not say.
        ends_us: when each ended; empty likewise.
        averaged: whether the numbers are averages over an unknown number of inferences.
        least, most: in a file of averages the smallest and the largest number of each event.
        simulated: whether it was made by the simulation of the HTP on x86-64, so that no time is of a device.
        notes: what the numbers are, in sentences.
        profile: the profile that was in force; None where it is not known.
        soc: the SoC; None likewise.
    """

    source: str
    form: str
    columns: Mapping[Event, Sequence[float]] = attrs.field(converter=_frozen)
    units: Mapping[Event, str] = attrs.field(factory=dict, converter=_frozen)
    graph: str = ""
    starts: tuple[int, ...] = (0,)
    begins_us: Sequence[float] = ()
    ends_us: Sequence[float] = ()
    averaged: bool = False
    least: Mapping[Event, float] = attrs.field(factory=dict, converter=_frozen)
    most: Mapping[Event, float] = attrs.field(factory=dict, converter=_frozen)
    simulated: bool = False
    notes: tuple[str, ...] = ()
    profile: Profile | None = None
    soc: Soc | None = None

    @property
    def count(self) -> int:
        """How many inferences it holds; of averages 1."""
        return max(map(len, self.columns.values()), default=0)

    @property
    def name(self) -> str:
        """The file, and the graph where it has a name."""
        return f"{self.source}, {self.graph}" if self.graph else self.source
