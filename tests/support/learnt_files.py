"""Sessions that learn, and the file that stores the learnt data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support.bench import Bench
from support.learning import relaxing

from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from pathlib import Path

    from htppower import Profile, Session

BREAK_EVEN = Adaptive(break_even_us=100_000)


def learning(sustain: Adaptive = BREAK_EVEN, name: str = "burst") -> Profile:
    """Return a profile with a learnt sustain time."""
    return relaxing(name, after_inference_us=sustain)


def learn(bench: Bench, session: Session, gaps: int) -> None:
    """Run an inference, and then more inferences with long gaps before them."""
    bench.infer_often(session, gaps + 1, 1_000_000)


def learnt(bench: Bench) -> list[tuple[int, int]]:
    """Return, for each open session, how many gaps it has learnt from, and its time-out."""
    found = [session.learnt for session in bench.controller.status().sessions]
    return [(each.gaps, each.time_out_us) for each in found if each is not None]


def entries(path: Path) -> list[dict[str, Any]]:
    """Return the stored data."""
    made: list[dict[str, Any]] = json.loads(path.read_text(encoding="ascii"))["entries"]
    return made


def kept_by_one(path: Path, gaps: int = 40) -> tuple[int, int]:
    """Let a session learn, close its controller, and return what the session has learnt."""
    bench = Bench.make(learnt=path)
    learn(bench, bench.controller.session(learning(), owner="camera"), gaps)
    (known,) = learnt(bench)
    bench.controller.close()
    return known
