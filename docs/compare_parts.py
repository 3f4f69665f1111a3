"""The parts of the page on comparing: two files of made-up inferences, the output of the command, and its rules."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from docs.console import run
from docs.tables import made_table
from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.compare.rules import COMPARISON_RULES

if TYPE_CHECKING:
    from collections.abc import Callable

_HEAD = "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier"
# What qnn-profile-viewer writes about itself. Per run, in us: the host outside the call, the way of the call, the HTP
# around the graph, waiting, computing. The cycles per us.
_FILES = {
    "netrun.csv": ("Backend            v2.41.0", (48, 265, 96, 24, 2_480), 1_430),
    "app.csv": ("", (61, 874, 95, 25, 2_955), 1_200),
}
_RUNS = 60
_OPTIONS = ("--profile", "burst", "--profile", "balanced", "--soc", "SM8750")


def _csv(about: str, parts: tuple[int, ...], cycles_per_us: int) -> str:
    """Return the CSV of some runs, which vary by some per cent: of the viewer, or else of ONNX Runtime's provider."""
    lines = [about, _HEAD] if about else [_HEAD]
    for number in range(_RUNS):
        host, way, around, waiting, computing = (
            part * (1000 + (number * 7919 + place * 104_729) % 61 - 30) // 1000 for place, part in enumerate(parts)
        )
        accelerator = computing + waiting
        on_htp = accelerator + around
        rows = {
            Event.RPC: (on_htp + way, "US"),
            Event.QNN_ACCELERATOR: (on_htp, "US"),
            Event.POWER_ON: (11, "US"),
            Event.CYCLES: (computing * cycles_per_us, "CYCLES"),
            Event.COMPUTE: (computing, "US"),
            Event.ACCELERATOR: (accelerator, "US"),
            Event.QNN: (on_htp + way + host, "US"),
        }
        for event, (count, unit) in rows.items():
            message = "EXECUTE" if event is Event.QNN else "BACKEND"
            lines.append(f"0,{message},{count},{unit},BACKEND,ROOT,{event.printed}")
    return "\n".join(lines) + "\n"


def _example() -> str:
    """Return the output of the command on the two files."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, recipe in _FILES.items():
            (Path(folder) / name).write_text(_csv(*recipe), encoding="utf-8")
        os.chdir(folder)
        try:
            said = run("compare", *_FILES, *_OPTIONS)
        finally:
            os.chdir(before)
    return f"```console\n$ htppower compare {' '.join((*_FILES, *_OPTIONS))}\n{said}\n```"


def _rules() -> str:
    rows = [
        (f"`{rule.id}`", rule.says, rule.looks_at, rule.mend, f"{rule.basis}: {rule.source}")
        for rule in COMPARISON_RULES.values()
    ]
    return made_table(("Id", "It says", "It looks at", "What to do", "Source"), rows)


PARTS: dict[str, Callable[[], str]] = {"compare-example": _example, "comparison-rules": _rules}
