"""The parts of the pages on reviewing: the rules of review, and one change walked through."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner

from docs import rule_parts
from htppower.profiles.discovery import shipped_folder
from htppower.rules.rule import Family
from htppower.tools.cli.main import main as command
from htppower.tools.review.lint.catalogue import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from htppower.rules.rule import Rule


def _rules(family: Family) -> list[Rule]:
    return [rule for rule in CATALOGUE.values() if rule.family is family]


def _rows(entries: Iterable[Rule]) -> str:
    lines = ["| Id | Rule | What follows |", "| --- | --- | --- |"]
    lines += [f"| `{entry.id}` | {entry.says} | {entry.severity} |" for entry in entries]
    return "\n".join(lines)


@contextlib.contextmanager
def _files(files: dict[str, str]) -> Iterator[Path]:
    """Yield a folder with these files in it, as the current one."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_text(text, encoding="utf-8")
        yield Path(folder)


@contextlib.contextmanager
def _changed() -> Iterator[Path]:
    """Yield a folder with the shipped profiles as ``profiles``, burst's sustain time changed, and as ``before``."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("profiles", "before"):
            shutil.copytree(shipped_folder(), Path(folder) / name)
        burst = Path(folder) / "profiles" / "burst.yaml"
        text = burst.read_text(encoding="utf-8")
        burst.write_text(text.replace("after_inference_us: 300000", "after_inference_us: 2000000"), encoding="utf-8")
        yield Path(folder)


def _run_in(files: contextlib.AbstractContextManager[Path], *arguments: str) -> str:
    with files as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            output = str(CliRunner(env={"COLUMNS": "80"}).invoke(command, [*arguments]).output)
        finally:
            os.chdir(before)
        return output.replace(shipped_folder(), "profiles").rstrip()


def _walk(*arguments: str, shown: str | None = None, first: int = 0, last: int | None = None) -> str:
    """Return the output of a command on the change; ``shown`` is the command line for a repository.

    With ``last`` only the first and the last lines are returned.
    """
    said = _run_in(_changed(), *arguments).splitlines()
    if last is not None:
        said = [*said[:first], "...", *said[-last:]]
    return _console(" ".join(arguments) if shown is None else shown, said)


def _console(typed: str, said: list[str]) -> str:
    return "\n".join(("```console", f"$ htppower {typed}", *said, "```"))


PARTS: dict[str, Callable[[], str]] = {
    "review-rules": lambda: _rows(_rules(Family.REVIEW)),
    "review-messages": lambda: rule_parts.messages(_rules(Family.REVIEW)),
    "suppression-rules": lambda: _rows(_rules(Family.SUPPRESSION)),
    "suppression-messages": lambda: rule_parts.messages(_rules(Family.SUPPRESSION)),
    "walk-lint": functools.partial(_walk, "lint", "profiles", "--strict"),
    "walk-diff": functools.partial(_walk, "diff", "before", "profiles", shown="diff --against main"),
    "walk-timeline": functools.partial(
        _walk, "diff", "before", "profiles", "--timeline", shown="diff --against main --timeline", last=14
    ),
    "walk-explain": functools.partial(_walk, "explain", "profiles/burst.yaml", "after_inference_us"),
    "walk-test": functools.partial(_walk, "test", "profiles", first=10, last=2),
    "explain-core": functools.partial(_walk, "explain", "burst", "core"),
    "lint-example": lambda: _console("lint .", _run_in(_files({"mine.yaml": _WRONG}), "lint", ".").splitlines()),
}

_WRONG = "profile: mine\nextends: burst\nvotes:\n  dcvs_v3:\n    core: {min: TURBO, target: NOM, max: TURBO}\n"
