"""Measures what votes take on this device: each call, the time until the clock follows, and a missed vote."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import TYPE_CHECKING

import attrs

from htppower.tools.tuning.models.calibration.bench import as_lowered, variant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.backends.base import Description
    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.models.calibration.bench import Bench, TimedCall

    # Reads the clock of the core, in kHz; None if it can't be read now. It is called on the thread that measures.
    ReadClock = Callable[[], int | None]
    # The clock before and after, in kHz, and the time until it followed, in us; None if it did not follow.
    _Follow = tuple[int, int, int | None]

_TENTHS, _MEDIAN = 10, 4
_ORDER = ("raise", "lower", "repeated")
_LOOK_US = 200
_HALF = 0.5
# A clock that moves by less has not followed.
_LEAST_SHARE = 0.05
_NO_CLOCK = "no clock was read: add --clock qcnpuperf"
_NO_READING = "the clock gave no reading: try it with htppower profile --clock"
_NO_INFERENCE = "no inference was run: add --run MODEL.onnx or MODULE:FUNCTION"


@attrs.frozen
class Row:
    """A row of a measurement: times in us.

    Attributes:
        what: what took these times.
        options: the vote options of the call; empty if it is not a call.
        samples_us: the times.
        note: what else is to be known, such as why there are no times.
    """

    what: str
    options: tuple[str, ...] = ()
    samples_us: tuple[float, ...] = ()
    note: str = ""

    @property
    def quantiles_us(self) -> dict[str, float | None]:
        """The median, and the times that a tenth of the times are below and above; None without times."""
        # A single time is each of its quantiles.
        samples_us = self.samples_us * 2 if len(self.samples_us) == 1 else self.samples_us
        tenths = statistics.quantiles(samples_us, n=_TENTHS, method="inclusive") if samples_us else [None] * _TENTHS
        return {"median_us": tenths[_MEDIAN], "p10_us": tenths[0], "p90_us": tenths[_TENTHS - 2]}


@attrs.frozen
class Measurement:
    """What votes take on a device.

    Attributes:
        description: the backend.
        profile: the name of the profile that was raised.
        date: the date.
        rows: the measured times.
        fastrpc: the version of FastRPC; None if it is not known.
    """

    description: Description
    profile: str
    date: str
    rows: tuple[Row, ...]
    fastrpc: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """A warning if the times are not those of a device."""
        if self.description.name == "simulated":
            return ("a simulation: these times are those of the simulated HTP, not of a device",)
        if not self.description.hardware:
            return ("there is no hardware behind this library: these times are not those of a device",)
        return ()


def measure_votes(bench: Bench, read_clock_khz: ReadClock | None = None, fastrpc: str | None = None) -> Measurement:
    """Measure what raising and lowering the profile of the settings takes.

    Args:
        bench: the tools to measure with; if it has an inference, a missed vote is measured, too.
        read_clock_khz: reads the clock of the core; None if no clock can be read.
        fastrpc: the version of FastRPC, for the result.

    Raises:
        VoteRejected: a call failed.
        CalibrationFailed: the inference can't be used.
    """
    calls, clocks = _calls(bench, read_clock_khz)
    rows = (*calls, *clocks, *_missed(bench))
    return Measurement(bench.calls.describe(), variant(bench.settings.profile).name, bench.date, rows, fastrpc)


def _calls(bench: Bench, read: ReadClock | None) -> tuple[list[Row], list[Row]]:
    """Raise, send the same votes again, and lower; return the times of the calls, and those of the clock.

    The first time does not count: it sends options that later calls leave out, since they are in force.
    """
    settings = bench.settings
    taken: dict[tuple[str, tuple[str, ...]], list[float]] = defaultdict(list)
    follows: dict[str, list[_Follow | None]] = {"raise": [], "lower": []}

    def note(what: str) -> list[TimedCall]:
        calls = bench.calls.taken()
        for call in calls if counts else ():
            taken[what, tuple(option.name for option in call.votes.options)].append(call.took_us)
        return calls

    def follow(what: str, before_khz: int | None) -> None:
        if read is None:
            bench.wait_us(settings.settle_us)
        else:
            follows[what].append(_follow(bench, read, before_khz))

    bench.calls.taken()
    for number in range(settings.count + 1):
        counts = number > 0
        before_khz = None if read is None else read()
        with bench.session.inference():
            raised = note("raise")
            follow("raise", before_khz)
            for call in raised:
                bench.calls.set_power_config(call.power_config_id, call.votes)
            note("repeated")
            before_khz = None if read is None else read()
        note("lower")
        follow("lower", before_khz)
    named = sorted(taken.items(), key=lambda each: _ORDER.index(each[0][0]))
    rows = [Row(what, options, tuple(samples_us)) for (what, options), samples_us in named]
    return rows, [_clock_row(what, found) for what, found in follows.items()]


def _follow(bench: Bench, read: ReadClock, before_khz: int | None) -> _Follow | None:
    """Read the clock for a time; return when a reading first was past the middle between the old and the new clock.

    Return None if there was no reading before or after.
    """
    begun_us = bench.clock.now_us
    seen: list[tuple[int, int]] = []
    while bench.clock.now_us - begun_us < bench.settings.follow_us:
        khz = read()
        if khz is not None:
            seen.append((bench.clock.now_us - begun_us, khz))
        bench.wait_us(_LOOK_US)
    if before_khz is None or not seen:
        return None
    after_khz = round(statistics.median(khz for _, khz in seen[-(len(seen) // 3 + 1) :]))
    moved_khz = after_khz - before_khz
    if abs(moved_khz) <= _LEAST_SHARE * max(after_khz, before_khz):
        return before_khz, after_khz, None
    took_us = next(at_us for at_us, khz in seen if (khz - before_khz) / moved_khz >= _HALF)
    return before_khz, after_khz, took_us


def _clock_row(what: str, found: Sequence[_Follow | None]) -> Row:
    name = f"clock follows a {'raise' if what == 'raise' else 'lowering'}"
    known = [each for each in found if each is not None]
    if not known:
        return Row(name, note=_NO_READING if found else _NO_CLOCK)
    took_us = tuple(took_us for _, _, took_us in known if took_us is not None)
    before, after = statistics.median(each[0] for each in known), statistics.median(each[1] for each in known)
    still = len(known) - len(took_us)
    note = f"from {before / 1000:.0f} to {after / 1000:.0f} MHz"
    return Row(name, (), took_us, f"{note}; it did not move {still} of {len(known)} times" if still else note)


def _missed(bench: Bench) -> list[Row]:
    """Compare inferences under the raised votes with inferences under the lowered votes, in turn."""
    names = ("inference, votes raised", "inference, votes missed", "a missed vote costs")
    if bench.infer is None:
        return [Row(names[-1], note=_NO_INFERENCE)]
    raised = variant(bench.settings.profile)
    lowered = as_lowered(raised)
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(bench.settings.count):
        pair = [_settled_us(bench, profile) for profile in (raised, lowered)]
        for name, took_us in zip(names, (*pair, pair[1] - pair[0]), strict=True):
            found[name].append(took_us)
    return [Row(name, (), tuple(samples)) for name, samples in found.items()]


def _settled_us(bench: Bench, profile: Profile) -> int:
    """Return how long the second inference after a raise takes, in us; the first fills caches."""
    bench.session.use(profile)
    with bench.session.inference():
        bench.wait_us(bench.settings.settle_us)
        bench.run()
        return bench.inference_us()
