"""Measures powers with a meter: short runs of each state, in random order, so that drift meets all states alike."""

from __future__ import annotations

import contextlib
import random
import statistics
from typing import TYPE_CHECKING

import attrs

from htppower.tools.tuning.models.calibration.bench import released, variant
from htppower.tools.tuning.models.calibration.fit import Run, fit, refuse, state_power, windowed
from htppower.tools.tuning.models.calibration.settings import LEAST_PERIODS, PowerRefused
from htppower.tools.tuning.models.model import MEASURED, Quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.models.calibration.bench import Bench
    from htppower.tools.tuning.models.calibration.fit import Fit
    from htppower.tools.tuning.models.calibration.settings import Settings

_RELEASED, _RELAXED, _RAISED, _ACTIVE = "released_idle_w", "relaxed_idle_w", "raised_idle_w", "active_w"
IDLE = (_RAISED, _RELAXED, _RELEASED)
# Two measurements of the same device use the same order, and any order is as good as another.
_SEED = 1
_DIGITS = 6


@attrs.frozen
class State:
    """A state whose power is measured.

    Attributes:
        name: its name: a field of the device model, or a profile that is compared.
        profile: the profile that is raised, or raised once and lowered.
        stays_up: whether its votes are up during the run.
        works: whether inferences run one after the other.
        of: what is measured, for the model.
    """

    name: str
    profile: Profile
    stays_up: bool
    works: bool
    of: str


def measured_names(*, infers: bool) -> tuple[str, ...]:
    """Return the fields of the device model that ``measure_powers`` measures."""
    return (*IDLE, *((_ACTIVE,) if infers else ()))


def run_counts(settings: Settings, *, infers: bool) -> tuple[int, int]:
    """Return the number of idle runs, and the number of runs with inferences.

    Raises:
        PowerRefused: a run has too few periods of the meter.
    """
    if settings.window_us < LEAST_PERIODS * settings.period_us:
        raise PowerRefused(
            f"{settings.power_us} us have fewer than {LEAST_PERIODS} periods of a meter of {settings.period_us} us: "
            "measure longer"
        )
    works = 1 + len(settings.compared) if infers else 0
    return len(IDLE) * settings.power_count + 2, works * settings.power_count


def measure_powers(bench: Bench) -> dict[str, Quantity]:
    """Measure the power of each state, and add what is compared to ``bench.powers``.

    Raises:
        PowerRefused: the readings do not prove the powers.
    """
    settings, infers = bench.settings, bench.infer is not None
    states = _states(settings, infers=infers)
    if infers:
        bench.warm_us()
    runs = [_run(bench, state) for state in _order(states, settings.power_count)]
    found = fit(runs)
    works = [state.name for state in states if state.works]
    main = (works[0] if works else _RAISED, _RELEASED)
    refuse(bench.rail.name, runs, found, settings, (main, *((works[0], each) for each in works[1:])))
    bench.powers.extend(state_power(state.name, runs, found, _RELEASED) for state in states)
    wanted = measured_names(infers=infers)
    return {state.name: _quantity(bench, state, runs, found) for state in states if state.name in wanted}


def _states(settings: Settings, *, infers: bool) -> list[State]:
    raised = variant(settings.profile, polling_us=0)
    lowered = variant(settings.profile, polling_us=0, to=released())
    found = [
        State(_RAISED, raised, True, False, f"{settings.profile} up without polling, nothing running"),
        State(_RELAXED, raised, False, False, "its relaxed state, nothing running"),
        State(_RELEASED, lowered, False, False, "the released state, nothing running"),
    ]
    if infers:
        of = f"inferences one after the other under {settings.profile}"
        found.append(State(_ACTIVE, raised, True, True, of))
        found += (State(name, variant(name, polling_us=0), True, True, "") for name in settings.compared)
    return found


def _order(states: Sequence[State], rounds: int) -> list[State]:
    """Return the states in a random order in each round, with the released state before and after all rounds."""
    chance = random.Random(_SEED)  # noqa: S311 - an order, no secret
    idle = next(state for state in states if state.name == _RELEASED)
    return [idle, *(each for _ in range(rounds) for each in chance.sample(states, len(states))), idle]


def _run(bench: Bench, state: State) -> Run:
    settings, clock = bench.settings, bench.clock
    bench.session.use(state.profile)
    with contextlib.ExitStack() as votes:
        phase = bench.session.inference()
        if state.stays_up:
            votes.enter_context(phase)
        else:
            with phase:
                pass
        begun_us, cpu_us, done = clock.now_us, bench.cpu_us(), 0
        from_us = begun_us + settings.left_out_us
        with bench.rail.watched(clock, settings.look_us) as readings:
            # One reading more, so that the last period is covered.
            until_us = from_us + settings.window_us + settings.look_us
            if not state.works:
                bench.wait_us(until_us - begun_us)
            while state.works and clock.now_us < until_us:
                if not bench.inference_us():
                    bench.wait_us(1)  # virtual time advances only by waiting
                done += 1
        lasted_us, cpu_us = clock.now_us - begun_us, bench.cpu_us() - cpu_us
    more = {"inferences": done, "lasted_us": lasted_us, "cpu_us": cpu_us}
    return windowed(state.name, bench.rail, readings, from_us, settings, **more)


def _quantity(bench: Bench, state: State, runs: Sequence[Run], found: Fit) -> Quantity:
    """Return the power of a state as a quantity: the level of the fit, its interval, and the spread of the runs."""
    power_w, reach_w = found.sum_of({state.name: 1})
    watts = [run.power_w for run in runs if run.state == state.name]
    lower, _, upper = statistics.quantiles(watts, n=4, method="inclusive") if watts[1:] else (0.0, 0.0, 0.0)
    value = max(round(power_w, _DIGITS), 0.0)
    reach = (max(round(power_w - reach_w, _DIGITS), 0.0), max(round(power_w + reach_w, _DIGITS), value))
    of = bench.of(f"{state.of}, {bench.rail.name}")
    return Quantity(value, MEASURED, of, reach, round(upper - lower, _DIGITS), len(watts))
