"""Small breaks of the core that the simulation must find: ``python tests/simulation/mutations.py [NAME ...]``.

``breaks.txt`` lists the breaks. Each is applied to a copy of the package, and the simulation is run on the copy, from a
fixed seed, until it finds the break. The unchanged core must pass the same runs. The exit code is 1 if a break is not
found, or no longer applies, or if the core breaks a rule itself.
"""

from __future__ import annotations

import argparse
import enum
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
# Most breaks are found in far fewer runs, but a change of the core changes the programs of a seed. The limit is a
# number of runs, since their time depends on the machine.
MOST_RUNS = 1_500
# A simulation that takes longer than this counts as hanging.
MOST_SECONDS = 600.0


class Drawn(enum.Enum):
    """The options of ``run.py`` for the runs that look for a break."""

    CALLS_FAIL = ("--no-restarts", "--learning", "never")
    RESTARTS = ("--learning", "never")
    LEARNING = ("--no-restarts", "--learning", "always")
    VARIED = ("--learning", "never", "--varied", "always")


class Mutation(NamedTuple):
    """A break: a text that occurs once in a file of ``htppower/control``, and its replacement."""

    name: str
    file: str
    drawn: Drawn
    seed: int
    old: str
    new: str


def _read(line: str) -> Mutation:
    name, file, runs, text = line.split(" | ", 3)
    drawn, seed = runs.split()
    old, new = (each.encode().decode("unicode_escape") for each in text.split(" => "))
    return Mutation(name, file, Drawn[drawn], int(seed), old, new)


_LINES = Path(__file__).with_name("breaks.txt").read_text(encoding="utf-8").splitlines()
MUTATIONS = tuple(_read(line) for line in _LINES if line and not line.startswith("#"))


class Found(NamedTuple):
    """The result of a simulation: the broken rule, if any, and the number of runs; or why it was not tried."""

    rule: str | None
    runs: int = 0
    elapsed_s: float = 0.0
    not_tried: str = ""


def caught(
    mutation: Mutation | None, drawn: Drawn = Drawn.RESTARTS, *, seed: int = 0, most_runs: int = MOST_RUNS
) -> Found:
    """Run the simulation on a copy until it finds a broken rule.

    With a mutation, ``drawn`` and ``seed`` are the mutation's.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("htppower", "profiles", "tests/simulation", "tests/support"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        if mutation is not None:
            drawn, seed = mutation.drawn, mutation.seed
            path = copy / "htppower" / "control" / mutation.file
            text = path.read_text(encoding="utf-8")
            if text.count(mutation.old) != 1:
                return Found(None, not_tried=f"{mutation.file} has this {text.count(mutation.old)} times")
            path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
        command = [sys.executable, "tests/simulation/run.py", "--first", *drawn.value]
        command += ["--seed", f"{seed}", "--runs", f"{most_runs}"]
        environment = os.environ | {"PYTHONPATH": folder, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        begun_s = time.monotonic()
        try:
            done = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=MOST_SECONDS
            )
        except subprocess.TimeoutExpired:
            return Found(None, not_tried="the simulation hangs")
        elapsed_s = time.monotonic() - begun_s
    runs = re.search(r"([\d,]+) runs,", done.stdout)
    rule = re.search(r"^BROKEN (?:seed \d+: )?(.*)", done.stdout, re.MULTILINE)
    if runs is None or (rule is None) != (done.returncode == 0):
        return Found(None, not_tried=f"it ended with {done.returncode}: {done.stderr[-1000:]}")
    return Found(None if rule is None else rule[1], int(runs[1].replace(",", "")), elapsed_s)


def _row(name: str, found: Found, nothing: str) -> None:
    said = f"NOT TRIED: {found.not_tried}" if found.not_tried else found.rule or nothing
    print(f"{name:<76} {found.runs:>5} {found.elapsed_s:>6.1f} s  {said[:100]}", flush=True)


def main() -> int:
    """Run every mutation, and the unchanged core; return the exit code."""
    parser = argparse.ArgumentParser(description="Show that the simulation finds small breaks of the core.")
    parser.add_argument("names", nargs="*", help="parts of the names of the mutations to run; all by default")
    parser.add_argument("--runs", type=int, default=MOST_RUNS, help=f"the most for each; {MOST_RUNS} by default")
    parser.add_argument("--jobs", type=int, default=1, help="how many to run at a time; 1 by default")
    given = parser.parse_args()
    chosen = [each for each in MUTATIONS if not given.names or any(name in each.name for name in given.names)]
    if not chosen:
        parser.error(f"no mutation has {' or '.join(map(repr, given.names))} in its name")
    begun_s = time.monotonic()
    wrong: list[str] = []
    # How many runs the unchanged core must pass, by the options and the first seed.
    needed: dict[tuple[Drawn, int], int] = {}
    with ThreadPoolExecutor(given.jobs) as threads:
        everything = threads.map(partial(caught, most_runs=given.runs), chosen)
        for mutation, found in zip(chosen, everything, strict=True):
            _row(mutation.name, found, "MISSED")
            if found.rule is None:
                wrong.append(mutation.name)
            else:
                key = mutation.drawn, mutation.seed
                needed[key] = max(found.runs, needed.get(key, 0))
        for (drawn, seed), runs in needed.items():
            name, as_it_is = f"nothing: {drawn.name}, from seed {seed}", caught(None, drawn, seed=seed, most_runs=runs)
            _row(name, as_it_is, "nothing, as it must be")
            if as_it_is.rule is not None or as_it_is.not_tried:
                wrong.append(name)
    print(f"{len(chosen)} mutations, {len(wrong)} wrong, {time.monotonic() - begun_s:.0f} s")
    print("\n".join(f"wrong: {name}" for name in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
