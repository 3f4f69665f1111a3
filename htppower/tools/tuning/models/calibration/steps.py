"""The steps of a calibration: what each step measures, and how long it takes. A dry run shows the same steps."""

from __future__ import annotations

import functools
import statistics
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.names import LISTED_FIRST, SYSTEM_SETTINGS
from htppower.tools.report.words import rough_duration
from htppower.tools.tuning.models.calibration.bench import POLLING_US, WARM_UP, Bench, variant
from htppower.tools.tuning.models.calibration.powers import measure_powers, measured_names, run_counts
from htppower.tools.tuning.models.model import MEASURED, Quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from htppower.tools.tuning.models.calibration.settings import Settings
    from htppower.tools.tuning.models.model import DeviceModel


# With fewer samples, the range is the lowest and the highest sample.
_ENOUGH_FOR_PARTS = 20
_QUARTERS = 4
# Microwatts and picoseconds.
_DIGITS = 6
# Measured values, by the names of ``DeviceModel.quantities``.
Found = dict[str, "Quantity"]
_POLLING = {POLLING_US: "with polling", 0: "without"}


@attrs.frozen(repr=False, eq=False)
class Step:
    """A step of a calibration.

    Attributes:
        names: the quantities that it measures.
        does: what it does, in a sentence.
        waits_us: how long it idles, in us, in addition to its calls and inferences.
        inferences: how many inferences it runs, without those during ``works_us``.
        works_us: how long it repeats inferences without counting them, in us.
        run: runs the step, and returns the measured values.
    """

    names: tuple[str, ...]
    does: str
    waits_us: int
    inferences: int
    works_us: int
    run: Callable[[Bench], Found]


def plan(settings: Settings, base: DeviceModel, *, infers: bool, metered: bool) -> tuple[Step, ...]:
    """Return the steps of a calibration, in their order."""
    return tuple(_steps(settings, base, infers=infers, metered=metered))


def _steps(settings: Settings, base: DeviceModel, *, infers: bool, metered: bool) -> Iterator[Step]:
    count, warm = settings.count, settings.count + WARM_UP
    yield Step(
        ("raise_call_us", "lower_call_us"),
        f"raise and lower {settings.profile} {count} times",
        (count + 1) * 2 * settings.settle_us,
        0,
        0,
        _calls,
    )
    if infers:
        latencies = settings.sleep_latencies_us
        yield Step(
            (*(f"wakes.{latency_us}" for latency_us in latencies), "polling_saves_us"),
            f"at each sleep latency, with polling and without: {count} inferences one after the other, then {count} "
            f"after idle with votes up",
            len(latencies) * 2 * count * settings.idle_us,
            len(latencies) * 2 * (warm + count),
            0,
            _wakes,
        )
        yield Step(
            ("raise_late_us",),
            f"{count} inferences one after the other, then {count} after idle with votes lowered",
            count * settings.idle_us,
            warm + count,
            0,
            _raises,
        )
        names = tuple(each.profile for each in base.speeds if _has_speed(each.profile))
        yield Step(
            tuple(f"speeds.{name}" for name in names),
            f"{count} inferences one after the other under each profile, without polling",
            0,
            (len(names) + 1) * warm,
            0,
            functools.partial(_speeds, names=names),
        )
    if metered:
        idle, works = run_counts(settings, infers=infers)
        run_us = settings.left_out_us + settings.window_us + settings.look_us
        yield Step(
            measured_names(infers=infers),
            f"read the power in {idle + works} runs of {rough_duration(run_us)}, in random order: votes raised, "
            f"relaxed and released{', and inferences one after the other' if infers else ''}",
            idle * run_us,
            warm if infers else 0,
            works * run_us,
            measure_powers,
        )


def _has_speed(name: str) -> bool:
    return name in LISTED_FIRST and name not in ("burst", SYSTEM_SETTINGS)


def _calls(bench: Bench) -> Found:
    """Time the calls of a raise and of a lowering. The first call of each is not counted: it sends all options."""
    settings, raises_us, lowers_us = bench.settings, [], []
    bench.session.use(variant(settings.profile))
    for _ in range(settings.count + 1):
        bench.calls.taken_us()
        with bench.session.inference():
            raises_us.append(bench.calls.taken_us())
            bench.wait_us(settings.settle_us)
        lowers_us.append(bench.calls.taken_us())
        bench.wait_us(settings.settle_us)
    return {
        "raise_call_us": measured(raises_us[1:], bench.of(f"setPowerConfig that raises {settings.profile}")),
        "lower_call_us": measured(lowers_us[1:], bench.of(f"setPowerConfig that lowers {settings.profile}")),
    }


def _wakes(bench: Bench) -> Found:
    """Compare inferences after idle, with votes up, with the inferences of a warm run under the same votes."""
    settings = bench.settings
    found: Found = {}
    saved_us: list[float] = []
    polls = True
    for latency_us in settings.sleep_latencies_us:
        late_us: list[float] = []
        warm: dict[int, list[int]] = {}
        said = []
        for polling_us, words in _POLLING.items():
            bench.session.use(variant(settings.profile, sleep_latency_us=latency_us, polling_us=polling_us))
            with bench.session.inference():
                polls = polls and bench.polls
                warm[polling_us] = bench.warm_us()
                first_us = [_after_idle_us(bench) for _ in range(settings.count)]
            usual_us = statistics.median(warm[polling_us])
            late_us += (each - usual_us for each in first_us)
            said.append(f"{words} {statistics.median(first_us) - usual_us:.0f} us")
        saved_us += (without - with_it for with_it, without in zip(warm[POLLING_US], warm[0], strict=True))
        what = f"first inference after {settings.idle_us} us idle over the median of a warm run ({', '.join(said)})"
        found[f"wakes.{latency_us}"] = measured(late_us, bench.of(what))
    if polls:
        what = f"an inference of a warm run without polling over one with {POLLING_US} us"
        found["polling_saves_us"] = measured(saved_us, bench.of(what))
    return found


def _after_idle_us(bench: Bench) -> int:
    bench.wait_us(bench.settings.idle_us)
    return bench.inference_us()


def _raises(bench: Bench) -> Found:
    """Compare inferences that raise after idle with the inferences of a warm run. Lowering is not timed."""
    settings = bench.settings
    bench.session.use(variant(settings.profile))
    with bench.session.inference():
        usual_us = statistics.median(bench.warm_us())
    late_us = []
    for _ in range(settings.count):
        bench.wait_us(settings.idle_us)
        begun_us = bench.clock.now_us
        with bench.session.inference():
            bench.run()
            late_us.append(bench.clock.now_us - begun_us - usual_us)
    what = f"inference that raises {settings.profile} after {settings.idle_us} us idle over the median of a warm run"
    return {"raise_late_us": measured(late_us, bench.of(what))}


def _speeds(bench: Bench, names: tuple[str, ...]) -> Found:
    """Compare warm runs under other profiles with a warm run under burst, all without polling."""
    usual_us = statistics.median(_warm_under(bench, "burst"))
    found: Found = {}
    for name in names:
        speeds = [usual_us / max(taken_us, 1) for taken_us in _warm_under(bench, name)]
        found[f"speeds.{name}"] = measured(speeds, bench.of("median of a warm run under burst over one inference here"))
    return found


def _warm_under(bench: Bench, name: str) -> list[int]:
    bench.session.use(variant(name, polling_us=0))
    with bench.session.inference():
        return bench.warm_us()


def measured(samples: Iterable[float], of: str) -> Quantity:
    """Return the median of samples, with the width of their middle half, their count, and their range.

    With 20 samples or more, the range leaves out the lowest and the highest twentieth. A negative sample, as noise may
    cause, counts as 0, since a value of a model is never negative.

    Raises:
        ValueError: ``samples`` is empty.
    """
    found = sorted(max(sample, 0.0) for sample in samples)
    if not found:
        raise ValueError("nothing was measured")
    return Quantity(
        round(statistics.median(found), _DIGITS),
        MEASURED,
        of,
        _range(found),
        round(_middle_half(found), _DIGITS),
        len(found),
    )


def _range(found: Sequence[float]) -> tuple[float, float]:
    low, high = found[0], found[-1]
    if len(found) >= _ENOUGH_FOR_PARTS:
        parts = statistics.quantiles(found, n=_ENOUGH_FOR_PARTS, method="inclusive")
        low, high = parts[0], parts[-1]
    return round(low, _DIGITS), round(high, _DIGITS)


def _middle_half(found: Sequence[float]) -> float:
    if len(found) == 1:
        return 0.0
    lower, _, upper = statistics.quantiles(found, n=_QUARTERS, method="inclusive")
    return upper - lower
