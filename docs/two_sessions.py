"""Draw how the DSP combines the votes of two sessions: ``docs/two_sessions.svg``, from a run in virtual time.

python -m docs.two_sessions            write the picture
python -m docs.two_sessions --check    exit 1 if such a run gives another picture
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

import htppower
from docs.drawing import Point, draw_box, draw_steps, draw_text, main, opening
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.testing import VirtualTime
from htppower.votes.corners import VoltageCorner

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE = Path(__file__).parent / "two_sessions.svg"

_WIDTH, _HEIGHT = 720, 540
_AXIS_X, _PX_A_MS, _END_MS = 214, 0.98, 480
_TOP, _STEP, _ROW_HEIGHT = 46, 158, 92
_PROFILES = {"wake word": "low_balanced", "camera": "burst"}
# The inferences: session, begin and end.
_INFERENCES_MS = {"wake word": ((20, 100), (180, 260), (400, 440)), "camera": ((50, 70),)}
_NO_VOTE = int(VoltageCorner.DISABLE)


@attrs.frozen
class Run:
    """The result of a run: the changes of the core clock's target.

    Attributes:
        votes: by session, the time in ms and the target that it votes.
        core: the time in ms, and the target in force on the core.
    """

    votes: dict[str, tuple[tuple[int, int], ...]]
    core: tuple[tuple[int, int], ...]


def run() -> Run:
    """Run both sessions, and read the votes and the core every millisecond."""
    time, htp = VirtualTime(), SimulatedHtp(arch=75)
    recorder = RecordingBackend(htp, time=time)
    votes: dict[str, list[tuple[int, int]]] = {owner: [] for owner in _PROFILES}
    core: list[tuple[int, int]] = []
    with htppower.VoteController(recorder, time=time, handle_sigterm=False, heartbeat_us=0) as controller:
        sessions = {owner: controller.session(profile, owner=owner) for owner, profile in _PROFILES.items()}
        running = {}
        for now in range(_END_MS + 1):
            for owner, session in sessions.items():
                for begin, end in _INFERENCES_MS[owner]:
                    if now == begin:
                        running[owner] = session.inference()
                        running[owner].__enter__()
                    if now == end:
                        running[owner].__exit__(None, None, None)
                _note(votes[owner], now, _voted(recorder, session.power_config_ids[0]))
            _note(core, now, htp.effective().core_target)
            time.advance_us(1000)
    return Run({owner: tuple(noted) for owner, noted in votes.items()}, tuple(core))


def _voted(recorder: RecordingBackend, number: int) -> int:
    """Return the last core target that was voted on an id."""
    for call in reversed(recorder.calls):
        if call.power_config_id == number:
            for config in call.configs:
                if config.option == "DCVS_V3":
                    return config.fields["coreVoltageCornerTarget"]
    return _NO_VOTE


def _note(noted: list[tuple[int, int]], now: int, target: int) -> None:
    if not noted or noted[-1][1] != target:
        noted.append((now, target))


def picture() -> str:
    """Return the SVG."""
    done = run()
    lines = {**done.votes, "core clock": done.core}
    said = "; ".join(
        f"{name}: {', '.join(f'{_corner(target)} from {now} ms' for now, target in line)}"
        for name, line in lines.items()
    )
    title = "Two sessions on one core: the highest target is in force"
    head = opening("sessions", _WIDTH, _HEIGHT, title, f"{said}.")
    corners = sorted({target for line in lines.values() for _, target in line})
    parts = (part for place, name in enumerate(lines) for part in _row(place, name, lines[name], corners))
    return "\n".join((*head, *parts, *_axis(), "</svg>", ""))


def _corner(target: int) -> str:
    return "no vote" if target == _NO_VOTE else VoltageCorner(target).name.removesuffix("_VOLTAGE_CORNER")


def _x(ms: float) -> float:
    return _AXIS_X + ms * _PX_A_MS


def _row(place: int, name: str, line: tuple[tuple[int, int], ...], corners: list[int]) -> Iterator[str]:
    top = _TOP + _STEP * place
    heights = {corner: top + _ROW_HEIGHT * (1 - number / (len(corners) - 1)) for number, corner in enumerate(corners)}
    yield draw_text(16, top + 30, name, "label")
    yield draw_text(16, top + 48, _PROFILES.get(name, "of the DSP"))
    yield draw_text(16, top + 66, "votes" if name in _PROFILES else "the highest of both")
    for corner, y in heights.items():
        yield f'<path class="guide" d="M{_AXIS_X},{y:g}H{_x(_END_MS):g}"/>'
        yield draw_text(_AXIS_X - 10, y + 4, _corner(corner), anchor="end")
    for begin, end in _INFERENCES_MS.get(name, ()):
        yield draw_box(_x(begin), top - 24, (end - begin) * _PX_A_MS, 12, "busy")
    points: list[Point] = [(_x(now), heights[target]) for now, target in line]
    points.append((_x(_END_MS), points[-1][1]))
    yield f'<g class="{"lower" if name in _PROFILES else "raise"}">{draw_steps(points)}</g>'


def _axis() -> Iterator[str]:
    y = _HEIGHT - 50
    yield f'<path class="axis" d="M{_x(0):g},{y}H{_x(_END_MS):g}"/>'
    for ms in range(0, _END_MS + 1, 100):
        yield f'<path class="axis" d="M{_x(ms):g},{y}v5"/>'
        yield draw_text(_x(ms), y + 22, f"{ms} ms" if ms else "0", anchor="middle")
    yield draw_box(16, y + 30, 24, 12, "busy")
    yield draw_text(48, y + 41, "an inference")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], PICTURE, picture, __doc__))
