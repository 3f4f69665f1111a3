"""Draw the way of one vote, from its line of YAML to the native call: ``docs/vote_path.svg``.

python -m docs.vote_path            write the picture
python -m docs.vote_path --check    exit 1 if the code gives another picture

The line and the native fields come from the shipped profile and from a recorded run, so they are up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

import htppower
from docs.drawing import draw_box, draw_line, draw_text, main, opening
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.profiles.discovery import shipped_folder
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE = Path(__file__).parent / "vote_path.svg"

_WIDTH, _HEIGHT = 700, 664
_LEFT, _BOX_WIDTH, _BOX_HEIGHT = 24, 400, 76
_TOP, _STEP = 24, 108
_SIDE_X = _LEFT + _BOX_WIDTH + 28
_FIELD, _NATIVE, _PROFILE = "sleep_latency_us", "sleepLatency", "burst"
# Every file of the way, in the order of the calls.
WAY = (
    ("profiles/loading.py", "a file becomes a Profile"),
    ("control/plans/precedence.py", "the profile of the session, of a hold or of a cap is chosen"),
    ("control/plans/plans.py", "a Profile becomes a Plan"),
    ("control/phases/blocks.py", "an inference of the host begins"),
    ("control/gate/gate.py", "the inference may begin at once only if its votes are in force"),
    ("control/core/home.py", "if not, the session must be settled"),
    ("control/core/engine.py", "the thread that makes the step is chosen"),
    ("control/core/line.py", "the step waits until no other thread makes native calls"),
    ("control/core/reconciler.py", "what should be, and the step to it"),
    ("control/core/state_machine.py", "the states, and the next transition"),
    ("control/core/caster.py", "the difference from the ledger"),
    ("control/ledger/ledger.py", "the votes in force on the id"),
    ("control/core/native_calls.py", "the call is made, timed and reported as an event"),
    ("backends/qnn/htp.py", "votes become native structs"),
    ("votes/native.py", "the fields and numbers of the structs"),
    ("backends/qnn/abi.py", "the layout of the structs in memory"),
    ("backends/qnn/device.py", "the loaded library that answers the call"),
)


@attrs.frozen
class Stage:
    """One stage of the way.

    Attributes:
        file: its file in the package.
        does: its task, in few words.
        vote: the form of the vote in it.
        beside: its other inputs, as lines.
    """

    file: str
    does: str
    vote: str
    beside: tuple[str, ...] = ()


def stages() -> tuple[Stage, ...]:
    """Return the stages, with the line of the shipped profile and the votes of a raise.

    Raises:
        ValueError: a stage names a file that is not in the package.
    """
    lines = Path(shipped_folder(), f"{_PROFILE}.yaml").read_text(encoding="utf-8").splitlines()
    (number,) = (number for number, line in enumerate(lines, start=1) if line.strip().startswith(f"{_FIELD}:"))
    votes = htppower.load_profile(_PROFILE).votes
    if votes.dcvs_v3 is None:
        raise ValueError(f"{_PROFILE} has no HVX vote")
    value = votes.dcvs_v3.sleep_latency_us
    recorder = RecordingBackend(SimulatedHtp(arch=75), time=(time := VirtualTime()))
    controller = htppower.VoteController(recorder, time=time, handle_sigterm=False)
    with controller, controller.session(_PROFILE).inference():
        # The settings of the process follow in a call of their own.
        raised = next(call for call in recorder.calls if call.function == "setPowerConfig")
    sent = raised.config("DCVS_V3")
    if sent is None:
        raise ValueError(f"the raise of {_PROFILE} sends no HVX vote")
    does = dict(WAY)
    package = Path(htppower.__file__).parent
    missing = [file for file in does if not (package / file).is_file()]
    if missing:
        raise ValueError(f"no {', '.join(missing)} in the package")

    def stage(file: str, vote: str, beside: tuple[str, ...] = ()) -> Stage:
        return Stage(file, does[file], vote, beside)

    return (
        Stage(f"profiles/{_PROFILE}.yaml", f"line {number}", lines[number - 1].strip()),
        stage("profiles/loading.py", f"profile.votes.dcvs_v3.{_FIELD} == {value}"),
        stage(
            "control/plans/plans.py",
            "plan.raised.dcvs_v3 = the same votes",
            ("left out: votes that", "the platform lacks"),
        ),
        stage(
            "control/core/reconciler.py",
            "Step(raise, plan.raised)",
            ("inputs: phases, holds,", "caps, timers, restarts"),
        ),
        stage(
            "control/core/caster.py",
            f"DcvsV3({_FIELD}={value}, ...)",
            ("left out: votes in force", "a second call: settings", "of the whole process"),
        ),
        stage(
            "backends/qnn/htp.py",
            f"setPowerConfig({raised.power_config_id}, [{{{_NATIVE}: {sent.fields[_NATIVE]}, ...}}, ...])",
            ("the vendor's library", "accepts it or gives an error"),
        ),
    )


def picture() -> str:
    """Return the SVG."""
    made = stages()
    said = "; ".join(f"{stage.file}, {stage.does}: {stage.vote}" for stage in made)
    head = opening("path", _WIDTH, _HEIGHT, f"The way of {_FIELD} of {_PROFILE} to the native call", f"{said}.")
    parts = (part for place, stage in enumerate(made) for part in _draw(place, stage, last=place == len(made) - 1))
    return "\n".join((*head, *parts, "</svg>", ""))


def _draw(place: int, stage: Stage, *, last: bool) -> Iterator[str]:
    y = _TOP + _STEP * place
    yield f"<g>{draw_box(_LEFT, y, _BOX_WIDTH, _BOX_HEIGHT)}"
    yield draw_text(_LEFT + 14, y + 23, stage.file, "label")
    yield draw_text(_LEFT + 14, y + 42, stage.does)
    yield draw_text(_LEFT + 14, y + 63, stage.vote, "code")
    first = y + _BOX_HEIGHT / 2 - 8 * (len(stage.beside) - 1) + 4
    for number, text in enumerate(stage.beside):
        yield draw_text(_SIDE_X, first + 17 * number, text)
    if not last:
        x = _LEFT + 60
        yield from draw_line(((x, y + _BOX_HEIGHT), (x, y + _STEP)))
    yield "</g>"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], PICTURE, picture, __doc__))
