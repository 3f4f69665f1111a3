"""The parts of the page on tests of votes: steps, expectations, and the output of the command on the examples."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from docs.console import EXAMPLES, console
from docs.tables import made_table
from htppower.profiles.field_limits import tags
from htppower.tools.review.json_schema import said_of, said_of_fields
from htppower.tools.review.vote_tests.fields import ExpectFields, StepFields

if TYPE_CHECKING:
    from collections.abc import Callable


def _failing_test() -> str:
    """Return the output of a test after its profile was changed, but not the test."""
    with tempfile.TemporaryDirectory() as folder:
        mine = Path(folder) / "my-profiles"
        shutil.copytree(EXAMPLES, mine, ignore=shutil.ignore_patterns("*.py"))
        camera = mine / "camera.yaml"
        text = camera.read_text(encoding="utf-8")
        for old, new in (("bus: TURBO", "bus: NOM"), ("after_inference_us: 100000", "after_inference_us: 150000")):
            if old not in text:
                raise ValueError(f"no {old!r} in camera.yaml")
            text = text.replace(old, new)
        camera.write_text(text, encoding="utf-8")
        return console("test", "my-profiles", words=("test", str(mine))).replace(f"{folder}/", "")


def _steps() -> str:
    rows = []
    for tag, kind in tags(StepFields).items():
        said = said_of_fields(kind)
        when = "yes" if "at_us" in said else "no"
        rows.append((f"`{tag}`", said_of(kind), said[tag], when))
    return made_table(("Step", "What happens", "Value", "`at_us`"), rows)


def _expectations() -> str:
    return made_table(
        ("Field", "What is looked at"), [(f"`{name}`", said) for name, said in said_of_fields(ExpectFields).items()]
    )


PARTS: dict[str, Callable[[], str]] = {
    "steps": _steps,
    "expectations": _expectations,
    "test-camera": lambda: console("test", "my-profiles", words=("test", str(EXAMPLES))),
    "test-camera-failing": _failing_test,
    "test-camera-coverage": lambda: console(
        "test", "my-profiles", "--coverage", words=("test", str(EXAMPLES), "--coverage")
    ),
}
