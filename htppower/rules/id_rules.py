"""The rule of power config ids."""

from __future__ import annotations

from htppower.rules.rule import Breach, Rule

_NULL_CLIENT = Rule(
    "ID-1",
    "No vote is cast on power config id 0, the NULL client.",
    Breach.BY_CONSTRUCTION,
    "header of SDK 2.50: a vote there may override every other setting of the process; measured on x86-64: 13001",
    kept_by="if a library returns id 0, createPowerConfigId counts as failed, and no call is made on that id",
)

ID_RULES = (_NULL_CLIENT,)
