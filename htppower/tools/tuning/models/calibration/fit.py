"""Powers from the readings of a meter: the mean power of each run, and a fit over all runs; or why they do not hold."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from typing import TYPE_CHECKING

import attrs

from htppower.tools.tuning.models.calibration.settings import PowerRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from htppower.tools.tuning.models.calibration.meter import Meter, Reading
    from htppower.tools.tuning.models.calibration.settings import Settings

_US = 1_000_000
_CONFIDENCE = 0.95
# A counter shows up to two periods less than it counts, since its first and last step are rarely at the ends.
_STEPS_AT_ENDS = 2
# The share of a step between two runs that may still arrive in the second half of a run. The mean is wrong by half.
_LATE_SHARE = 0.03
# The largest interval of the main difference, as a share of it.
_PRECISION = 0.1
_UNCERTAIN = 2


@attrs.frozen
class Run:
    """One run: the device stays in one state.

    Attributes:
        state: the name of the state.
        middle_us: when the middle of the window was, in us.
        power_w: the mean power in the window, in W.
        later_w: how much higher the mean of the second half of the window is than the mean of the first, in W.
        readings_uw: the power of each reading in the window, in whole uW; empty if the meter counts energy.
        inferences: how many inferences were run.
        lasted_us: how long the run took, in us.
        cpu_us: the CPU time of the process in the run, in us.
    """

    state: str
    middle_us: float
    power_w: float
    later_w: float
    readings_uw: tuple[int, ...] = ()
    inferences: int = 0
    lasted_us: int = 0
    cpu_us: int = 0


def windowed(
    state: str, meter: Meter, readings: Sequence[Reading], begun_us: int, settings: Settings, **more: int
) -> Run:
    """Return a run of a state by its readings in a window that begins at ``begun_us``; ``more`` are other fields.

    Raises:
        PowerRefused: there are too few readings, an energy fell, or the mean is negative.
    """
    half_us = settings.window_us / 2
    middle_us, ended_us = begun_us + half_us, begun_us + settings.window_us
    spans = [span for span in _spans(meter, readings) if span[1] > begun_us and span[0] < ended_us]
    periods = settings.window_us // settings.period_us
    if len(spans) < periods - (_STEPS_AT_ENDS if meter.counts_energy else 0):
        raise PowerRefused(
            f"{meter.name} gave {len(spans)} new readings in {periods} periods of {settings.period_us} us ({state}): "
            "its period is longer, or it is too slow to read"
        )
    power_w = _mean_w(spans, begun_us, ended_us)
    if power_w < 0:
        raise PowerRefused(f"{meter.name} gives {power_w:g} W ({state}): reverse its sign, or correct its zero")
    later_w = _mean_w(spans, middle_us, ended_us) - _mean_w(spans, begun_us, middle_us)
    readings_uw = () if meter.counts_energy else tuple(round(watts * _US) for _, _, watts in spans)
    return Run(state, middle_us, power_w, later_w, readings_uw, **more)


def _spans(meter: Meter, readings: Sequence[Reading]) -> Iterator[tuple[int, int, float]]:
    """Yield when each reading begins and ends to hold, and its power in W. An energy holds between two steps of it."""
    if not meter.counts_energy:
        yield from ((before.when_us, each.when_us, each.value) for before, each in itertools.pairwise(readings))
        return
    steps = [each for before, each in itertools.pairwise(readings) if each.value != before.value]
    for before, each in itertools.pairwise(steps):
        used_j = each.value - before.value
        if used_j < 0:
            raise PowerRefused(f"{meter.name} counts energy, but fell by {-used_j:g} J: measure again")
        yield before.when_us, each.when_us, used_j * _US / (each.when_us - before.when_us)


def _mean_w(spans: Sequence[tuple[int, int, float]], begun_us: float, ended_us: float) -> float:
    parts = [(min(ended, ended_us) - max(begun, begun_us), watts) for begun, ended, watts in spans]
    kept = [(lasts, watts) for lasts, watts in parts if lasts > 0]
    whole = sum(lasts for lasts, _ in kept)
    return sum(lasts * watts for lasts, watts in kept) / whole if whole else 0.0


@attrs.frozen
class Fit:
    """The power of each state, fitted to all runs by ordinary least squares: a level for each state, and a drift.

    Attributes:
        shares: for each state, the share of each run's power in the level of the state in the middle of all runs.
        drawn_w: the power of each run, in W.
        variances: the variance of each run, in W^2.
        t: how many standard errors an interval of 95 % reaches, by Student's t for the runs of one state.
        step_w: the smallest step of the meter's readings, in W; 0 if it counts energy.
    """

    shares: Mapping[str, tuple[float, ...]]
    drawn_w: tuple[float, ...]
    variances: tuple[float, ...]
    t: float
    step_w: float

    @property
    def drift_w(self) -> float:
        """How much more idling drew in the last run than in the first, in W."""
        return self.drawn_w[-1] - self.drawn_w[0]

    def sum_of(self, weights: Mapping[str, float]) -> tuple[float, float]:
        """Return the sum of weighted levels, and how far its interval of 95 % reaches on each side.

        Half a step of the meter is added for each level: smaller changes may be invisible to it.
        """
        states = [[weight * share for share in self.shares[name]] for name, weight in weights.items()]
        shares = [math.fsum(each) for each in zip(*states, strict=True)]
        value = _dot(shares, self.drawn_w)
        error = math.sqrt(_dot([share**2 for share in shares], self.variances))
        return value, self.t * error + self.step_w / 2 * math.fsum(map(abs, weights.values()))


@attrs.frozen
class StatePower:
    """The power of a state. Powers and energies are pairs: the value, and how far its interval of 95 % reaches.

    Attributes:
        name: the name of the state.
        power_mw: its power, in mW.
        above_idle_mw: its power above the idle state, in mW.
        cpu_share: the CPU time of this process, in CPUs.
        inferences_s: the inferences in a second; 0 if none run.
        inference_mj: the energy of an inference above the idle state, in mJ; 0 if none run.
    """

    name: str
    power_mw: tuple[float, float]
    above_idle_mw: tuple[float, float]
    cpu_share: float
    inferences_s: float
    inference_mj: tuple[float, float]


def fit(runs: Sequence[Run]) -> Fit:
    """Fit the power of each state to the runs. The first and the last run must be the same idle state.

    A state that draws more is noisier, so the errors are White's, corrected for few runs (HC2).
    """
    drawn_w, at_us = [run.power_w for run in runs], [run.middle_us for run in runs]
    counts = Counter(run.state for run in runs)
    middles_us = {name: statistics.fmean(run.middle_us for run in runs if run.state == name) for name in counts}
    # The drift follows from the times within each state alone, since each state has a level of its own.
    within_us = [run.middle_us - middles_us[run.state] for run in runs]
    wide = math.fsum(each**2 for each in within_us)
    drift = [each / wide for each in within_us]
    shares = {}
    for name, count in counts.items():
        off_us = middles_us[name] - statistics.fmean(at_us)
        shares[name] = tuple((run.state == name) / count - off_us * each for run, each in zip(runs, drift, strict=True))
    drift_w_us = _dot(drift, drawn_w)
    means_w = {name: statistics.fmean(run.power_w for run in runs if run.state == name) for name in counts}
    variances = tuple(
        (run.power_w - means_w[run.state] - drift_w_us * each) ** 2 / (1 - 1 / counts[run.state] - each**2 / wide)
        for run, each in zip(runs, within_us, strict=True)
    )
    step_uw = math.gcd(*(each for run in runs for each in run.readings_uw))
    return Fit(shares, tuple(drawn_w), variances, _student_t(min(counts.values()) - 1), step_uw / _US)


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(one * other for one, other in zip(left, right, strict=True))


def _student_t(free: int) -> float:
    """Return the two-sided 95 % point of Student's t: Abramowitz and Stegun 26.7.5, exact to 1 % from 3 on."""
    z = statistics.NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    terms = (first, second, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return z + math.fsum(term / free**power for power, term in enumerate(terms, 1))


def refuse(name: str, runs: Sequence[Run], found: Fit, settings: Settings, pairs: Sequence[tuple[str, str]]) -> None:
    """Refuse powers that the runs do not prove.

    ``pairs`` are the states whose differences are wanted, the main one first.

    Raises:
        PowerRefused: with every reason.
    """
    if len({run.power_w for run in runs}) == 1:
        raise PowerRefused(f"{name} gives {runs[0].power_w:g} W in every state: it does not measure this device")
    reasons = []
    late = _late_share(runs)
    if late:
        reasons.append(
            f"{late:.0%} of a change arrives in the second half of a run: the meter is slower than its period of "
            f"{settings.period_us} us; give the longer one"
        )
    if abs(found.drift_w) > settings.drift_w:
        reasons.append(
            f"idling drew {found.drift_w:+.4g} W more after the runs than before, and {settings.drift_w:g} W is the "
            "limit: let the device reach a steady temperature, and stop other work"
        )
    for place, (more, less) in enumerate(pairs):
        difference_w, reach_w = found.sum_of({more: 1, less: -1})
        most_w = abs(difference_w) * (1 if place else _PRECISION)
        if reach_w >= most_w or (not place and difference_w < 0):
            reasons.append(
                f"{more} minus {less} is {difference_w:.4g} W, plus or minus {reach_w:.2g} W by the noise and the "
                f"steps of the meter, and {most_w:.2g} W is the limit: measure more often or longer"
            )
    if reasons:
        raise PowerRefused(f"the readings of {name} do not hold: " + "; ".join(reasons))


def _late_share(runs: Sequence[Run]) -> float:
    """Return the share of a step between two runs that arrives in the second half of the run; 0 if it is little.

    It is the slope of a regression of ``later_w`` on the steps, which tells a slow meter from noise and from drift.
    """
    steps = [after.power_w - before.power_w for before, after in itertools.pairwise(runs)]
    later = [run.later_w for run in runs[1:]]
    wide = statistics.variance(steps)
    if not wide:
        return 0.0
    slope, base = statistics.linear_regression(steps, later)
    rest = [each - base - slope * step for step, each in zip(steps, later, strict=True)]
    error = math.sqrt(statistics.variance(rest) / wide / len(rest))
    return slope if slope > max(_LATE_SHARE, _UNCERTAIN * error) else 0.0


def state_power(name: str, runs: Sequence[Run], found: Fit, idle: str) -> StatePower:
    """Return the power of a state, by itself and above the state ``idle``."""
    own = [run for run in runs if run.state == name]
    lasted_us, inferences = sum(run.lasted_us for run in own), sum(run.inferences for run in own)
    above_w = (0.0, 0.0) if name == idle else found.sum_of({name: 1, idle: -1})
    cpu_share = sum(run.cpu_us for run in own) / lasted_us
    ms_each = lasted_us / inferences / 1000 if inferences else 0.0
    power_mw, above_mw = _times(found.sum_of({name: 1}), 1000), _times(above_w, 1000)
    return StatePower(name, power_mw, above_mw, cpu_share, inferences * _US / lasted_us, _times(above_w, ms_each))


def _times(pair: tuple[float, float], factor: float) -> tuple[float, float]:
    return pair[0] * factor, pair[1] * factor
