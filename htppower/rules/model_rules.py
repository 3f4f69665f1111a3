"""The rule of device models, in addition to the rules of all files."""

from __future__ import annotations

from htppower.rules.rule import Breach, Family, Rule

MODEL_RULES = (
    Rule(
        "MODEL-1",
        "The power draw never rises from work to idle with votes up, to relaxed, to released.",
        Breach.WARNING,
        "HAP_power: votes keep clocks up",
        family=Family.DEVICE,
    ),
)
