"""The parts of the page on traces: a recording, and the output of the command on it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner

from htppower.tools.cli.main import main as command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAME = "recording.json"
_HEAD = {"version": 1, "clock": "us of the controller's clock", "wall_ns": 1_790_000_000_000_000_000, "clock_us": 0}


def _camera() -> Iterator[tuple[int, int, bool]]:
    """Yield begin, duration and coldness of a camera that runs at 30 Hz now and then."""
    begin_us = 1_000_000
    for burst in range(6):
        for frame in range(40 + 25 * burst):
            jitter_us = (frame * 7919 + burst * 104_729) % 401 - 200
            yield begin_us + jitter_us, 2_000 + (frame * 31) % 300, frame == 0
            begin_us += 33_333
        begin_us += 2_000_000 + 1_300_000 * burst


def _assistant() -> Iterator[tuple[int, int, bool]]:
    """Yield the same for an assistant: gaps of all lengths, and a sustain time of 300 ms."""
    begin_us, cold = 1_700_000, True
    for turn in range(60):
        took_us = 20_000 + (turn * 7919) % 15_000
        yield begin_us, took_us, cold
        gap_us = round(400_000 * 1.9 ** ((turn * 37 % 60) / 10 - 3))
        begin_us += took_us + gap_us
        cold = gap_us >= 300_000  # noqa: PLR2004 - the sustain time


def _recording() -> str:
    sessions = (("camera", "burst", _camera), ("assistant", "sustained_high_performance", _assistant))
    events = [{"name": "htppower", "ph": "M", "pid": 4711, "tid": 0, "args": {**_HEAD, "controller": None}}]
    for number, (owner, profile, inferences) in enumerate(sessions, start=1):
        for begin_us, took_us, cold in inferences():
            args = {"session": owner, "profile": profile, "cold": cold}
            times = {"pid": 4711, "tid": number, "ts": begin_us, "dur": took_us}
            events.append({"name": "inference", "ph": "X", **times, "args": args})
    return "[\n" + "".join(f"{json.dumps(each, separators=(',', ':'))},\n" for each in events)


def _run(*arguments: str) -> str:
    """Return the output of the command on the recording."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _NAME
        path.write_text(_recording(), encoding="utf-8")
        said = CliRunner(env={"COLUMNS": "80"}).invoke(command, ["trace", str(path), *arguments])
    if said.exit_code:
        raise ValueError(said.output)
    return said.output.replace(f"{folder}/", "")


def _example() -> str:
    return f"```console\n$ htppower trace {_NAME}\n{_run()}```"


def picture() -> str:
    """Return the picture of the page."""
    return _run("--format", "svg")


PARTS: dict[str, Callable[[], str]] = {"trace-example": _example}
