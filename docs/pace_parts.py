"""The parts of the page on paces: its figures on calculated loads, and the fields of its status."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from docs.docstrings import attributes
from docs.tables import in_code, made_table
from htppower.control.pace.ladder import ladder_below
from htppower.control.pace.pace_status import PaceStatus
from htppower.profiles.loading import load_profile
from htppower.tools.report.words import percent
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.paced import Aim, paced
from htppower.tools.tuning.traces.trace import SessionTrace

if TYPE_CHECKING:
    from collections.abc import Callable

_COUNT = 9000
_PERIOD_US = 33_333
_SHARES = (0.01, 0.05)
# How long an inference takes at burst, in ms, by its number.
_LOADS: dict[str, Callable[[int, random.Random], float]] = {
    "10 ms": lambda _number, _chance: 10.0,
    "20 ms": lambda _number, _chance: 20.0,
    "12 ms, spread by 20 %": lambda _number, chance: 12 * chance.lognormvariate(0, 0.2),
    "13 ms, and 2 % of them 25 ms": lambda _number, chance: 25.0 if chance.random() < 0.02 else 13.0,  # noqa: PLR2004
    "8 ms and 21 ms, for 50 s each": lambda number, chance: (
        (21 if number // 1500 % 2 else 8) * chance.lognormvariate(0, 0.05)
    ),
    "40 ms: more than a period": lambda _number, _chance: 40.0,
}


def _figures() -> str:
    """Return what a pace of 30 a second does with each load, next to the best profile that never changes."""
    burst = load_profile("burst")
    ladder, model = ladder_below(burst, load_profile), load_device_model()
    rows = []
    for name, load in _LOADS.items():
        chance = random.Random(1)  # noqa: S311 - no secret
        takes_us = np.array([round(1000 * load(number, chance)) for number in range(_COUNT)])
        begins_us = np.arange(_COUNT) * _PERIOD_US
        session = SessionTrace("load", "burst", begins_us, begins_us + takes_us)
        for share in _SHARES:
            found = paced(session, model, ladder, burst, Aim(1_000_000 / _PERIOD_US, share))
            most = max(found.pace.under, key=lambda place: found.pace.under[place])
            best = found.best_fixed
            more = "" if best is None else f"{100 * found.pace.energy_j / found.fixed[best].energy_j - 100:+.0f} %"
            rows.append(
                (
                    name,
                    percent(share),
                    percent(found.miss_rate),
                    str(found.pace.changes),
                    f"`{ladder[most].name}`",
                    "none keeps it" if best is None else f"`{ladder[best].name}`",
                    more,
                )
            )
    head = ("An inference at burst", "allowed", "missed", "changes", "mostly used", "best that never changes", "energy")
    return made_table(head, rows)


def _status() -> str:
    return made_table(("Field", "Meaning"), [(in_code(*names), meaning) for names, meaning in attributes(PaceStatus)])


PARTS: dict[str, Callable[[], str]] = {"pace-figures": _figures, "pace-status": _status}
