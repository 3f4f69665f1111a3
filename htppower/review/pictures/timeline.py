"""A run as a timeline: the votes of each clock as steps, phases and windows as spans, native calls as ticks.

It is data, exact to the microsecond; other modules draw it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.events import State
from htppower.votes.native_codes import SUCCESS, code_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.review.dry_run.observer import PhaseSpan, Row, Window
    from htppower.review.dry_run.report import Report
    from htppower.votes.clock_votes import ExpandedRange, HmxV2, VoltageRange
    from htppower.votes.corners import ExpandedCorner, VoltageCorner
    from htppower.votes.vote_set import VoteSet


# The text of a clock whose three corners are DISABLE.
NO_VOTE = "no vote (DISABLE)"


def is_disable(corner: VoltageCorner | ExpandedCorner) -> bool:
    """Return whether a corner is DISABLE, which means "no vote" and stands outside the order of corners."""
    return corner.name == "DISABLE"


@attrs.frozen
class Levels:
    """The voted corners of one clock; ``.value`` of each is the vendor's number."""

    min: VoltageCorner | ExpandedCorner
    target: VoltageCorner | ExpandedCorner
    max: VoltageCorner | ExpandedCorner

    @property
    def all(self) -> tuple[VoltageCorner | ExpandedCorner, ...]:
        """The three."""
        return self.min, self.target, self.max

    @property
    def limits(self) -> tuple[VoltageCorner | ExpandedCorner, VoltageCorner | ExpandedCorner] | None:
        """The lowest and highest corner of the clock; the target replaces a limit of DISABLE."""
        low, high = (self.target if is_disable(end) else end for end in (self.min, self.max))
        return None if is_disable(low) or is_disable(high) else (low, high)

    def __str__(self) -> str:
        """Return one corner where all three are the same, else min / target / max."""
        if self.min is self.target is self.max:
            return NO_VOTE if is_disable(self.target) else self.target.name
        return f"{self.min.name} / {self.target.name} / {self.max.name}"


@attrs.frozen
class Step:
    """The vote on a clock from a moment on.

    Attributes:
        time_us: the moment, from the start of the run.
        levels: the corners; None without a vote.
        follows: whether the clock follows the core clock, as HMX does without an explicit vote.
    """

    time_us: int
    levels: Levels | None
    follows: bool = False

    @property
    def limits(self) -> tuple[VoltageCorner | ExpandedCorner, VoltageCorner | ExpandedCorner] | None:
        """The lowest and highest corner of the clock; None without a vote."""
        return None if self.levels is None else self.levels.limits

    def __str__(self) -> str:
        """Return the corners, or the text in their place."""
        return "follows the core clock" if self.follows else "no vote" if self.levels is None else str(self.levels)


@attrs.frozen
class Lane:
    """The votes of one clock: ``core``, ``bus`` or ``HMX``. The first step is at 0; each lasts until the next."""

    clock: str
    steps: tuple[Step, ...]

    def at(self, time_us: int) -> Step:
        """Return the step in force after the calls of a moment."""
        return next(step for step in reversed(self.steps) if step.time_us <= time_us)

    @property
    def explicit(self) -> bool:
        """Whether any step votes a corner."""
        return any(step.levels is not None for step in self.steps)


@attrs.frozen
class Tick:
    """One native call: it does ``create``, ``raise``, ``lower``, ``cast``, ``destroy`` or ``fail``, and says why."""

    time_us: int
    does: str
    says: str


@attrs.frozen
class Timeline:
    """A run as data for drawing; a profile without votes has no lanes. ``setting`` is platform and workload."""

    profile: str
    summary: str
    setting: str
    lanes: tuple[Lane, ...]
    phases: tuple[PhaseSpan, ...]
    windows: tuple[Window, ...]
    ticks: tuple[Tick, ...]
    end_us: int


def timeline(report: Report) -> Timeline:
    """Return the timeline of a run of one session on one core."""
    lanes = () if not report.profile.votes else tuple(_lane(clock, report.rows) for clock in _STEPS)
    return Timeline(
        profile=report.profile.name,
        summary=report.profile.summary,
        setting=f"{report.backend.platform}; {report.workload_line}",
        lanes=lanes,
        phases=report.phases,
        windows=report.windows,
        ticks=tuple(map(_tick, report.rows)),
        end_us=report.end_us,
    )


def _lane(clock: str, rows: tuple[Row, ...]) -> Lane:
    return Lane(clock, tuple(_changes(clock, rows)))


def _changes(clock: str, rows: tuple[Row, ...]) -> Iterator[Step]:
    """Yield a step for every call that changes the vote on the clock, and always one at 0."""
    last = Step(0, None)
    if not rows or rows[0].call.time_us > 0:
        yield last
    for place, row in enumerate(rows):
        step = _STEPS[clock](row.call.time_us, row.in_force)
        if place == 0 or attrs.evolve(step, time_us=last.time_us) != last:
            last = step
            yield step


def _core(time_us: int, votes: VoteSet) -> Step:
    return Step(time_us, _levels(None if votes.hvx is None else votes.hvx.core))


def _bus(time_us: int, votes: VoteSet) -> Step:
    return Step(time_us, _levels(None if votes.hvx is None else votes.hvx.bus))


def _hmx(time_us: int, votes: VoteSet) -> Step:
    """Return the explicit vote; without one HMX follows the core clock (rule HMX-4)."""
    if votes.hmx_v2 is not None and not votes.hmx_v2.pick_default:
        return Step(time_us, _levels(votes.hmx_v2))
    return Step(time_us, None, follows=votes.hvx is not None)


_STEPS: dict[str, Callable[[int, VoteSet], Step]] = {"core": _core, "bus": _bus, "HMX": _hmx}


def _levels(voted: VoltageRange | ExpandedRange | HmxV2 | None) -> Levels | None:
    return None if voted is None else Levels(voted.min, voted.target, voted.max)


def _tick(row: Row) -> Tick:
    call = row.call
    does = {"createPowerConfigId": "create", "destroyPowerConfigId": "destroy"}.get(call.function)
    if call.code != SUCCESS:
        says = f"{call.function} failed with {call.code} {code_name(call.code)}: {row.cause}"
        return Tick(call.time_us, "fail", says)
    if does is None:
        does = {State.RAISED: "raise", State.LOWERED: "lower"}.get(row.state, "cast")
    return Tick(call.time_us, does, f"{call.function}({call.power_config_id}): {row.cause}, {row.state}")
