"""Draw a burst of inferences and its sustain time: ``docs/sustain.svg``, from a run in virtual time.

python -m docs.sustain            write the picture
python -m docs.sustain --check    exit 1 if such a run gives another picture
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

import htppower
from docs.drawing import draw_box, draw_line, draw_steps, draw_text, main, opening
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.profiles.sustain import first_us
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PICTURE = Path(__file__).parent / "sustain.svg"

_WIDTH, _HEIGHT = 720, 372
_AXIS_X, _PX_A_MS = 132, 1.26
_INFERENCES_Y, _CLOCK_Y, _TIMER_Y, _CALLS_Y, _AXIS_Y = 66, 118, 226, 284, 330
_RAISED_Y, _LOWERED_Y = _CLOCK_Y, _CLOCK_Y + 64
_BEGIN_MS, _END_MS = 0, 450
# When an inference begins, and how long it takes.
_INFERENCES_MS = ((10, 12), (43, 12), (76, 12))


class _NotedTime(VirtualTime):
    """Virtual time that records when alarms are armed, and their deadlines."""

    def __init__(self) -> None:
        super().__init__()
        self.armed: list[tuple[int, int]] = []

    def call_at(self, deadline_us: int, action: Callable[[], None]) -> int:
        self.armed.append((self.now_us, deadline_us))
        return super().call_at(deadline_us, action)


@attrs.frozen
class Run:
    """The result of a run.

    Attributes:
        calls: when setPowerConfig was called, in ms; two calls at one time are one here.
        armed: when an alarm was armed, and its deadline, in ms.
        sustain: the sustain time, in ms.
    """

    calls: tuple[float, ...]
    armed: tuple[tuple[float, float], ...]
    sustain: float


def run() -> Run:
    """Run the inferences under burst.

    Raises:
        ValueError: the run is not as in the picture: one raise, one timer that fires too early, and one lowering, with
            two calls each.
    """
    time = _NotedTime()
    recorder = RecordingBackend(SimulatedHtp(arch=75), time=time)
    profile = htppower.load_profile("burst")
    with htppower.VoteController(recorder, time=time, handle_sigterm=False, heartbeat_us=0) as controller:
        session = controller.session(profile)
        for begin, length in _INFERENCES_MS:
            time.advance_us(begin * 1000 - time.now_us)
            with session.inference():
                time.advance_us(length * 1000)
        time.advance_us(_END_MS * 1000 - time.now_us)
        every = [call.time_us / 1000 for call in recorder.calls if call.function == "setPowerConfig"]
    # Votes of the id, then settings of the process.
    calls = tuple(dict.fromkeys(every))
    armed = tuple((now / 1000, deadline / 1000) for now, deadline in time.armed)
    if (len(every), len(calls), len(armed)) != (4, 2, 2):
        raise ValueError(f"calls at {every} ms, alarms {armed}")
    return Run(calls, armed, first_us(profile.relax.after_inference_us) / 1000 if profile.relax else 0)


def picture() -> str:
    """Return the SVG."""
    done = run()
    raised, lowered = done.calls
    said = (
        f"{len(_INFERENCES_MS)} inferences cost one raise at {raised:g} ms and one lowering at {lowered:g} ms, "
        f"two calls each, {done.sustain:g} ms after the last one. The timer fires at "
        f"{done.armed[0][1]:g} ms, finds that the deadline was moved, and is armed again for {done.armed[1][1]:g} ms."
    )
    head = opening("sustain", _WIDTH, _HEIGHT, "A burst of inferences, and its sustain time", said)
    return "\n".join((*head, *_phases(), *_clock(done), *_timer(done), *_calls(done), *_axis(), "</svg>", ""))


def _x(ms: float) -> float:
    return _AXIS_X + (ms - _BEGIN_MS) * _PX_A_MS


def _name(y: float, *lines: str) -> Iterator[str]:
    yield draw_text(16, y, lines[0], "label")
    for number, line in enumerate(lines[1:], start=1):
        yield draw_text(16, y + 17 * number, line)


def _phases() -> Iterator[str]:
    yield from _name(_INFERENCES_Y + 4, "inferences")
    for begin, length in _INFERENCES_MS:
        yield draw_box(_x(begin), _INFERENCES_Y - 12, length * _PX_A_MS, 24, "busy")
    yield draw_text(_x(_INFERENCES_MS[0][0]), _INFERENCES_Y - 26, "only the first one waits for calls")


def _clock(done: Run) -> Iterator[str]:
    raised, lowered = done.calls
    last = sum(_INFERENCES_MS[-1])
    yield from _name(_CLOCK_Y + 20, "state", "of the session")
    points: tuple[tuple[Any, Any], ...] = (
        (_x(_BEGIN_MS), _LOWERED_Y),
        (_x(raised), _RAISED_Y),
        (_x(lowered), _LOWERED_Y),
        (_x(_END_MS), _LOWERED_Y),
    )
    yield f'<g class="raise">{draw_box(_x(last), _RAISED_Y, (lowered - last) * _PX_A_MS, 64, "kept")}'
    yield f"{draw_steps(points)}</g>"
    middle = (_x(last) + _x(lowered)) / 2
    yield draw_text(middle, _RAISED_Y + 27, "RAISED", "name")
    yield draw_text(middle, _RAISED_Y + 48, f"sustain: {done.sustain:g} ms after the last end", anchor="middle")
    yield draw_text(_x(lowered) + 8, _LOWERED_Y - 8, "LOWERED", "label")


def _timer(done: Run) -> Iterator[str]:
    yield from _name(_TIMER_Y - 4, "timer", "of the session")
    for armed, fires in done.armed:
        yield f"<g>{''.join(draw_line(((_x(armed), _TIMER_Y), (_x(fires), _TIMER_Y))))}"
        yield f'<path class="line" d="M{_x(armed):g},{_TIMER_Y - 6}v12"/></g>'
    (armed, fires), (_, end) = done.armed
    yield draw_text(_x(armed) + 4, _TIMER_Y - 12, "armed once; the other inferences only store a time")
    yield draw_text(_x(fires) - 4, _TIMER_Y + 22, f"fires at {fires:g}: too early, armed for the rest", anchor="end")
    yield draw_text(_x(end) + 8, _TIMER_Y + 4, "lowers")


def _calls(done: Run) -> Iterator[str]:
    yield from _name(_CALLS_Y + 4, "native calls")
    for at, kind in zip(done.calls, ("raise", "lower"), strict=True):
        yield f'<g class="{kind}"><title>two calls of setPowerConfig at {at:g} ms</title>'
        yield f'<circle class="head" cx="{_x(at):g}" cy="{_CALLS_Y}" r="6"/></g>'
        yield f'<path class="guide" d="M{_x(at):g},{_CALLS_Y - 8}V{_RAISED_Y}"/>'
        side, anchor = (12, "start") if kind == "raise" else (-12, "end")
        yield draw_text(_x(at) + side, _CALLS_Y + 4, f"{kind}: 2 calls", "label", anchor)


def _axis() -> Iterator[str]:
    yield f'<path class="axis" d="M{_x(_BEGIN_MS):g},{_AXIS_Y}H{_x(_END_MS):g}"/>'
    for ms in range(_BEGIN_MS, _END_MS + 1, 100):
        yield f'<path class="axis" d="M{_x(ms):g},{_AXIS_Y}v5"/>'
        yield draw_text(_x(ms), _AXIS_Y + 22, f"{ms} ms" if ms else "0", anchor="middle")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], PICTURE, picture, __doc__))
