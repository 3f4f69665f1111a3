"""A run as a timeline: the votes of each clock as steps, phases and windows as spans, native calls as ticks.

It is data, exact to the microsecond, which other modules draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import attrs

from htppower.events import Phase, State
from htppower.profiles.fields import spell, vote_fields
from htppower.votes.native_codes import SUCCESS, code_name
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.review.dry_run.observer import PhaseSpan, Row, Window
    from htppower.tools.review.dry_run.workload import Report
    from htppower.votes.clock_votes import ExpandedRange, HmxV2, VoltageRange
    from htppower.votes.corners import ExpandedCorner, VoltageCorner
    from htppower.votes.vote_set import VoteSet


# The fields of a vote set that have no lane, in the order of a file.
FIELDS = tuple(
    dict.fromkeys(
        name
        for about in VOTE_OPTIONS.values()
        for name in ([field.name for field in about.fields] if about.partial else [about.field])
        if name not in ("core", "bus", "hmx_v2")
    )
)
# The text of a clock whose three corners are DISABLE.
NO_VOTE = "no vote (DISABLE)"


def is_disable(corner: VoltageCorner | ExpandedCorner) -> bool:
    """Return whether a corner is DISABLE, which means "no vote" and has no place in the order of corners."""
    return corner.name == "DISABLE"


@attrs.frozen
class Levels:
    """The voted corners of one clock; ``.value`` of each is the vendor's number."""

    min: VoltageCorner | ExpandedCorner
    target: VoltageCorner | ExpandedCorner
    max: VoltageCorner | ExpandedCorner

    @property
    def all(self) -> tuple[VoltageCorner | ExpandedCorner, ...]:
        """The three corners."""
        return self.min, self.target, self.max

    @property
    def limits(self) -> tuple[VoltageCorner | ExpandedCorner, VoltageCorner | ExpandedCorner] | None:
        """The lowest and highest corner of the clock; the target replaces a limit of DISABLE."""
        low, high = (self.target if is_disable(end) else end for end in (self.min, self.max))
        return None if is_disable(low) or is_disable(high) else (low, high)

    def __str__(self) -> str:
        """Return one corner if all three are the same, else min / target / max."""
        if self.min is self.target is self.max:
            return NO_VOTE if is_disable(self.target) else self.target.name
        return f"{self.min.name} / {self.target.name} / {self.max.name}"


@attrs.frozen
class Step:
    """The vote on a clock that starts at a moment.

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
        """Return the corners, or the text that replaces them."""
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
class Value:
    """The value of a field that starts at a moment, as a file writes it; None if nothing votes on the field."""

    time_us: int
    text: str | None


@attrs.frozen
class Setting:
    """A voted field that is not a clock, such as ``rpc_polling_time_us``. Its steps are like those in a lane."""

    field: str
    steps: tuple[Value, ...] = (Value(0, None),)

    def at(self, time_us: int) -> Value:
        """Return the value in force after the calls of a moment."""
        return next(step for step in reversed(self.steps) if step.time_us <= time_us)


S = TypeVar("S", Step, Value)


@attrs.frozen
class Tick:
    """A native call, or the setPowerConfig calls of one step: clocks, then settings of the process.

    Attributes:
        time_us: the time of the first call.
        does: ``create``, ``raise``, ``lower``, ``cast``, ``destroy`` or ``fail``.
        says: the cause.
        calls: how many calls it stands for.
    """

    time_us: int
    does: str
    says: str
    calls: int = 1


@attrs.frozen
class Timeline:
    """A run as data for drawing. A profile without votes has no lanes. ``setting`` is the platform and the workload.

    ``settings`` are all other fields than clocks that are voted in the run, in the order of a file. ``left_out`` is the
    number of inferences after the end.
    """

    profile: str
    summary: str
    setting: str
    lanes: tuple[Lane, ...]
    settings: tuple[Setting, ...]
    phases: tuple[PhaseSpan, ...]
    windows: tuple[Window, ...]
    ticks: tuple[Tick, ...]
    end_us: int
    left_out: int = 0

    def begin(self, most: int) -> Timeline:
        """Return the timeline up to the begin of an inference, with at most so many inferences before it."""
        begins_us = [span.begin_us for span in self.phases if span.phase is Phase.INFERENCE]
        if len(begins_us) <= most:
            return self
        end_us = begins_us[most]
        windows = (attrs.evolve(each, end_us=min(each.end_us, end_us)) for each in self.windows)
        return attrs.evolve(
            self,
            lanes=tuple(Lane(each.clock, _until(each.steps, end_us)) for each in self.lanes),
            settings=tuple(Setting(each.field, _until(each.steps, end_us)) for each in self.settings),
            phases=tuple(each for each in self.phases if each.begin_us < end_us),
            windows=tuple(each for each in windows if each.begin_us < end_us),
            ticks=tuple(each for each in self.ticks if each.time_us < end_us),
            end_us=end_us,
            left_out=len(begins_us) - most,
        )


def spans(steps: Sequence[S], end_us: int) -> list[tuple[int, int, S]]:
    """Return begin, end and step for each step of a lane or a setting; the last one ends with the timeline."""
    ends_us = [*(step.time_us for step in steps[1:]), end_us]
    return [(step.time_us, until_us, step) for step, until_us in zip(steps, ends_us, strict=True)]


def _until(steps: tuple[S, ...], end_us: int) -> tuple[S, ...]:
    return tuple(step for step in steps if step.time_us < end_us)


def timeline(report: Report) -> Timeline:
    """Return the timeline of a run of one session on one core."""
    clocks = ("core", "bus", "HMX") if report.profile.votes else ()
    return Timeline(
        profile=report.profile.name,
        summary=report.profile.summary,
        setting=f"{report.backend.platform}; {report.workload_line}",
        lanes=tuple(Lane(clock, tuple(_changes(clock, report.rows))) for clock in clocks),
        settings=tuple(_settings(report.rows)),
        phases=report.phases,
        windows=report.windows,
        ticks=tuple(map(_tick, _steps(report.rows))),
        end_us=report.end_us,
    )


def _changes(clock: str, rows: tuple[Row, ...]) -> Iterator[Step]:
    """Yield a step for every call that changes the vote on the clock, and always a step at 0."""
    last = Step(0, None)
    if not rows or rows[0].call.time_us > 0:
        yield last
    for place, row in enumerate(rows):
        step = _step(clock, row.call.time_us, row.in_force)
        if place == 0 or attrs.evolve(step, time_us=last.time_us) != last:
            last = step
            yield step


def _settings(rows: tuple[Row, ...]) -> Iterator[Setting]:
    """Yield the voted fields that are not clocks, since clocks have lanes."""
    said = [(row.call.time_us, dict(_said(row.in_force))) for row in rows]
    voted = {name for _, fields in said for name in fields}
    for field in (name for name in FIELDS if name in voted):
        values = [Value(0, None)]
        for time_us, fields in said:
            value = Value(time_us, fields.get(field))
            if value.text != values[-1].text:
                values.append(value)
        # A vote at 0 is the first value.
        yield Setting(field, tuple(values[1:] if values[1:] and values[1].time_us == 0 else values))


def _said(votes: VoteSet) -> Iterator[tuple[str, str]]:
    for at, value in vote_fields(votes):
        if value is not None and at[-1] in FIELDS:
            yield at[-1], spell(value)


def _step(clock: str, time_us: int, votes: VoteSet) -> Step:
    """Return the vote on a clock. Without an explicit vote, HMX follows the core clock (rule HMX-4)."""
    voted: VoltageRange | ExpandedRange | HmxV2 | None = None
    if clock != "HMX":
        voted = None if votes.hvx is None else getattr(votes.hvx, clock)
    elif votes.hmx_v2 is not None and not votes.hmx_v2.pick_default:
        voted = votes.hmx_v2
    levels = None if voted is None else Levels(voted.min, voted.target, voted.max)
    return Step(time_us, levels, follows=clock == "HMX" and voted is None and votes.hvx is not None)


def _steps(rows: tuple[Row, ...]) -> list[list[Row]]:
    """Return the rows of each step together."""
    steps: list[list[Row]] = []
    for row in rows:
        if row.goes_on:
            steps[-1].append(row)
        else:
            steps.append([row])
    return steps


def _tick(rows: list[Row]) -> Tick:
    row = next((each for each in rows if each.call.code != SUCCESS), rows[0])
    call, time_us, count = row.call, rows[0].call.time_us, len(rows)
    does = {"createPowerConfigId": "create", "destroyPowerConfigId": "destroy"}.get(call.function)
    if call.code != SUCCESS:
        says = f"{call.function} failed with {call.code} {code_name(call.code)}: {row.cause}"
        return Tick(time_us, "fail", says, count)
    if does is None:
        does = {State.RAISED: "raise", State.LOWERED: "lower"}.get(row.state, "cast")
    times = f", {count} calls" if count > 1 else ""
    return Tick(time_us, does, f"{call.function}({call.power_config_id}){times}: {row.cause}, {row.state}", count)
