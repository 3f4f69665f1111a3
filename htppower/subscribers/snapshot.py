"""The metrics that a scrape reads from the status of a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.events import LinkState, State

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

    from htppower.control.gate.cold_starts import ColdStarts
    from htppower.control.status.controller_status import ControllerStatus, LearntSustain, SessionStatus


_US = 1_000_000
_SESSION = ("session", "owner")
# These metrics exist only for sessions that learn their sustain time.
_LEARNT: tuple[tuple[str, str, Callable[[LearntSustain], float]], ...] = (
    ("sustain_seconds", "The sustain time that an open session has learnt.", lambda learnt: learnt.time_out_us / _US),
    ("gaps_total", "Gaps between inferences that an open session has learnt from.", lambda learnt: float(learnt.gaps)),
    (
        "idle_raised_seconds_total",
        "Time that votes were up in those gaps.",
        lambda learnt: learnt.raised_us / _US,
    ),
    (
        "learnt_cold_starts_total",
        "Inferences after those gaps that waited for a raise.",
        lambda learnt: float(learnt.cold_starts),
    ),
    (
        "fixed_idle_raised_seconds_total",
        "Time that votes would have been up in those gaps with a sustain time of 300 ms.",
        lambda learnt: learnt.fixed_raised_us / _US,
    ),
    (
        "fixed_cold_starts_total",
        "Inferences that would have waited with a sustain time of 300 ms.",
        lambda learnt: float(learnt.fixed_cold_starts),
    ),
)


# These metrics exist only while a reader has a reading: name, unit of the name, the same for OpenTelemetry, meaning,
# field of the reading, and its factor.
CLOCKS = (
    ("clock", "hertz", "Hz", "The measured clock of the Q6 core.", "clock_khz", 1000),
    ("q6_use", "ratio", "1", "The measured use of the Q6 core, 0 to 1.", "q6_use_percent", 0.01),
    ("hvx_use", "ratio", "1", "The measured use of HVX, 0 to 1.", "hvx_use_percent", 0.01),
    ("hmx_use", "ratio", "1", "The measured use of HMX, 0 to 1.", "hmx_use_percent", 0.01),
    ("power", "watts", "W", "The measured power of the rail of the source.", "power_mw", 0.001),
)


@attrs.frozen
class Sample:
    """A metric with its values.

    Attributes:
        name: its name with the unit; ends in ``_total`` for a counter.
        meaning: its meaning in one line.
        labels: the names of its labels.
        values: its values, by the values of the labels; for a histogram, the number of cold starts.
        waits: for a histogram, the cold starts it is made from, by the same labels.
    """

    name: str
    meaning: str
    labels: tuple[str, ...]
    values: dict[tuple[str, ...], float]
    waits: dict[tuple[str, ...], ColdStarts] | None = None

    @property
    def rises(self) -> bool:
        """Whether the metric is a counter."""
        return self.name.endswith("_total")


def encodable(text: str) -> str:
    """Return a text that UTF-8 can encode: half a surrogate pair, as in an owner from a file name, is escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def controller_samples(status: ControllerStatus) -> Iterator[Sample]:
    """Yield the metrics of a controller as a whole."""
    sessions = status.sessions
    in_states: dict[tuple[str, ...], float] = {
        (str(state),): float(sum(session.state is state for session in sessions))
        for state in State
        if state is not State.DESTROYED
    }
    yield Sample("htppower_sessions", "Open sessions in a state.", ("state",), in_states)
    links: dict[tuple[str, ...], float] = {(str(state),): float(status.link is state) for state in LinkState}
    yield Sample("htppower_link", "1 for the state of the link to the DSP, 0 for the others.", ("state",), links)
    for name, meaning, value in (
        ("inferences_in_flight", "Inferences that are running now.", sum(session.in_flight for session in sessions)),
        ("holds", "Holds on sessions.", sum(len(session.holds) for session in sessions)),
        ("caps", "Caps on all sessions.", len(status.caps)),
        (
            "orphaned_power_config_ids",
            "Ids whose session is gone, and that could not be destroyed yet.",
            len(status.orphans),
        ),
        ("inferences_total", "Inferences that have begun, on all sessions, including closed ones.", status.inferences),
        ("events_lost_total", "Events that were lost because subscribers were too slow.", status.events_lost),
    ):
        yield Sample(f"htppower_{name}", meaning, (), {(): float(value)})


def measured(status: ControllerStatus, field: str, factor: float) -> dict[tuple[str, ...], float]:
    """Return a measured value in its base unit, by source, from the readers that have it."""
    values = [(clock.source, getattr(clock.reading, field, None)) for clock in status.clocks]
    return {(source,): value * factor for source, value in values if value is not None}


def clock_samples(status: ControllerStatus) -> Iterator[Sample]:
    """Yield the measured clocks and powers, each only while a source has it."""
    for name, unit, _, meaning, field, factor in CLOCKS:
        values = measured(status, field, factor)
        if values:
            yield Sample(f"htppower_{name}_{unit}", meaning, ("source",), values)


def state_seconds(ended_us: Counter[State], status: ControllerStatus) -> Sample:
    """Return the time in each state over all sessions ever: the stays that have ended, and the current ones."""
    sums = ended_us.copy()
    for session in status.sessions:
        sums[session.state] += status.time_us - session.since_us
    return Sample(
        "htppower_state_seconds_total",
        "Time in a state, over all sessions, including closed ones.",
        ("state",),
        {(str(state),): sums[state] / _US for state in State if state is not State.DESTROYED},
    )


def session_samples(status: ControllerStatus) -> Iterator[Sample]:
    """Yield the metrics of each open session; they end with the session."""
    sessions = status.sessions
    yield Sample(
        "htppower_session_info",
        "1 for the profile that an open session uses, together with its own profile.",
        (*_SESSION, "profile", "own_profile"),
        {(*_labels(session), session.profile, session.own_profile): 1.0 for session in sessions},
    )
    yield Sample(
        "htppower_session_state_seconds_total",
        "Time of an open session in a state.",
        (*_SESSION, "state"),
        {
            (*_labels(session), str(state)): lasted_us / _US
            for session in sessions
            for state, lasted_us in session.time_in_state_us.items()
        },
    )
    values: tuple[tuple[str, str, Callable[[SessionStatus], float]], ...] = (
        ("inferences_in_flight", "Inferences that are running on an open session.", lambda session: session.in_flight),
        ("inferences_total", "Inferences of an open session that have begun.", lambda session: session.inferences),
        (
            "cold_starts_total",
            "Inferences of an open session that waited for a native call.",
            lambda session: session.cold_starts.count,
        ),
        ("calls_sent_total", "Native calls made for an open session.", lambda session: session.calls_sent),
        ("calls_saved_total", "Calls that an open session has not needed so far.", lambda session: session.calls_saved),
    )
    for name, meaning, value in values:
        yield Sample(
            f"htppower_session_{name}",
            meaning,
            _SESSION,
            {_labels(session): float(value(session)) for session in sessions},
        )
    waits: dict[tuple[str, ...], ColdStarts] = {_labels(session): session.cold_starts for session in sessions}
    yield Sample(
        "htppower_session_cold_start_wait_seconds",
        "How long these inferences waited.",
        _SESSION,
        {labels: float(each.count) for labels, each in waits.items()},
        waits,
    )
    for name, meaning, learnt in _LEARNT:
        yield Sample(
            f"htppower_session_{name}",
            meaning,
            _SESSION,
            {_labels(session): learnt(session.learnt) for session in sessions if session.learnt is not None},
        )


def _labels(session: SessionStatus) -> tuple[str, str]:
    return str(session.number), "" if session.owner is None else str(session.owner)
