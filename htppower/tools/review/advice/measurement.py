"""The profiling events of a graph's execution, and a measurement: the inferences of one graph in one file, by event.

The ids and units of events are from QnnHtpProfile.h, SDK 2.50. The names are as qnn-profile-viewer and ONNX Runtime
print them.
"""

from __future__ import annotations

import enum
import math
import re
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from htppower.profiles.profile import Profile
    from htppower.rules.socs import Soc


# Stands for the row of an event that an inference does not have.
MISSING = math.nan


class Kind(enum.Enum):
    """The kind of a number; ``value`` is the unit of all such numbers."""

    TIME = "us"
    CYCLES = "cycles"
    COUNT = "count"
    RATE = "per second"


@attrs.frozen
class About:
    """An event: the vendor's id, or None for an event of another tool; its name; the kind of its number."""

    number: int | None
    printed: str
    kind: Kind = Kind.TIME


class Event(enum.Enum):
    """An event of one inference."""

    QNN = About(None, "QNN (execute) time")
    RPC = About(3001, "RPC (execute) time")
    QNN_ACCELERATOR = About(3002, "QNN accelerator (execute) time")
    CYCLES = About(3003, "Accelerator (execute) time (cycles)", Kind.CYCLES)
    ACCELERATOR = About(3004, "Accelerator (execute) time")
    YIELD_RELEASE = About(3006, "yield instance release time")
    YIELD_WAIT = About(3007, "yield instance wait time")
    YIELD_RESTORE = About(3008, "yield instance restore time")
    YIELDS = About(3009, "Num times yield occured", Kind.COUNT)
    VTCM = About(3010, "Time for initial VTCM acquire")
    POWER_ON = About(3011, "Time for HVX + HMX power on and acquire")
    COMPUTE = About(3012, "Accelerator (execute excluding wait) time")
    CRITICAL_PATH = About(6001, "Accelerator (critical path execute) time (cycles)", Kind.CYCLES)
    HVX_THREADS = About(8001, "Number of HVX threads used", Kind.COUNT)
    NETRUN = About(None, "NetRun")
    INFERENCE = About(None, "inference time")
    FIRST_TOKEN = About(None, "time-to-first-token")
    PROMPT_TOKENS = About(None, "num-prompt-tokens", Kind.COUNT)
    PROMPT_RATE = About(None, "prompt-processing-rate", Kind.RATE)
    TOKENS = About(None, "num-generated-tokens", Kind.COUNT)
    TOKEN_RATE = About(None, "token-generation-rate", Kind.RATE)
    TOKEN_TIME = About(None, "token-generation-time")
    # Cycles from the begin to the end of a graph on the HTP: unlike 3003, divided by the time they are the clock.
    TIMELINE = About(None, "timeline cycles", Kind.CYCLES)

    # Each event is a single object, and millions are looked up.
    __hash__ = object.__hash__

    @property
    def printed(self) -> str:
        """The name as tools print it."""
        return self.value.printed

    @property
    def kind(self) -> Kind:
        """The kind of its number."""
        return self.value.kind

    def __str__(self) -> str:
        """Return the name, and the id if the vendor has one."""
        return self.printed if self.value.number is None else f"{self.printed} ({self.value.number})"


# From the whole call of the API to the work itself: each lies within the previous one.
LEVELS = (Event.QNN, Event.RPC, Event.QNN_ACCELERATOR, Event.ACCELERATOR, Event.COMPUTE)
# The events whose time may be used as the time of a whole inference, the best first.
WHOLES = (Event.QNN, Event.RPC, Event.NETRUN, Event.INFERENCE, Event.QNN_ACCELERATOR, Event.ACCELERATOR, Event.COMPUTE)
YIELD_TIMES = (Event.YIELD_RELEASE, Event.YIELD_WAIT, Event.YIELD_RESTORE)

_BY_NAME: Mapping[str, Event] = MappingProxyType(
    {
        **{event.printed.lower(): event for event in Event},
        **{str(event.value.number): event for event in Event if event.value.number is not None},
        "num times yield occurred": Event.YIELDS,
    }
)
# The vendor's header names these events, but not how tools print them.
_YIELD = re.compile(r"yield\b")
_YIELDS = (
    (re.compile(r"\brelease"), Event.YIELD_RELEASE),
    (re.compile(r"\brestore"), Event.YIELD_RESTORE),
    (re.compile(r"\bwait"), Event.YIELD_WAIT),
)

_UNITS: Mapping[str, tuple[Kind, float]] = MappingProxyType(
    {
        **dict.fromkeys(("ns", "nsec", "nanosec", "nanoseconds"), (Kind.TIME, 0.001)),
        **dict.fromkeys(("us", "usec", "\u00b5s", "\u03bcs", "microsec", "microseconds"), (Kind.TIME, 1.0)),
        **dict.fromkeys(("ms", "msec", "millisec", "milliseconds"), (Kind.TIME, 1_000.0)),
        **dict.fromkeys(("s", "sec", "seconds"), (Kind.TIME, 1_000_000.0)),
        **dict.fromkeys(("cycles", "cycle"), (Kind.CYCLES, 1.0)),
        **dict.fromkeys(("count", ""), (Kind.COUNT, 1.0)),
        **dict.fromkeys(("toks/sec", "tok/s", "inf/sec"), (Kind.RATE, 1.0)),
    }
)


class WrongUnit(ValueError):  # noqa: N818 - the name states the fault
    """A number has a unit that its event can't have."""


def event_of(name: str) -> Event | None:
    """Return the event of a printed name or of an id; None if it is another name, such as an op's."""
    said = " ".join(name.split()).lower()
    found = _BY_NAME.get(said)
    if found is None and (begin := _YIELD.search(said)):
        found = next((event for form, event in _YIELDS if form.search(said, begin.end())), None)
    return found


def in_kept_unit(event: Event, number: float, unit: str) -> float:
    """Return a number in the unit of its kind: times in us.

    Raises:
        WrongUnit: the unit is unknown, or does not fit the event.
    """
    kind, factor = _UNITS.get(unit.strip().lower(), (None, 1.0))
    if kind is not event.kind:
        known = "us, ms, ns or s" if event.kind is Kind.TIME else event.kind.value
        raise WrongUnit(f"{event.printed} has the unit {unit!r}, not {known}")
    return number * factor


def _frozen(mapping: Mapping[Event, object]) -> Mapping[Event, object]:
    return MappingProxyType(dict(mapping))


def _frozen_names(mapping: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType(dict(mapping))


@attrs.frozen
class Spread:
    """The statistics of runs whose single times are not in the file.

    Attributes:
        count: how many runs; 0 if the file does not say it.
        quantiles: shares from 0 to 1, each with the time in us that this share of the runs does not exceed; at least
            the shortest, the median and the longest time.
    """

    count: int
    quantiles: tuple[tuple[float, float], ...]


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
        spread: the statistics of the runs, if the file has them instead of the runs.
        once: what happened once, in us: ``load``, ``first inference``, ``warm-up``.
        facts: what the file says of how it was made, such as ``release`` or ``delegate``.
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
    spread: Spread | None = None
    once: Mapping[str, float] = attrs.field(factory=dict, converter=_frozen_names)
    facts: Mapping[str, str] = attrs.field(factory=dict, converter=_frozen_names)

    @property
    def count(self) -> int:
        """How many inferences it holds; 1 if it holds averages."""
        return max(map(len, self.columns.values()), default=0)

    @property
    def name(self) -> str:
        """The file, and the name of the graph if there is one."""
        return f"{self.source}, {self.graph}" if self.graph else self.source
