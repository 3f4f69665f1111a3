"""The meaning of the states of a session and of the link to the DSP, and of the phases."""

from __future__ import annotations

from typing import NamedTuple

from htppower.control.core.link import TABLE, LinkEvent
from htppower.control.core.state_machine import MEANINGS, TRANSITIONS
from htppower.events import LinkState, Phase, State
from htppower.tools.review.explain.subject import Subject
from htppower.tools.review.link_words import LINK_MEANINGS

_SEE = "htppower profile burst --dry-run"


_LINK_SEEN = "htppower status; the event LinkChanged"


class _PhaseText(NamedTuple):
    around: str
    begins: str
    ends: str


_PHASES = {
    Phase.INIT: _PhaseText(
        "the creation of a graph",
        "the profile's votes are raised",
        "the votes are lowered after relax.after_init_us, unless an inference runs or its sustain time is not over; "
        "the next raise sends every vote again, since votes sent before the graph's context exists may be lost",
    ),
    Phase.INFERENCE: _PhaseText(
        "one execution of a graph",
        "the votes are raised unless they are up; then the inference begins",
        "the votes are lowered relax.after_inference_us after the last inference",
    ),
    Phase.DEINIT: _PhaseText(
        "the release of a graph",
        "the profile's votes are raised",
        "the votes are lowered at once to the power state of relax.after_deinit_to, unless another phase runs",
    ),
}


def session_words() -> dict[str, str]:
    """Return the states of a session, the states of the link, and the phases, each with a line about it."""
    phases = {phase.value: f"the phase around {text.around}" for phase, text in _PHASES.items()}
    links = {state.value: f"of the link: {meaning}" for state, meaning in LINK_MEANINGS.items()}
    return {**{state.value: meaning for state, meaning in MEANINGS.items()}, **links, **phases}


def session_subject(name: str) -> Subject | None:
    """Return a state of a session, a state of the link, or a phase by its name; None for any other name."""
    upper = name.upper()
    if upper in State.__members__:
        return _state(State[upper])
    if upper in LinkState.__members__:
        return _link(LinkState[upper])
    phase = next((each for each in Phase if upper in (each.value, each.name)), None)
    return None if phase is None else _phase(phase)


def _state(state: State) -> Subject:
    entered = [row for row in TRANSITIONS if row.dest is state]
    left = [row for row in TRANSITIONS if state in row.sources and row.dest is not state]
    facts = [("entered by", f"{row.trigger} from {_joined(row.sources)}: {row.meaning}") for row in entered]
    facts += [("left by", f"{row.trigger} to {row.dest}: {row.meaning}") for row in left]
    return Subject("state", state.value, MEANINGS[state], (*_grouped(facts), ("seen in", f"htppower status; {_SEE}")))


def _link(state: LinkState) -> Subject:
    entered = [
        ("entered by", f"from {', '.join(sources)}: {event}")
        for place, event in enumerate(LinkEvent)
        if (sources := [source.value for source, dests in TABLE.items() if dests[place] is state is not source])
    ]
    left = [
        ("left by", f"to {dest}: {event}")
        for event, dest in zip(LinkEvent, TABLE[state], strict=True)
        if dest is not state
    ]
    return Subject("state", state.value, LINK_MEANINGS[state], (*_grouped(entered + left), ("seen in", _LINK_SEEN)))


def _phase(phase: Phase) -> Subject:
    text = _PHASES[phase]
    facts = (("begins", text.begins), ("ends", text.ends), ("seen in", _SEE))
    return Subject("phase", phase.value, f"the phase around {text.around}", facts)


def _grouped(facts: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return one fact for each label."""
    labels = dict.fromkeys(label for label, _ in facts)
    return tuple((label, "; ".join(text for each, text in facts if each == label)) for label in labels)


def _joined(states: tuple[State, ...]) -> str:
    return ", ".join(state.value for state in states)
