"""The parts with output of commands: a dry run, a profile, and the advice on a measurement, with its rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from docs.console import EXAMPLES, console, run
from docs.tables import made_table
from htppower.tools.review.advice.rules import ADVICE_RULES

if TYPE_CHECKING:
    from collections.abc import Callable

_MEASURED = Path(__file__).parent / "measurements" / "sm8750.json"
_CAMERA = str(EXAMPLES / "camera.yaml")


def _json() -> str:
    """Return the JSON of a dry run with its first two calls; the second call has two votes."""
    report = json.loads(run("profile", "burst", "--dry-run", "--format", "json"))
    created, raised, *_ = report["calls"]
    raised["configs"] = [config for config in raised["configs"] if config["option"] != "HMX_V2"][:2]
    report["calls"] = [created, raised]
    return f"```json\n{json.dumps(report, indent=2)}\n```"


def _advice_rules() -> str:
    rows = [
        (f"`{rule.id}`", rule.says, rule.looks_at, rule.mend, f"{rule.basis}: {rule.source}")
        for rule in ADVICE_RULES.values()
    ]
    return made_table(("Id", "It says", "It looks at", "What to do", "Source"), rows)


def _advised() -> str:
    """Return the advice on the file of the page."""
    options = ("--soc", "SM8750", "--profile", "burst")
    said = console("advise", "sm8750.json", *options, words=("advise", str(_MEASURED), *options))
    return said.replace(str(_MEASURED), _MEASURED.name)


PARTS: dict[str, Callable[[], str]] = {
    "show-camera": lambda: console("show", "camera.yaml", words=("show", _CAMERA)),
    "dry-run": lambda: console("profile", "burst", "--dry-run"),
    "dry-run-qnx": lambda: console("profile", "burst", "--dry-run", "--platform", "qnx", only="degraded"),
    "dry-run-json": _json,
    "advice-rules": _advice_rules,
    "advise-example": _advised,
}
