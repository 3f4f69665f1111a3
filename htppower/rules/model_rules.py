"""The rules of device models beside those of every file."""

from __future__ import annotations

from htppower.rules.rule import Breach, Family, Rule

MODEL_RULES = (
    Rule(
        "MODEL-1",
        "Work draws no less power than idling with votes up, that no less than relaxed, that no less than released.",
        Breach.WARNING,
        "HAP_power: votes keep clocks up",
        family=Family.DEVICE,
    ),
)
