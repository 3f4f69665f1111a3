"""A measurement: the inferences of one graph in one file, by event."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from htppower.profiles.profile import Profile
    from htppower.rules.socs import Soc
    from htppower.tools.review.advice.events import Event

# Stands for the row of an event that an inference does not have.
MISSING = math.nan


def _frozen(mapping: Mapping[Event, object]) -> Mapping[Event, object]:
    return MappingProxyType(dict(mapping))


@attrs.frozen(repr=False, eq=False)
class Measurement:
    """Inferences of one graph.

    Attributes:
        source: the file, as the user named it.
        form: what kind of file it is, in words.
        columns: for each event, one number per inference in the order of the file: times in us, cycles, counts; NaN if
            the inference has no such row. A file of averages has one number per event.
        units: the units in which the file has them.
        graph: the name of the graph; empty if the file has none.
        starts: the first inference of each session in the file.
        begins_us: when each inference began or was logged; empty if the file does not have that.
        ends_us: when each inference ended; empty if the file does not have that.
        averaged: whether the numbers are averages over an unknown number of inferences.
        least, most: in a file of averages, the smallest and the largest number of each event.
        simulated: whether the simulation of the HTP on x86-64 made it, so that no time is a device's.
        notes: how to read the numbers, in sentences.
        profile: the profile that was in force; None if it is not known.
        soc: the SoC; None if it is not known.
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
        """How many inferences it holds; 1 if it holds averages."""
        return max(map(len, self.columns.values()), default=0)

    @property
    def name(self) -> str:
        """The file, and the name of the graph if there is one."""
        return f"{self.source}, {self.graph}" if self.graph else self.source
