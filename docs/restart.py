"""Draw a restart of the DSP, after which a call answers 1007: ``docs/restart.svg``, from a run in virtual time.

python -m docs.restart            write the picture
python -m docs.restart --check    exit 1 if such a run gives another picture
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import htppower
from docs.drawing import draw_box, draw_line, draw_text, main, opening
from htppower.backends import SimulatedHtp
from htppower.events import CallMade, Event, State, Transition
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE = Path(__file__).parent / "restart.svg"

_WIDTH = 720
_TOP, _STEP = 92, 46
_LANES = {"camera": 100, "tracker": 260, "detector": 420}
_SAID = {
    "camera": "an inference runs",
    "tracker": "sustained",
    "detector": "its inference begins",
}
_DSP_X = 604
_PILL_WIDTH, _PILL_HEIGHT = 108, 28


def run() -> tuple[Event, ...]:
    """Return the calls and transitions after a restart.

    The camera is in the middle of an inference, the tracker is only sustained, and the raise of the detector is the
    call that notices the restart.

    Raises:
        ValueError: not every session is raised again.
    """
    time, htp = VirtualTime(), SimulatedHtp(arch=75)
    told: list[Event] = []
    with htppower.VoteController(htp, time=time, handle_sigterm=False, heartbeat_us=0) as controller:
        camera, tracker, detector = (controller.session("burst", owner=owner) for owner in _LANES)
        with tracker.inference():
            pass
        with camera.inference():
            htp.restart_subsystem()
            controller.subscribe(told.append, kinds=(CallMade, Transition))
            with detector.inference():
                time.advance_us(1)
                states = [session.state for session in (camera, tracker, detector)]
                events = tuple(told)
    if set(states) != {State.RAISED}:
        raise ValueError(f"after the restart the sessions are {states}")
    return events


def picture() -> str:
    """Return the SVG."""
    events = run()
    height = _TOP + _STEP * (len(events) + 2) + 20
    said = "; ".join(map(_spell, events))
    title = "The DSP restarts, and every session is voted again"
    head = opening("restart", _WIDTH, height, title, f"The next call, for the detector, notices it. In order: {said}.")
    rows = (part for place, event in enumerate(events, start=2) for part in _row(_TOP + _STEP * place, event))
    return "\n".join((*head, *_lanes(height), *_before(), *rows, "</svg>", ""))


def _spell(event: Event) -> str:
    if isinstance(event, CallMade):
        return f"{event.owner}: {event.function} answers {event.code}"
    return f"{event.owner} is {event.dest}" if isinstance(event, Transition) else ""


def _lanes(height: int) -> Iterator[str]:
    for owner, x in _LANES.items():
        yield draw_text(x, 30, owner, "name", "middle")
        yield draw_text(x, 50, _SAID[owner], anchor="middle")
        yield f'<path class="guide" d="M{x},62V{height - 14}"/>'
    yield draw_text(_DSP_X, 30, "library and DSP", "name", "middle")
    yield f'<path class="axis" d="M{_DSP_X},62V{height - 14}"/>'


def _before() -> Iterator[str]:
    """Draw the states before the restart, and the restart."""
    for owner, state in (("camera", State.RAISED), ("tracker", State.RAISED)):
        yield _pill(_LANES[owner], _TOP, state)
    yield f'<g class="lose">{draw_box(_DSP_X - 92, _TOP + _STEP - 15, 184, 30, "bad")}</g>'
    yield draw_text(_DSP_X, _TOP + _STEP + 5, "restart: no vote is left", "onbad", "middle")
    yield draw_box(26, _TOP + _STEP - 12, 232, 24, "ground")
    yield draw_text(_LANES["camera"] - 70, _TOP + _STEP + 5, "no notice, until the next call:")


def _row(y: float, event: Event) -> Iterator[str]:
    x = _LANES[event.owner or ""]
    if isinstance(event, Transition):
        yield _pill(x, y, event.dest)
    elif isinstance(event, CallMade):
        kind = "lower" if event.code == 0 else "lose"
        yield f'<g class="{kind}"><title>{event.function}</title>{"".join(draw_line(((x, y), (_DSP_X, y))))}</g>'
        code = f"{event.function}: {event.code}"
        yield draw_box(_DSP_X - 158, y - 24, 146, 18, "ground")
        yield draw_text(_DSP_X - 14, y - 10, code, "code", "end")


def _pill(x: float, y: float, state: State) -> str:
    kind = {State.RAISED: "raise", State.UNKNOWN: "lose"}.get(state, "lower")
    box = draw_box(x - _PILL_WIDTH / 2, y - _PILL_HEIGHT / 2, _PILL_WIDTH, _PILL_HEIGHT, "pill")
    return f'<g class="{kind}">{box}</g>{draw_text(x, y + 5, state, "pilled", "middle")}'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], PICTURE, picture, __doc__))
