"""The rule of power config ids."""

from __future__ import annotations

from htppower.rules.rule import Breach, Rule

_NULL_CLIENT = Rule(
    "ID-1",
    "No vote is cast on power config id 0, the NULL client.",
    Breach.BY_CONSTRUCTION,
    "header of SDK 2.50: it may override every other setting of the process; measured on x86-64: 13001",
    kept_by="an id 0 that a library gives is taken for a createPowerConfigId that failed, and no call is made on it",
)

ID_RULES = (_NULL_CLIENT,)
