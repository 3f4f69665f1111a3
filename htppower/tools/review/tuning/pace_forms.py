"""The acts of a pace on a recording, in each form. The JSON has format version 1."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.report.as_html import as_html
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Heading, Pairs, Table
from htppower.tools.report.layout import WIDTH
from htppower.tools.report.words import counted, percent, three_digits
from htppower.tools.review.tuning.words import energy_text
from htppower.tools.tuning.paced import MOST_INFERENCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from htppower.tools.report.blocks import Block
    from htppower.tools.tuning.models.model import DeviceModel
    from htppower.tools.tuning.paced import Aim, Paced, Ran
    from htppower.tools.tuning.traces.trace import Trace

_FOOT = "Energy is computed from a device model; nothing was measured here."
_US = 1_000_000
_HEAD = ("profile", "with the pace", "always: missed", "always: energy")


@attrs.frozen
class PacedTrace:
    """A recording as it would run with a pace.

    Attributes:
        trace: the recording.
        model: the device.
        aim: what the pace is asked for.
        sessions: the result for each session with inferences, and notes on it.
    """

    trace: Trace
    model: DeviceModel
    aim: Aim
    sessions: tuple[tuple[Paced, tuple[str, ...]], ...]

    @property
    def kept(self) -> bool:
        """Whether no session has missed more deadlines than allowed."""
        return all(paced.kept for paced, _ in self.sessions)


def _blocks(found: PacedTrace) -> Iterator[Block]:
    aim = found.aim
    waits = "each inference waits for its slot" if aim.waits else "inferences begin when the host asks for them"
    yield Pairs(
        (
            ("recording", f"{found.trace.source}: {counted(len(found.sessions), 'session')}"),
            ("device", f"{found.model.device}: {found.model.summary}"),
            ("wanted", f"{aim.per_s:g} a second, at most {percent(aim.miss_rate)} of the deadlines missed; {waits}"),
            *(("note", note) for note in found.trace.notes),
        )
    )
    for paced, notes in found.sessions:
        yield from _session(paced, notes)


def _session(paced: Paced, notes: tuple[str, ...]) -> Iterator[Block]:
    session, pace, count = paced.session, paced.pace, paced.session.begins_us.size
    first = "the first " if count == MOST_INFERENCES else ""
    yield Heading(f"{session.name}: {first}{counted(count, 'inference')}")
    rate = count * _US / pace.lasted_us if pace.lasted_us else 0.0
    missed = f"{percent(paced.miss_rate)} of the deadlines missed, {three_digits(rate)} a second"
    pairs = [
        ("pace", f"{missed}, {counted(pace.changes, 'change')} of the profile; {energy_text(pace.energy_j)}"),
        ("best", _best(paced)),
        *([] if paced.kept else [("not kept", _why(paced))]),
        *(("note", note) for note in notes),
    ]
    yield Pairs(pairs, {"pace": "green" if paced.kept else "red"})
    rows = [
        (
            profile.name,
            percent(pace.under.get(place, 0) / count),
            percent(ran.misses / count),
            energy_text(ran.energy_j),
        )
        for place, (profile, ran) in reversed(list(enumerate(zip(paced.ladder, paced.fixed, strict=True))))
    ]
    yield Table("Inferences under each profile with the pace, and the result of each profile without it", _HEAD, rows)


def _best(paced: Paced) -> str:
    """Return how the pace compares with the best profile that never changes."""
    place = paced.best_fixed
    if place is None:
        return "no profile keeps the rate if it never changes"
    energy_j = paced.fixed[place].energy_j
    share = "" if not energy_j else f"; the pace takes {100 * paced.pace.energy_j / energy_j - 100:+.1f} %"
    return f"of the profiles that never change, {paced.ladder[place].name}: {energy_text(energy_j)}{share}"


def _why(paced: Paced) -> str:
    if not paced.pace.keeps:
        return f"even {paced.ladder[-1].name} misses more than allowed: ask for a lower rate, or allow more misses"
    return "the load became heavier too often or too late in a short recording: see docs/pace.md"


def _json(found: PacedTrace, _width: int) -> str:
    """Return the results. Keys keep their order from one version to the next. Times are in us, energies in J."""
    document = {
        "format_version": 1,
        "recording": {"source": found.trace.source, "format": found.trace.format, "notes": list(found.trace.notes)},
        "device": found.model.device,
        "per_s": found.aim.per_s,
        "miss_rate": found.aim.miss_rate,
        "waits": found.aim.waits,
        "kept": found.kept,
        "sessions": [_session_json(*each) for each in found.sessions],
    }
    return json.dumps(document, indent=2)


def _session_json(paced: Paced, notes: tuple[str, ...]) -> dict[str, Any]:
    best = paced.best_fixed
    return {
        "name": paced.session.name,
        "inferences": int(paced.session.begins_us.size),
        "kept": paced.kept,
        "keeps_at_the_end": paced.pace.keeps,
        "pace": {**_ran(paced.pace), "changes": paced.pace.changes, "lasted_us": paced.pace.lasted_us},
        "best_fixed": None if best is None else paced.ladder[best].name,
        "profiles": [
            {"name": profile.name, "inferences": paced.pace.under.get(place, 0), "fixed": _ran(ran)}
            for place, (profile, ran) in enumerate(zip(paced.ladder, paced.fixed, strict=True))
        ],
        "notes": list(notes),
    }


def _ran(ran: Ran) -> dict[str, Any]:
    return {"misses": ran.misses, "cold": ran.cold, "energy_j": ran.energy_j}


_RENDERERS: Mapping[str, Callable[[PacedTrace, int], str]] = MappingProxyType(
    {
        "text": lambda found, width: as_text(_blocks(found), width),
        "json": _json,
        "html": lambda found, _width: as_html(
            (Heading("A pace on a recording", 1), *_blocks(found)), f"Paced: {found.trace.source}", _FOOT
        ),
    }
)


def render(found: PacedTrace, form: str, width: int = WIDTH) -> str:
    """Return the results as ``text``, ``json`` or ``html``; text has this width."""
    return _RENDERERS[form](found, width)
