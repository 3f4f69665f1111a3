"""The metrics that a scrape reads from the status of a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.events import LinkState, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.control.gate.cold_starts import ColdStarts
    from htppower.control.status.controller_status import ControllerStatus, LearntSustain, SessionStatus


_US = 1_000_000
_SESSION = ("session", "owner")
# Of a session whose sustain time is learnt.
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
        "Time that votes would have been up in those gaps with 300 ms.",
        lambda learnt: learnt.fixed_raised_us / _US,
    ),
    (
        "fixed_cold_starts_total",
        "Inferences that would have waited with 300 ms.",
        lambda learnt: float(learnt.fixed_cold_starts),
    ),
)


@attrs.frozen
class Sample:
    """One metric with its values.

    Attributes:
        name: its name with the unit; ends in ``_total`` where it only rises.
        meaning: its meaning in one line.
        labels: the names of its labels.
        values: its values, by the values of the labels; of a histogram, how many there are.
        waits: of a histogram, what it is made of, by the same labels.
    """

    name: str
    meaning: str
    labels: tuple[str, ...]
    values: dict[tuple[str, ...], float]
    waits: dict[tuple[str, ...], ColdStarts] | None = None

    @property
    def rises(self) -> bool:
        """Whether it is a counter."""
        return self.name.endswith("_total")


def encodable(text: str) -> str:
    """Return a text that UTF-8 has: half of a character, as an owner from a file's name may hold, is escaped."""
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
        ("inferences_in_flight", "Inferences that run now.", sum(session.in_flight for session in sessions)),
        ("holds", "Holds on sessions.", sum(len(session.holds) for session in sessions)),
        ("caps", "Caps on all sessions.", len(status.caps)),
        (
            "orphaned_power_config_ids",
            "Ids that no session has any more, and that could not be destroyed yet.",
            len(status.orphans),
        ),
        ("inferences_total", "Inferences that have begun, on all sessions, also closed ones.", status.inferences),
        ("events_lost_total", "Events that subscribers were too slow for.", status.events_lost),
    ):
        yield Sample(f"htppower_{name}", meaning, (), {(): float(value)})


def session_samples(status: ControllerStatus) -> Iterator[Sample]:
    """Yield the metrics of each open session, which end with it."""
    sessions = status.sessions
    yield Sample(
        "htppower_session_info",
        "1, with the profile that an open session uses, and the one that is its own.",
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
        ("inferences_in_flight", "Inferences that run now on an open session.", lambda session: session.in_flight),
        ("inferences_total", "Inferences of an open session that have begun.", lambda session: session.inferences),
        (
            "cold_starts_total",
            "Inferences of an open session that waited for a native call.",
            lambda session: session.cold_starts.count,
        ),
        ("calls_sent_total", "Native calls made for an open session.", lambda session: session.calls_sent),
        ("calls_saved_total", "Calls that an open session did without so far.", lambda session: session.calls_saved),
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
        "How long those inferences waited.",
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
